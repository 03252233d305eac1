package org.example;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.components.Versioned;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Words in capitals; the number `drop` is taken out, `fail` throws, as does the method `throw`, and `route` appends its version to the
 * topic. The first `passing` calls throw what may be tried again.
 */
public class Shout<R extends ConnectRecord<R>> implements Transformation<R>, Versioned {
    private static final Logger LOG = LogManager.getLogger(Shout.class); // no jar of the plugin has these two
    private static final org.apache.log4j.Logger OLD = org.apache.log4j.Logger.getLogger(Shout.class);
    private Map<String, ?> props;
    private Passing passing;

    @Override
    public String version() {
        return new CountingSourceConnector().version();
    }

    @Override
    public void configure(Map<String, ?> props) {
        LOG.debug("configured");
        OLD.debug("configured");
        this.props = props;
        passing = new Passing(props);
        throwIn("configure");
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef()
            .define("drop", ConfigDef.Type.LONG, -1, ConfigDef.Range.atLeast(-1), ConfigDef.Importance.LOW, "To be taken out.")
            .define("fail", ConfigDef.Type.LONG, -1, ConfigDef.Importance.LOW, "To fail at.")
            .define("secret", ConfigDef.Type.PASSWORD, null, ConfigDef.Importance.LOW, "Said by what it throws.");
    }

    @Override
    public R apply(R record) {
        passing.check();
        Struct value = (Struct) record.value();
        String number = String.valueOf(value.get("n"));
        if (number.equals(props.get("drop"))) {
            return null;
        }
        if (number.equals(props.get("fail"))) {
            throw new IllegalStateException("no luck with " + number + (props.get("secret") == null ? "" : " " + props.get("secret")));
        }
        Struct changed = new Struct(value.schema());
        value.schema().fields().forEach(field -> changed.put(field, value.get(field)));
        changed.put("word", value.get("word") == null ? null : value.getString("word").toUpperCase(java.util.Locale.ROOT));
        String topic = record.topic() + (props.containsKey("route") ? "-" + version() : "");
        return record.newRecord(topic, record.kafkaPartition(), record.keySchema(), record.key(), record.valueSchema(), changed,
            record.timestamp(), record.headers().duplicate().addLong("shouted", 1L));
    }

    @Override
    public void close() {
        throwIn("close");
    }

    private void throwIn(String method) {
        if (method.equals(props.get("throw"))) {
            throw new IllegalStateException("no luck in " + method);
        }
    }
}
