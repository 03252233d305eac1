package io.headrace;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * How far a query has copied that writes without a pause, while it runs: each record leaves its offset here on its way
 * ({@code headrace_mark}), and the query's own producer says what is acknowledged (as its interceptor, told by
 * {@code headrace.run} which query that is). A Spark task takes one record after the other, so when a record leaves its mark, all
 * before it have been handed to the producer.
 *
 * <p>For queries whose tasks run in the driver's process.
 */
public final class Marks implements ProducerInterceptor {
    private static final ConcurrentHashMap RUNS = new ConcurrentHashMap();
    private Run run;

    /** One query. */
    static final class Run {
        final AtomicLong handed = new AtomicLong();
        final AtomicLong acknowledged = new AtomicLong();
        final ConcurrentHashMap last = new ConcurrentHashMap(); // topic, a tab, partition -> the offset of the last record
        volatile boolean failed;
        Thread flushing;
    }

    /** Flushes the producer. */
    static final class Flush implements Runnable {
        private final Producer producer;
        private final Run run;

        Flush(Producer producer, Run run) {
            this.producer = producer;
            this.run = run;
        }

        public void run() {
            try {
                producer.flush();
            } catch (RuntimeException e) {
                run.failed = true;
            }
        }
    }

    public static void open(String name) {
        RUNS.put(name, new Run());
    }

    public static void close(String name) {
        RUNS.remove(name);
    }

    /** headrace_mark(name of a run, topic, partition, offset): always true, so that it can stand in a filter. */
    public static boolean mark(UTF8String name, UTF8String topic, int partition, long offset) {
        Run run = (Run) RUNS.get(name.toString());
        if (run != null) {
            run.handed.incrementAndGet(); // first: who sees the count unchanged has seen every offset
            run.last.put(topic.toString() + "\t" + partition, Long.valueOf(offset));
        }
        return true;
    }

    /**
     * What is in Kafka for good, of all that was on its way when this was called.
     *
     * @return a line with the number of acknowledged records, then one for each partition: topic, partition and the offset before
     *     which everything is acknowledged, with tabs between; empty if that is not known within the time, or something failed
     */
    public static String durable(String name, Producer producer, long timeoutMs) throws InterruptedException {
        Run run = (Run) RUNS.get(name);
        if (run == null || run.failed || (run.flushing != null && run.flushing.isAlive())) {
            return "";
        }
        long handed = run.handed.get();
        Map last = new HashMap(run.last);
        run.flushing = new Thread(new Flush(producer, run), "headrace-flush");
        run.flushing.setDaemon(true);
        run.flushing.start();
        run.flushing.join(timeoutMs);
        if (run.flushing.isAlive() || run.failed) {
            return "";
        }
        long acknowledged = run.acknowledged.get();
        // The last record of a partition may still be on its way to the producer, unless as many are acknowledged as left a mark.
        long after = acknowledged == handed && run.handed.get() == handed ? 1L : 0L;
        StringBuilder lines = new StringBuilder().append(acknowledged).append('\n');
        Iterator all = last.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry one = (Map.Entry) all.next();
            lines.append((String) one.getKey()).append('\t').append(((Long) one.getValue()).longValue() + after).append('\n');
        }
        return lines.toString();
    }

    public void configure(Map configs) {
        Object name = configs.get("headrace.run");
        run = name == null ? null : (Run) RUNS.get(name.toString());
    }

    public ProducerRecord onSend(ProducerRecord record) {
        return record;
    }

    public void onAcknowledgement(RecordMetadata metadata, Exception exception) {
        if (run != null) {
            if (exception == null) {
                run.acknowledged.incrementAndGet();
            } else {
                run.failed = true;
            }
        }
    }

    public void close() {
    }
}
