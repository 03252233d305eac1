package org.example;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;
import org.apache.kafka.connect.transforms.Transformation;

/** One record without source partition, whose fields have defaults; the class of its tasks is known once it has started. */
public class Defaulted extends SourceConnector {
    private static final Schema FIELD = SchemaBuilder.struct().field("unset", SchemaBuilder.int32().defaultValue(7).build()).build();
    private static final Schema VALUE = SchemaBuilder.struct()
        .field("null", SchemaBuilder.string().optional().defaultValue("x").build())
        .field("unset", SchemaBuilder.int32().defaultValue(0).build())
        .field("in", FIELD)
        .field("all", SchemaBuilder.array(FIELD).build())
        .field("named", SchemaBuilder.map(Schema.STRING_SCHEMA, FIELD).build())
        .build();
    private Class<? extends Task> tasks;

    static Struct value() {
        Struct field = new Struct(FIELD);
        return new Struct(VALUE).put("null", null).put("in", field).put("all", List.of(field)).put("named", Map.of("a", field));
    }

    @Override
    public String version() {
        return "1";
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef();
    }

    @Override
    public void start(Map<String, String> props) {
        tasks = OneRecord.class;
    }

    @Override
    public Class<? extends Task> taskClass() {
        return Objects.requireNonNull(tasks, "it was not started");
    }

    @Override
    public List<Map<String, String>> taskConfigs(int maxTasks) {
        return List.of(Map.of());
    }

    @Override
    public void stop() {
    }

    /** Of a topic `t`; then there is nothing more. */
    public static class OneRecord extends SourceTask {
        private boolean polled;

        @Override
        public String version() {
            return "1";
        }

        @Override
        public void start(Map<String, String> props) {
        }

        @Override
        public List<SourceRecord> poll() throws InterruptedException {
            if (polled) {
                Thread.sleep(100);
                return null;
            }
            polled = true;
            return List.of(new SourceRecord(null, null, "t", VALUE, value()));
        }

        @Override
        public void stop() {
        }
    }

    /** Its value in place of that of a record. */
    public static class Replace<R extends ConnectRecord<R>> implements Transformation<R> {
        @Override
        public void configure(Map<String, ?> props) {
        }

        @Override
        public ConfigDef config() {
            return new ConfigDef();
        }

        @Override
        public R apply(R record) {
            return record.newRecord(record.topic(), record.kafkaPartition(), record.keySchema(), record.key(), VALUE, value(),
                record.timestamp());
        }

        @Override
        public void close() {
        }
    }
}
