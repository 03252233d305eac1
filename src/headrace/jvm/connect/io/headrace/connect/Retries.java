package io.headrace.connect;

import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.kafka.connect.errors.RetriableException;

/**
 * Calls a transform, predicate or converter again while it throws a RetriableException: `errors.retry.timeout` and
 * `errors.retry.delay.max.ms`, with the delays of Kafka Connect's RetryWithToleranceOperator.
 */
final class Retries {
    private static final long FIRST_DELAY_MS = 300;
    private static final int MOST_DOUBLED = 32; // more would not fit into a long
    private final long timeoutMs; // -1: without end
    private final long mostDelayMs;
    private final AtomicLong count = new AtomicLong();
    private final CountDownLatch ended = new CountDownLatch(1);

    private Retries(long timeoutMs, long mostDelayMs) {
        this.timeoutMs = timeoutMs;
        this.mostDelayMs = mostDelayMs;
    }

    /** By `retry` of a request, with `timeout` and `delay`; none without it. */
    static Retries of(Map<String, Object> request) {
        Map<?, ?> retry = (Map<?, ?>) request.get("retry");
        return retry == null ? new Retries(0, 0)
            : new Retries(((Number) retry.get("timeout")).longValue(), ((Number) retry.get("delay")).longValue());
    }

    /** What the plugin answers in the end. Throws what it has thrown last. */
    <T> T call(Supplier<T> plugin) {
        if (timeoutMs == 0) {
            return plugin.get();
        }
        long begunNanos = System.nanoTime();
        for (int retry = 0;; retry++) {
            try {
                return plugin.get();
            } catch (RetriableException e) {
                long leftMs = timeoutMs < 0 ? Long.MAX_VALUE : timeoutMs - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNanos);
                if (leftMs <= 0 || !waited(Math.min(delayMs(retry), leftMs))) {
                    throw e;
                }
                count.incrementAndGet();
            }
        }
    }

    private long delayMs(int retry) {
        long delay = FIRST_DELAY_MS << Math.min(retry, MOST_DOUBLED);
        return delay <= mostDelayMs ? delay : mostDelayMs <= 0 ? 0 : ThreadLocalRandom.current().nextLong(mostDelayMs);
    }

    /** Whether there is another attempt after so long: none once the task is to end, or its thread is. */
    private boolean waited(long delayMs) {
        try {
            return !ended.await(delayMs, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** How often something was called again. */
    long count() {
        return count.get();
    }

    /** Nothing is tried again from here on. */
    void end() {
        ended.countDown();
    }
}
