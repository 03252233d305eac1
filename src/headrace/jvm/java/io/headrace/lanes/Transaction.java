package io.headrace.lanes;

import io.headrace.Transactions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The transactions of one feed (KIP-618): its records, and the offsets that they bring it to. While one is committed, on another thread,
 * the feed's partitions are paused; the lane continues. Unless it says otherwise, a method is for the lane's thread.
 */
final class Transaction {
    private static final long GATHERS_MS = 300; // while there are more records to read
    private static final long PATIENCE_MS = 60_000; // Kafka's max.block.ms, which is shorter here, as sends block the lane's thread
    private static final Duration CLOSE = Duration.ofSeconds(5);

    final Producer<byte[], byte[]> producer;
    private final Executor threads;
    private FeedPart part;
    private volatile boolean begun;
    private boolean closing;
    private long begunMs;
    private int records;
    private volatile boolean committing;
    private final AtomicLong storing = new AtomicLong(); // records with offsets that are on their way
    private final AtomicBoolean ending = new AtomicBoolean();
    private volatile boolean closed;

    /** @param threads commits, and closes, on one of these */
    Transaction(FeedSpec spec, Executor threads) {
        Map<String, Object> config = new HashMap<>(spec.settings().producer());
        config.put("transactional.id", spec.transactions().id());
        config.put("enable.idempotence", "true");
        config.putIfAbsent("client.id", "headrace-" + spec.name());
        this.threads = threads;
        this.producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /**
     * Begin to write with the feed's transactional id; blocks. For any thread.
     *
     * @throws org.apache.kafka.common.errors.ProducerFencedException if the feed's offsets may be older than what has been committed:
     *     the lane before, or another worker, has had the id since they were read
     */
    void initialize(FeedSpec.Transactions owner) throws Exception {
        patiently(() -> Transactions.begin(producer, owner.id(), owner.producerId(), owner.epoch()));
    }

    /** Wait longer than max.block.ms: after a time-out the same call continues to wait. */
    private void patiently(Callable<?> call) throws Exception {
        long endMs = System.currentTimeMillis() + PATIENCE_MS;
        while (true) {
            try {
                call.call();
                return;
            } catch (TimeoutException e) {
                if (ending.get() || System.currentTimeMillis() >= endMs) {
                    throw e;
                }
            }
        }
    }

    void of(FeedPart owner) {
        part = owner;
    }

    /** One more record. */
    void begin() {
        if (!begun) {
            producer.beginTransaction();
            begun = true;
            begunMs = System.currentTimeMillis();
            records = 0;
        }
        records++;
    }

    /** The lane has polled. @param idle nothing was read of this feed */
    void round(boolean idle, long nowMs) {
        if (committing || closing || !part.isOpen() || (!begun && !hasNews())) {
            return;
        }
        long age = begun ? nowMs - begunMs : Long.MAX_VALUE;
        long interval = part.spec.commitMs();
        if (interval > 0 ? age >= interval : idle || age >= GATHERS_MS || records < 500) {
            commit();
        }
    }

    private boolean hasNews() {
        for (Slot slot : part.slots) {
            if (slot.taken() > slot.committed()) {
                return true;
            }
        }
        return false;
    }

    /** Commit what there is, and end. */
    void close() {
        closing = true;
        if (!committing) {
            commit();
        }
    }

    /** Whether nothing is open. For any thread. */
    boolean isClosed() {
        return closed || (!begun && !committing && !closing);
    }

    /** Whether its producer is closed. For any thread. */
    boolean isEnded() {
        return closed;
    }

    private void commit() {
        committing = true;
        Map<Slot, Long> ends = new HashMap<>();
        for (Slot slot : part.slots) {
            part.lane.pause(slot, Slot.COMMIT);
            if (slot.taken() > slot.committed()) {
                ends.put(slot, slot.taken());
            }
        }
        boolean open = begun;
        int size = begun ? records : 0;
        threads.execute(() -> {
            try {
                if (open || !ends.isEmpty()) {
                    if (!open) {
                        producer.beginTransaction();
                    }
                    // offsets come last: a transaction that stays open must not hold up those who read them
                    Transactions.awaitRecords(producer, () -> checked(part.counters.waiting.get()));
                    ends.forEach(this::store);
                    Transactions.awaitRecords(producer, () -> checked(storing.get()));
                    patiently(() -> {
                        producer.commitTransaction();
                        return null;
                    });
                }
                part.lane.submit(() -> committed(ends, size));
            } catch (Exception e) {
                part.fail(Report.Failure.of(e));
                end(true); // also if it had failed before
            }
        });
    }

    /** How much is not acknowledged, unless the transaction is given up. */
    private long checked(long waiting) {
        if (ending.get()) {
            throw new IllegalStateException("The transaction is given up");
        }
        return waiting;
    }

    private void store(Slot slot, long end) {
        byte[] number = Long.toString(part.spec.settings().files() ? end : end - 1).getBytes(StandardCharsets.UTF_8);
        for (Partition.OffsetRecord record : slot.partition.stores()) {
            byte[] value = new byte[record.head().length + number.length + record.tail().length];
            System.arraycopy(record.head(), 0, value, 0, record.head().length);
            System.arraycopy(number, 0, value, record.head().length, number.length);
            System.arraycopy(record.tail(), 0, value, record.head().length + number.length, record.tail().length);
            storing.incrementAndGet();
            producer.send(new ProducerRecord<>(record.topic(), record.key(), value), (metadata, error) -> storing.decrementAndGet());
        }
    }

    private void committed(Map<Slot, Long> ends, int size) {
        ends.forEach((slot, end) -> slot.commit(end));
        begun = false;
        committing = false;
        if (size > 0 || !ends.isEmpty()) {
            part.committed(size);
        }
        if (closing) {
            if (hasNews()) {
                commit();
            } else {
                end(false);
            }
            return;
        }
        for (Slot slot : part.slots) {
            part.lane.resume(slot, Slot.COMMIT);
        }
    }

    /** What is not committed is given up. For any thread. */
    void abort() {
        end(begun || committing);
    }

    private void end(boolean aborts) {
        if (!ending.compareAndSet(false, true)) {
            return;
        }
        try {
            threads.execute(() -> end(aborts, CLOSE));
        } catch (RejectedExecutionException e) { // the Spark task has ended
            end(false, Duration.ZERO);
        }
    }

    private void end(boolean aborts, Duration timeout) {
        try {
            if (aborts) {
                producer.abortTransaction();
            }
        } catch (RuntimeException e) {
            org.slf4j.LoggerFactory.getLogger(Transaction.class).debug("The broker aborts the transaction by itself", e);
        } finally {
            producer.close(aborts ? Duration.ZERO : timeout);
            closed = true;
            part.lane.urgent();
        }
    }
}
