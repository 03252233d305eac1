package io.headrace.lanes;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The producer of all feeds of a lane but those with transactions, created for the first one. Thread-safe. */
final class SharedProducer {
    private final Map<String, Object> config;
    private Producer<byte[], byte[]> producer; // guarded by this
    private volatile Producer<byte[], byte[]> closed;
    private boolean ended; // guarded by this

    SharedProducer(Map<String, String> settings, String clientId) {
        this.config = new HashMap<>(settings);
        config.putIfAbsent("client.id", clientId);
    }

    /** The present one. @throws IllegalStateException after {@link #end} */
    synchronized Producer<byte[], byte[]> get() {
        if (ended) {
            throw new IllegalStateException("The lane has ended");
        }
        if (producer == null) {
            producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        }
        return producer;
    }

    /** Write nothing more of what it has; the next producer starts empty. Returns when all callbacks were called. */
    synchronized void close() {
        closed = producer;
        producer = null;
        if (closed != null) {
            closed.close(Duration.ZERO);
        }
    }

    /** Write nothing more at all. */
    synchronized void end() {
        ended = true;
        close();
    }

    /** Whether what a producer has not written is no failure: it was closed to write nothing more. */
    boolean isClosed(Producer<byte[], byte[]> before) {
        return before != null && before == closed;
    }
}
