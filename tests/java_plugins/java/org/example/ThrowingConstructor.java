package org.example;

/** Throws when it is made for a connector, not when it is looked for. */
public class ThrowingConstructor<R extends org.apache.kafka.connect.connector.ConnectRecord<R>> extends Shout<R> {
    public ThrowingConstructor() {
        for (StackTraceElement frame : new Throwable().getStackTrace()) {
            if (frame.getClassName().equals("io.headrace.connect.HostedTasks")) {
                throw new IllegalStateException("no luck in its constructor");
            }
        }
    }
}
