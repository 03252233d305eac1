package org.example;

import org.apache.kafka.connect.connector.ConnectRecord;

/** A predicate that throws where the context class loader of the thread is not its own. */
public class Here<R extends ConnectRecord<R>> extends IsOdd<R> {
    @Override
    public boolean test(R record) {
        if (Thread.currentThread().getContextClassLoader() != getClass().getClassLoader()) {
            throw new IllegalStateException("another loader than the predicate's");
        }
        return super.test(record);
    }
}
