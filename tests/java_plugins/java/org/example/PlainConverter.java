package org.example;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.connect.components.Versioned;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.storage.Converter;

/** Whatever Java makes of a value as a text; with `stamp`, and its version (`stamp.read`: when it reads); throws in the method `throw`, and for `passing` calls. */
public class PlainConverter implements Converter, Versioned {
    private boolean stamp;
    private boolean stampRead;
    private Object where;
    private Passing passing;

    @Override
    public String version() {
        return new CountingSourceConnector().version();
    }

    @Override
    public void configure(Map<String, ?> props, boolean isKey) {
        stamp = props.containsKey("stamp");
        stampRead = props.containsKey("stamp.read");
        where = props.get("throw");
        passing = new Passing(props);
        throwIn("configure");
    }

    @Override
    public byte[] fromConnectData(String topic, Schema schema, Object value) {
        throwIn("fromConnectData");
        passing.check();
        return value == null ? null : (value + (stamp ? " by " + version() : "")).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public SchemaAndValue toConnectData(String topic, byte[] value) {
        throwIn("toConnectData");
        String text = value == null ? null : new String(value, StandardCharsets.UTF_8) + (stampRead ? "@" + version() : "");
        return new SchemaAndValue(Schema.OPTIONAL_STRING_SCHEMA, text);
    }

    @Override
    public void close() {
        throwIn("close");
    }

    private void throwIn(String method) {
        if (method.equals(where)) {
            throw new IllegalStateException("no luck in " + method);
        }
    }
}
