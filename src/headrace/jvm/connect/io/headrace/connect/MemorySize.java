package io.headrace.connect;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.header.Header;

/** How large the values of records are, about as many bytes as they take in memory: what a text or bytes have counts. */
final class MemorySize {
    private static final int OBJECT = 16;

    private MemorySize() {
    }

    static int of(ConnectRecord<?> record) {
        long size = 10 * OBJECT + of(record.key()) + of(record.value());
        for (Header header : record.headers()) {
            size += 2 * OBJECT + of(header.value());
        }
        return (int) Math.min(size, Integer.MAX_VALUE);
    }

    private static long of(Object value) {
        if (value instanceof String) {
            return OBJECT + ((String) value).length();
        } else if (value instanceof byte[]) {
            return OBJECT + ((byte[]) value).length;
        } else if (value instanceof ByteBuffer) {
            return OBJECT + ((ByteBuffer) value).remaining();
        } else if (value instanceof Struct) {
            return of((Struct) value);
        } else if (value instanceof Collection) {
            long size = OBJECT;
            for (Object element : (Collection<?>) value) {
                size += of(element);
            }
            return size;
        } else if (value instanceof Map) {
            long size = OBJECT;
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                size += 2 * OBJECT + of(entry.getKey()) + of(entry.getValue());
            }
            return size;
        }
        return value == null ? 0 : OBJECT;
    }

    private static long of(Struct struct) {
        long size = OBJECT;
        for (Field field : struct.schema().fields()) {
            size += of(struct.getWithoutDefault(field.name()));
        }
        return size;
    }
}
