package io.headrace.lanes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A feed in one lane: takes records through the chain to the producer. What fails is the feed, never the lane. Unless it says otherwise,
 * a method is for the lane's thread.
 */
final class FeedPart {
    /** The least that a record takes beside key and value, and the header of its batch. */
    private static final int OVERHEAD = 61 + 7;
    private static final long SETTLES_MS = 5000;

    final FeedSpec spec;
    final Lane lane;
    final Producer<byte[], byte[]> producer;
    final Transaction transaction; // null: at least once
    final List<Slot> slots = new ArrayList<>();
    final AtomicLong inFlight = new AtomicLong(); // bytes
    final AtomicInteger waiting = new AtomicInteger(); // records
    private final Map<String, Target> targets = new HashMap<>();
    private final Histogram latency = new Histogram();
    private Chain chain;
    private RuntimeException notSent; // by the send that is under way, on this thread
    private boolean sending;
    private long read;
    private long failed;
    private long dropped;
    private final AtomicLong written = new AtomicLong();
    private final AtomicLong letters = new AtomicLong();
    private volatile long idleSinceMs = System.currentTimeMillis(); // or the last acknowledgement
    private long pausedMs;
    private volatile long pausedSinceMs; // 0: not paused by flow control
    private volatile boolean removing;
    private volatile Report.Failure failure;
    private volatile long failedSinceMs;

    private final News news = new News();
    private boolean ended; // its last report is made; guarded by this

    FeedPart(FeedSpec spec, Chain chain, Lane lane, Producer<byte[], byte[]> producer, Transaction transaction) {
        this.spec = spec;
        this.chain = chain;
        this.lane = lane;
        this.producer = producer;
        this.transaction = transaction;
        targets.putAll(spec.targets());
        for (Partition partition : spec.partitions()) {
            slots.add(new Slot(this, partition));
        }
    }

    boolean isOpen() {
        return failure == null && !removing;
    }

    /** Take a record; returns false if that cannot be now: the slot is paused then, and the record is to come again. */
    boolean take(Slot slot, ConsumerRecord<byte[], byte[]> record) {
        InternalRow row;
        try {
            row = chain.apply(record, slot.destination);
            if (row != null && row.numFields() > Chain.KEY_SCHEMA && learns(row)) {
                lane.pause(slot, Slot.SCHEMA);
                return false;
            }
            return row == null ? drop(slot, record) : send(slot, record, row);
        } catch (Exception e) {
            fail(Report.Failure.of(e).at(place(record), null));
            return false;
        }
    }

    private boolean learns(InternalRow row) {
        boolean key = !row.isNullAt(Chain.KEY_SCHEMA);
        boolean value = !row.isNullAt(Chain.VALUE_SCHEMA);
        if (!key && !value) {
            return false;
        }
        news.schemas(key ? row.getString(Chain.KEY_SCHEMA) : null, value ? row.getString(Chain.VALUE_SCHEMA) : null);
        lane.urgent();
        return true;
    }

    private boolean drop(Slot slot, ConsumerRecord<byte[], byte[]> record) {
        slot.pass(slot.take(record.offset()));
        dropped++;
        count(slot, record);
        return true;
    }

    private boolean send(Slot slot, ConsumerRecord<byte[], byte[]> record, InternalRow row) {
        boolean bad = !row.isNullAt(Chain.FAILURE);
        if (bad && !spec.tolerates()) {
            Report.Failure why = new Report.Failure("record", row.getString(Chain.FAILURE), place(record), null, 0, null, null);
            fail(why);
            return false;
        }
        if (bad && !spec.letters()) {
            failed(row.getString(Chain.FAILURE));
            slot.pass(slot.take(record.offset()));
            count(slot, record);
            return true;
        }
        String topic = topic(slot, row.getUTF8String(Chain.TOPIC));
        Target target = targets.get(topic);
        Integer partition = row.isNullAt(Chain.PARTITION) ? null : (Integer) row.getInt(Chain.PARTITION);
        if (target == null || (target.keepsPartition() && partition != null && partition >= target.partitions())) {
            needs(topic);
            lane.pause(slot, Slot.TOPIC);
            return false;
        }
        byte[] key = row.isNullAt(Chain.KEY) ? null : row.getBinary(Chain.KEY);
        byte[] value = row.isNullAt(Chain.VALUE) ? null : row.getBinary(Chain.VALUE);
        int size = (key == null ? 0 : key.length) + (value == null ? 0 : value.length);
        if (target.maxMessageBytes() > 0 && size + OVERHEAD > target.maxMessageBytes()) {
            fail(new Report.Failure("large", null, place(record), topic, size, null, null));
            return false;
        }
        Long timestamp = row.isNullAt(Chain.TIMESTAMP) || row.getLong(Chain.TIMESTAMP) < 0 ? null : (Long) row.getLong(Chain.TIMESTAMP);
        RecordHeaders headers = row.isNullAt(Chain.HEADERS) ? null : headers(row.getArray(Chain.HEADERS));
        ProducerRecord<byte[], byte[]> copy =
            new ProducerRecord<>(topic, target.keepsPartition() ? partition : null, timestamp, key, value, headers);
        if (!hand(slot, record, copy, size, bad)) {
            return false;
        }
        if (bad) {
            failed(row.getString(Chain.FAILURE));
        }
        count(slot, record);
        return true;
    }

