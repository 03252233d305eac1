package io.headrace;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.TopicPartition;

/**
 * Polls a consumer whose topics may go away. Brokers answer a fetch of such a partition at once, with an error, upon which Kafka's
 * consumer fetches again at once, within one poll: both are busy until the topic is there again, or is not read any more. Where more
 * is asked than waiting for records needs, nothing is for the time that Kafka's clients wait before they try again.
 */
public final class CalmPoll {
    private static final long PAUSE_MS = 100L; // retry.backoff.ms
    private static final long PROBE_MS = 50L;
    private static final int PAUSES = 20; // before it is tried again whether brokers answer with errors still

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Metric requests;
    private int pauses; // that are left

    public CalmPoll(KafkaConsumer<byte[], byte[]> consumer) {
        this.consumer = consumer;
        this.requests = consumer.metrics().values().stream()
            .filter(metric -> metric.metricName().name().equals("request-total") && metric.metricName().group().equals("consumer-metrics"))
            .findFirst().orElseThrow();
    }

    /** What the consumer's own poll gives, and throws. */
    public ConsumerRecords<byte[], byte[]> poll(long timeoutMs) {
        if (pauses > 1) {
            pauses--;
            pause(Math.min(timeoutMs, PAUSE_MS));
            return seen(consumer.poll(Duration.ZERO));
        }
        long begun = System.nanoTime();
        double before = sent();
        ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(pauses == 1 ? Math.min(timeoutMs, PROBE_MS) : timeoutMs));
        long tookMs = (System.nanoTime() - begun) / 1_000_000L;
        pauses = sent() - before > usual(tookMs) ? PAUSES : 0;
        return seen(records);
    }

    private ConsumerRecords<byte[], byte[]> seen(ConsumerRecords<byte[], byte[]> records) {
        if (!records.isEmpty()) {
            pauses = 0;
        }
        return records;
    }

    /** How many requests waiting may take: an idle broker answers twice a second, and there are no more of them than partitions. */
    private double usual(long ms) {
        return (10 + Math.min(consumer.assignment().size(), 100) / 4) * Math.max(1.0, ms / (double) PROBE_MS);
    }

    private double sent() {
        return ((Number) requests.metricValue()).doubleValue();
    }

    /** Let time go by without a fetch; to wake the consumer ends it. */
    private void pause(long ms) {
        Set<TopicPartition> fetched = new HashSet<>(consumer.assignment());
        fetched.removeAll(consumer.paused());
        consumer.pause(fetched);
        try {
            consumer.poll(Duration.ofMillis(ms));
        } finally {
            consumer.resume(fetched);
        }
    }
}
