package io.headrace.lanes;

import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * Waits for the acknowledgement of one record, which it does not hold: it may be much larger than its copy, whose bytes are limited.
 *
 * @param number of the record in its slot
 * @param bytes that it has in flight
 * @param offset of the record
 * @param timestamp of the record
 * @param topic that it goes to
 * @param letter whether it goes there as a dead letter
 * @param by what writes it; null: the producer of dead letters, or the file
 */
record Sent(
    FeedPart part, Slot slot, long number, int bytes, long offset, long timestamp, String topic, boolean letter,
    Producer<byte[], byte[]> by
) implements Callback {
    @Override
    public void onCompletion(RecordMetadata metadata, Exception e) {
        if (part.isNotSent(e)) {
            return;
        }
        if (e != null) {
            part.lost(e, this);
        } else {
            long tookMs = Math.max(0, System.currentTimeMillis() - timestamp);
            slot.acknowledge(number, metadata.offset(), letter, tookMs);
            part.written(topic, letter, tookMs);
        }
        part.landed(bytes); // only now: with nothing in flight, the last report may be made at once
        part.lane.landed(part);
    }

    /** Where the record is, in words. */
    String place() {
        return Records.place(slot, offset);
    }
}
