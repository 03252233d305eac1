package io.headrace.lanes;

import java.util.Collection;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;

/** What a lane reads from: partitions that are assigned, each from a position on. For the lane's thread, but for {@link #wakeup}. */
interface RecordReader {
    /** Some partitions cannot be read. */
    final class Refused extends RuntimeException {
        final Collection<TopicPartition> partitions;

        Refused(Collection<TopicPartition> partitions, Exception cause) {
            super(cause);
            this.partitions = partitions;
        }
    }

    /** Read these partitions, and no others. */
    void assign(Collection<TopicPartition> partitions);

    boolean isAssigned(TopicPartition partition);

    /** The next record to read is the one at this offset. */
    void seek(TopicPartition partition, long offset);

    /** The offset of the next record. */
    long position(TopicPartition partition);

    void pause(TopicPartition partition);

    void resume(TopicPartition partition);

    /**
     * The next records, none after a while without any, or if it is woken up.
     *
     * @throws Refused if some partitions cannot be read
     * @throws RuntimeException if none can
     */
    ConsumerRecords<byte[], byte[]> poll(long timeoutMs);

    /** Have a poll return. For any thread. */
    void wakeup();

    void close();
}
