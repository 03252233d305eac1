package io.headrace.lanes;

import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;

/** A line of a file as a record: its topic is the path, its offset the byte at which it begins. */
final class Line extends ConsumerRecord<byte[], byte[]> {
    final long next; // the byte at which the next one begins

    Line(String path, long begin, long next, byte[] text, long nowMs) {
        super(path, 0, begin, nowMs, TimestampType.CREATE_TIME, NULL_SIZE, text.length, null, text, new RecordHeaders(), Optional.empty());
        this.next = next;
    }
}
