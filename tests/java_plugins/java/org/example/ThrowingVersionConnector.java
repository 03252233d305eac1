package org.example;

import org.apache.kafka.connect.connector.Task;

/** Throws when it is asked for its version, as does its task. */
public class ThrowingVersionConnector extends CountingSourceConnector {
    @Override
    public String version() {
        throw new IllegalStateException("no luck in version");
    }

    @Override
    public Class<? extends Task> taskClass() {
        return ThrowingTask.class;
    }

    /** The task. */
    public static final class ThrowingTask extends CountingSourceTask {
        @Override
        public String version() {
            throw new IllegalStateException("no luck in the task's version");
        }
    }
}
