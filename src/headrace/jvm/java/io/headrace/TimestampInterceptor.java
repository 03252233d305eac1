package io.headrace;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;

/**
 * Gives a record the timestamp that Spark's Kafka writer has no column for.
 *
 * <p>The writer knows topic, partition, key, value and headers. headrace therefore adds the timestamp as the LAST header, named
 * {@code __headrace.timestamp}, milliseconds since the epoch as decimal digits; this interceptor
 * ({@code kafka.interceptor.classes}) takes the header off again and sets the timestamp. A null value of the header, or a negative
 * number, means "no timestamp": the producer sets the present. A record whose last header is another one passes as it is, so a
 * record that is mirrored with such a header of its own inside keeps it.
 *
 * <p>No generics, because Janino, which compiles this file, checks the erased signatures.
 */
public final class TimestampInterceptor implements ProducerInterceptor {
    private static final String NAME = "__headrace.timestamp";

    public ProducerRecord onSend(ProducerRecord record) {
        Header[] headers = record.headers().toArray();
        int last = headers.length - 1;
        if (last < 0 || !NAME.equals(headers[last].key())) {
            return record;
        }
        byte[] digits = headers[last].value();
        Long timestamp = digits == null ? null : Long.valueOf(new String(digits, StandardCharsets.US_ASCII));
        if (timestamp != null && timestamp.longValue() < 0) { // ProducerRecord refuses it; with an exception, the record would go as it is
            timestamp = null;
        }
        RecordHeaders others = new RecordHeaders();
        for (int i = 0; i < last; i++) {
            others.add(headers[i]);
        }
        return new ProducerRecord(record.topic(), record.partition(), timestamp, record.key(), record.value(), others);
    }

    public void onAcknowledgement(RecordMetadata metadata, Exception exception) {
    }

    public void close() {
    }

    public void configure(Map configs) {
    }
}
