package org.example;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;

/** Converters that do not say what their options are, or anything at all. */
public final class Reticent {
    private Reticent() {
    }

    /** Gives no definition. */
    public static class Null extends PlainConverter {
        @Override
        public ConfigDef config() {
            return null;
        }
    }

    /** Throws when it is asked for its definition. */
    public static class Throwing extends PlainConverter {
        @Override
        public ConfigDef config() {
            throw new IllegalStateException("no luck in config");
        }
    }

    /** Gives a definition that throws. */
    public static class Checking extends PlainConverter {
        @Override
        public ConfigDef config() {
            ConfigDef.Validator throwing = (name, value) -> {
                throw new IllegalStateException();
            };
            return new ConfigDef().define("stamp", ConfigDef.Type.STRING, null, null, ConfigDef.Importance.LOW, "Its version.")
                .define("checked", ConfigDef.Type.STRING, ConfigDef.NO_DEFAULT_VALUE, throwing, ConfigDef.Importance.LOW, "Never.");
        }
    }

    /** Does not return from configure before there is a file. */
    public static class Waiting extends PlainConverter {
        @Override
        public void configure(Map<String, ?> props, boolean isKey) {
            CountingSourceTask.note(Map.of("journal", props.get("until") + ".begun"), "begun");
            while (!java.nio.file.Files.exists(java.nio.file.Path.of((String) props.get("until")))) {
                java.util.concurrent.locks.LockSupport.parkNanos(1_000_000L);
            }
        }
    }

    /** Does not return from configure. */
    public static class Hanging extends PlainConverter {
        @Override
        public void configure(Map<String, ?> props, boolean isKey) {
            CountingSourceTask.failIf(Map.of("hang", "configure"), "configure");
        }
    }
}
