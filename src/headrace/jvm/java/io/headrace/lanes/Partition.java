package io.headrace.lanes;

import java.io.Serializable;
import org.apache.kafka.common.TopicPartition;

/**
 * A source partition of a feed.
 *
 * @param topic the source topic
 * @param partition its number
 * @param offset the first offset to read
 * @param destination the name of the copy of its topic, before the chain
 * @param stores with exactly once: the records that store the offset of the partition; else empty
 */
record Partition(String topic, int partition, long offset, String destination, OffsetRecord[] stores) implements Serializable {
    TopicPartition source() {
        return new TopicPartition(topic, partition);
    }

    Partition at(long newOffset) {
        return new Partition(topic, partition, newOffset, destination, stores);
    }

    /** A record that stores an offset: its value is text with the number of the last record copied,
     * in a file that of the first byte after it, between head and tail. */
    record OffsetRecord(String topic, byte[] key, byte[] head, byte[] tail) implements Serializable { }
}