    /** Hand a record to the producer; returns false if it takes none now. */
    private boolean hand(Slot slot, ConsumerRecord<byte[], byte[]> record, ProducerRecord<byte[], byte[]> copy, int size, boolean letter) {
        if (transaction != null) {
            transaction.begin();
        }
        long before = slot.taken();
        int flying = size + OVERHEAD;
        Sent sent = new Sent(slot, slot.take(record.offset()), flying, record, copy.topic(), letter);
        if (waiting.getAndIncrement() == 0) {
            idleSinceMs = System.currentTimeMillis();
        }
        inFlight.addAndGet(flying);
        lane.inFlight.addAndGet(flying);
        notSent = null;
        sending = true;
        try {
            producer.send(copy, sent);
        } catch (RuntimeException e) {
            notSent = e;
        } finally {
            sending = false;
        }
        if (notSent == null) {
            return true;
        }
        slot.untake(before);
        landed(flying);
        if (notSent instanceof org.apache.kafka.clients.producer.BufferExhaustedException) {
            lane.flow(this); // others have all of the producer's memory
        } else if (notSent instanceof org.apache.kafka.common.errors.TimeoutException) {
            targets.remove(copy.topic()); // no metadata: the topic may be gone
            needs(copy.topic());
            lane.pause(slot, Slot.TOPIC);
        } else if (transaction == null && !(notSent instanceof org.apache.kafka.common.errors.ApiException)) {
            throw new Lane.Broken(notSent); // the producer itself can write no more
        } else {
            refused(notSent, record, copy.topic(), size + headers(record));
        }
        return false;
    }

    private void landed(int bytes) {
        lane.inFlight.addAndGet(-bytes);
        inFlight.addAndGet(-bytes);
        waiting.decrementAndGet();
        idleSinceMs = System.currentTimeMillis();
    }

    private void count(Slot slot, ConsumerRecord<byte[], byte[]> record) {
        read++;
        int size = Math.max(0, record.serializedKeySize()) + Math.max(0, record.serializedValueSize());
        slot.count(size, Math.max(0, lane.nowMs - record.timestamp()));
    }

    private String topic(Slot slot, UTF8String text) {
        if (text.numBytes() == slot.targetText.length && text.equals(UTF8String.fromBytes(slot.targetText))) {
            return slot.target;
        }
        slot.target = text.toString();
        slot.targetText = text.getBytes();
        return slot.target;
    }

    private static RecordHeaders headers(ArrayData rows) {
        RecordHeaders headers = new RecordHeaders();
        for (int i = 0; i < rows.numElements(); i++) {
            InternalRow row = rows.getStruct(i, 2);
            headers.add(new RecordHeader(row.getString(0), row.isNullAt(1) ? null : row.getBinary(1)));
        }
        return headers;
    }

    private void failed(String report) {
        failed++;
        news.failed(report);
    }

    /** It waits until this topic is known. For any thread. */
    void needs(String topic) {
        news.needs(topic);
        lane.urgent();
    }

    /** How many bytes they have. */
    private static int headers(ConsumerRecord<byte[], byte[]> record) {
        int size = 0;
        for (org.apache.kafka.common.header.Header header : record.headers()) {
            size += header.key().length() + (header.value() == null ? 0 : header.value().length);
        }
        return size;
    }

    private static String place(ConsumerRecord<byte[], byte[]> record) {
        return "topic=" + record.topic() + ", partition=" + record.partition() + ", offset=" + record.offset();
    }

    private void refused(Exception e, ConsumerRecord<byte[], byte[]> record, String topic, int size) {
        boolean large = e instanceof RecordTooLargeException;
        Report.Failure why = Report.Failure.of(e).at(place(record), topic);
        fail(large ? new Report.Failure("large", null, why.place(), topic, size, why.javaClass(), why.message()) : why);
    }

