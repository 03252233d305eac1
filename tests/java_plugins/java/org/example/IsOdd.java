package org.example;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Whether the number is. */
public class IsOdd implements Predicate<SourceRecord> {
    @Override
    public void configure(Map<String, ?> props) {
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef();
    }

    @Override
    public boolean test(SourceRecord record) {
        return ((Struct) record.value()).getInt64("n") % 2 == 1;
    }

    @Override
    public void close() {
    }
}
