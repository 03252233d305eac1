package org.example;

import org.apache.kafka.common.config.ConfigDef;

/** Throws when it is asked for its options. */
public class ThrowingConfigConnector extends CountingSourceConnector {
    @Override
    public ConfigDef config() {
        throw new IllegalStateException("no luck in config");
    }
}