    /** It stops here; what is in flight goes on. For any thread. */
    void fail(Report.Failure why) {
        synchronized (this) {
            if (failure != null) {
                return;
            }
            failure = why;
            failedSinceMs = System.currentTimeMillis();
        }
        lane.submit(() -> {
            lane.end(this);
            if (transaction != null) {
                if (why.isOfNext()) {
                    transaction.close(); // what precedes it
                } else {
                    transaction.abort();
                }
            }
        });
    }

    /** It is to stop, in good order. */
    void remove() {
        removing = true;
        if (transaction != null && failure == null) {
            transaction.close();
        }
        lane.end(this);
    }

    /** A topic exists, or has another shape than it was known to have. */
    void knows(Target target) {
        targets.put(target.topic(), target);
        resume(Slot.TOPIC);
    }

    /** From here on it takes this chain, which knows more schemas. */
    void replaces(Chain newChain) {
        chain = newChain;
        resume(Slot.SCHEMA);
    }

    private void resume(int reason) {
        for (Slot slot : slots) {
            lane.resume(slot, reason);
        }
    }

    void flowPaused(boolean now) {
        if (now && pausedSinceMs == 0) {
            pausedSinceMs = System.currentTimeMillis();
        } else if (!now && pausedSinceMs != 0) {
            pausedMs += System.currentTimeMillis() - pausedSinceMs;
            pausedSinceMs = 0;
        }
    }

    boolean isFlowPaused() {
        return pausedSinceMs != 0;
    }

    void committed(int records) {
        news.committed(records);
        lane.urgent();
    }

    /** Nothing of it is in flight, or, after a failure, nothing has come of it for a while: its topic may be away. */
    private boolean isSettled() {
        if (failure != null && System.currentTimeMillis() - failedSinceMs > SETTLES_MS) {
            return true;
        }
        return waiting.get() == 0 && (transaction == null || transaction.isClosed());
    }

    /** What is new; null if nothing is. For the thread of the Spark task; totals may be a moment old. */
    Report report() {
        boolean last = !isOpen() && isSettled();
        synchronized (this) {
            if (ended) {
                return null;
            }
            List<Report.OfPartition> partitions = new ArrayList<>();
            for (Slot slot : slots) {
                Report.OfPartition partition = slot.report(transaction != null);
                if (partition != null) {
                    partitions.add(partition);
                }
            }
            if (partitions.isEmpty() && news.isEmpty() && !last && waiting.get() == 0) {
                return null;
            }
            ended = last;
            String state = !last ? "RUNNING" : failure != null ? "FAILED" : "REMOVED";
            return news.report(spec, state, last ? failure : null, partitions, counts());
        }
    }

    private Report.Counts counts() {
        long now = System.currentTimeMillis();
        long since = pausedSinceMs;
        long paused = pausedMs + (since == 0 ? 0 : now - since);
        long waits = waiting.get() == 0 ? 0 : Math.max(1, now - idleSinceMs);
        return new Report.Counts(read, written.get(), failed, letters.get(), dropped, inFlight.get(), waits, paused, since != 0,
            latency.toArray());
    }

    /** Waits for the acknowledgement of one record. */
    private final class Sent implements Callback {
        private final Slot slot;
        private final long number;
        private final int bytes;
        private final ConsumerRecord<byte[], byte[]> record;
        private final String topic;
        private final boolean letter;

        Sent(Slot slot, long number, int bytes, ConsumerRecord<byte[], byte[]> record, String topic, boolean letter) {
            this.slot = slot;
            this.number = number;
            this.bytes = bytes;
            this.record = record;
            this.topic = topic;
            this.letter = letter;
        }

        @Override
        public void onCompletion(RecordMetadata metadata, Exception e) {
            if (sending && Thread.currentThread() == lane.thread()) { // refused before it was on its way
                notSent = e instanceof RuntimeException known ? known : new IllegalStateException(e);
                return;
            }
            landed(bytes);
            if (e != null) {
                refused(e, record, topic, bytes - OVERHEAD + headers(record));
            } else {
                long took = Math.max(0, System.currentTimeMillis() - record.timestamp());
                slot.acknowledge(number, metadata.offset(), letter, took);
                latency.add(took);
                (letter ? letters : written).incrementAndGet();
                if (news.written(topic)) {
                    lane.urgent();
                }
            }
            lane.landed(FeedPart.this);
        }
    }
}
