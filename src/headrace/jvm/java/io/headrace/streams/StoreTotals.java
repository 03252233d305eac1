package io.headrace.streams;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/** How many rows an index of sizes has of each task, and how many bytes they say: a row is its time and a size, 8 bytes each. */
final class StoreTotals {
    private final Map<Integer, Long> rows = new HashMap<>();
    private final Map<Integer, Long> bytes = new HashMap<>();

    static long bytes(byte[] row) {
        return row == null ? 0L : ByteBuffer.wrap(row).getLong(Long.BYTES);
    }

    /** A row of a key takes the place of another one, each null if there is none. */
    synchronized void change(byte[] key, byte[] before, byte[] now) {
        int partition = ByteBuffer.wrap(key).getInt();
        rows.merge(partition, (now == null ? 0L : 1L) - (before == null ? 0L : 1L), Long::sum);
        bytes.merge(partition, bytes(now) - bytes(before), Long::sum);
    }

    synchronized long of(int partition, boolean inBytes) {
        return (inBytes ? bytes : rows).getOrDefault(partition, 0L);
    }
}
