package io.headrace.lanes;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.LoggerFactory;

/** The producer of a feed's dead letters where they go to another cluster than its records; created for the first one. */
final class DeadLetterProducer {
    private final Map<String, String> settings;
    private Producer<byte[], byte[]> producer; // guarded by this

    DeadLetterProducer(Map<String, String> settings) {
        this.settings = settings;
    }

    /** Write a record; what keeps it from being sent is passed to {@code done}, too, by then. */
    synchronized void send(ProducerRecord<byte[], byte[]> letter, Callback done) {
        try {
            if (producer == null) {
                producer = new KafkaProducer<>(new HashMap<>(settings), new ByteArraySerializer(), new ByteArraySerializer());
            }
            producer.send(letter, done);
        } catch (RuntimeException e) {
            LoggerFactory.getLogger(DeadLetterProducer.class).error("No dead letter could be written to {}", letter.topic(), e);
            done.onCompletion(null, e);
        }
    }

    /** Write the dead letter of the record that ends a feed, whose offset is not passed by that. */
    void sendLast(ProducerRecord<byte[], byte[]> letter, FeedPart part) {
        part.counters.sent(0);
        send(letter, (metadata, e) -> {
            if (e == null) {
                part.counters.letters.incrementAndGet();
            }
            part.counters.landed(0);
            part.lane.landed(part);
        });
    }

    /** What is not acknowledged by then is given up. */
    synchronized void close() {
        if (producer != null) {
            producer.close(Duration.ZERO);
        }
    }
}
