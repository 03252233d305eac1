package org.example;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Whether the number is. */
public class IsOdd<R extends ConnectRecord<R>> implements Predicate<R> {
    @Override
    public void configure(Map<String, ?> props) {
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef();
    }

    @Override
    public boolean test(R record) {
        return ((Number) ((Struct) record.value()).get("n")).longValue() % 2 == 1;
    }

    @Override
    public void close() {
    }
}
