package org.example;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.Transformation;

/** Says what it is given, as the header `seen`, a text or with `into=bytes` bytes, or with `into=value` as the value. */
public class Describe<R extends ConnectRecord<R>> implements Transformation<R> {
    private Object into;

    @Override
    public void configure(Map<String, ?> props) {
        into = props.get("into");
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef().define("into", ConfigDef.Type.STRING, "header", ConfigDef.Importance.LOW, "Where it goes.");
    }

    @Override
    public R apply(R record) {
        StringBuilder text = new StringBuilder(record.topic() + "-" + record.kafkaPartition() + " at " + record.timestamp());
        text.append(" key ").append(described(record.keySchema(), record.key()));
        text.append(" value ").append(described(record.valueSchema(), record.value()));
        for (Header header : record.headers()) {
            text.append(" header ").append(header.key()).append(' ').append(described(header.schema(), header.value()));
        }
        if (record instanceof SinkRecord) {
            SinkRecord sink = (SinkRecord) record;
            text.append(" offset ").append(sink.kafkaOffset()).append(' ').append(sink.timestampType()).append(" of ")
                .append(sink.originalTopic()).append('-').append(sink.originalKafkaPartition()).append('@').append(sink.originalKafkaOffset());
        }
        if ("value".equals(into)) {
            return record.newRecord(record.topic(), record.kafkaPartition(), record.keySchema(), record.key(), Schema.STRING_SCHEMA,
                text.toString(), record.timestamp());
        }
        R described = record.newRecord(record.topic(), record.kafkaPartition(), record.keySchema(), record.key(), record.valueSchema(),
            record.value(), record.timestamp(), record.headers().duplicate());
        if ("bytes".equals(into)) {
            described.headers().addBytes("seen", text.toString().getBytes());
        } else {
            described.headers().addString("seen", text.toString());
        }
        return described;
    }

    private static String described(Schema schema, Object value) {
        String type = schema == null ? "none" : schema.type() + (schema.isOptional() ? "?" : "") + (schema.name() == null ? "" : " " + schema.name());
        String kind = value == null ? "" : value.getClass().getSimpleName() + " ";
        return type + " " + kind + (value instanceof byte[] ? new String((byte[]) value) : value);
    }

    @Override
    public void close() {
    }
}
