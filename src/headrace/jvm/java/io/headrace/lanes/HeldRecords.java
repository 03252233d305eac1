package io.headrace.lanes;

import java.util.HashMap;
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
    private final Map<Slot, List<ConsumerRecord<byte[], byte[]>>> records = new LinkedHashMap<>();
    private final Map<Slot, Integer> sizes = new HashMap<>();
    private int size; // bytes of all

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
        records.put(slot, List.copyOf(rest));
        sizes.put(slot, bytes);
        size += bytes;
        return true;
    }

    /** Take out what is kept of partitions that are not paused any more. */
    Map<Slot, List<ConsumerRecord<byte[], byte[]>>> due() {
        if (records.isEmpty()) {
            return Map.of();
        }
        Map<Slot, List<ConsumerRecord<byte[], byte[]>>> due = new LinkedHashMap<>(records);
        due.keySet().removeIf(slot -> slot.paused != 0);
        due.keySet().forEach(this::forget);
        return due;
    }

    /** The offset of the first record that is kept of a partition, or else where its reader is. */
    long position(Slot slot, RecordReader reader) {
        List<ConsumerRecord<byte[], byte[]>> kept = records.get(slot);
        return kept == null ? reader.position(slot.source) : kept.get(0).offset();
    }

    /** Keep nothing of a partition: it is not read any more, or from another offset on. */
    void forget(Slot slot) {
        if (records.remove(slot) != null) {
            size -= sizes.remove(slot);
        }
    }
}
