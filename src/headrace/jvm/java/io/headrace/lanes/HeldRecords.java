package io.headrace.lanes;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Records that were read and that their feed cannot take yet, of partitions that are paused: few and small ones are kept, and need not be
 * read again, for which a lane would first wait until the broker answers the request that is under way. For the lane's thread.
 */
final class HeldRecords {
    private static final int MOST_OF_PARTITION = 64 << 10;
    private static final int MOST = 4 << 20;
    private final Map<Slot, Kept> held = new LinkedHashMap<>();
    private int size; // bytes of all

    private record Kept(List<ConsumerRecord<byte[], byte[]>> records, int size) { }

    /** Keep these records, all that were read of a paused partition from the first of them on; returns false if they are too many. */
    boolean hold(Slot slot, List<ConsumerRecord<byte[], byte[]>> rest) {
        int most = Math.min(MOST_OF_PARTITION, MOST - size);
        int bytes = 0;
        for (ConsumerRecord<byte[], byte[]> record : rest) {
            bytes += Records.size(record) + Records.size(record.headers()) + FeedPart.OVERHEAD;
            if (bytes > most) {
                return false;
            }
        }
        held.put(slot, new Kept(List.copyOf(rest), bytes));
        size += bytes;
        return true;
    }

    /** Take out what is kept of partitions that are not paused any more. */
    Map<Slot, List<ConsumerRecord<byte[], byte[]>>> due() {
        if (held.isEmpty()) {
            return Map.of();
        }
        Map<Slot, List<ConsumerRecord<byte[], byte[]>>> due = new LinkedHashMap<>();
        held.forEach((slot, kept) -> {
            if (slot.paused == 0) {
                due.put(slot, kept.records);
            }
        });
        due.keySet().forEach(this::forget);
        return due;
    }

    /** The offset of the first record that is kept of a partition, or else where its reader is. */
    long position(Slot slot, RecordReader reader) {
        Kept kept = held.get(slot);
        return kept == null ? reader.position(slot.source) : kept.records.get(0).offset();
    }

    /** Keep nothing of a partition: it is not read any more, or from another offset on. */
    void forget(Slot slot) {
        Kept kept = held.remove(slot);
        if (kept != null) {
            size -= kept.size;
        }
    }
}
