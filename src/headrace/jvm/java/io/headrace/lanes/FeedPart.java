package io.headrace.lanes;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * A feed in one lane: takes records through the chain to the producer. What fails is the feed, never the lane. Unless it says otherwise,
 * a method is for the lane's thread.
 */
final class FeedPart {
    /** The least that a record takes beside key and value, and the header of its batch. */
    static final int OVERHEAD = 61 + 7;
    private static final long SETTLES_MS = 5000;

    final FeedSpec spec;
    final Lane lane;
    volatile Producer<byte[], byte[]> producer; // its transaction's, or the lane's, which replaces it; null: records go to the file
    final Transaction transaction; // null: at least once
    final List<Slot> slots = new ArrayList<>();
    final Counters counters = new Counters();
    private final LinesWriter file; // null: records go to the producer
    private final Map<String, Target> targets = new HashMap<>();
    private final Chains chains;
    private RuntimeException notSent; // by the send that is under way, on this thread
    private boolean sending;
    private final DeadLetterProducer letters; // null: dead letters are written as other records are
    private volatile boolean removing;
    private volatile boolean givenUp; // what is not acknowledged is no failure
    private volatile Report.Failure failure;
    private volatile long failedSinceMs;
    private final ReportBuffer unreported = new ReportBuffer();
    private boolean ended; // its last report is made; guarded by this

    /** @param producer null: the records go to the feed's file. @throws IOException if that cannot be opened */
    FeedPart(FeedSpec spec, Chain chain, Lane lane, Producer<byte[], byte[]> producer, Transaction transaction) throws IOException {
        this.spec = spec;
        this.chains = new Chains(chain);
        this.lane = lane;
        this.producer = producer;
        this.transaction = transaction;
        this.file = producer == null ? new LinesWriter(spec.file()) : null;
        this.letters = spec.letterProducer() == null ? null : new DeadLetterProducer(spec.letterProducer());
        targets.putAll(spec.targets());
        spec.partitions().forEach(partition -> slots.add(new Slot(this, partition)));
    }

    boolean usesLaneProducer() {
        return transaction == null && file == null;
    }

    boolean isOpen() {
        return failure == null && !removing;
    }

    /** Take a record; returns false if that cannot be now: the slot is paused then, and the record is to come again. */
    boolean take(Slot slot, ConsumerRecord<byte[], byte[]> record) {
        boolean taken = taken(slot, record);
        if (!taken) {
            slot.answers.keep();
        }
        return taken;
    }

    private boolean taken(Slot slot, ConsumerRecord<byte[], byte[]> record) {
        if (slot.isRefused(record.offset())) {
            slot.pass(slot.take(Records.end(record)));
            return true;
        }
        try {
            InternalRow row = chains.apply(record, slot);
            String need = Chains.need(row);
            if (need != null) {
                unreported.schemas(need);
                lane.pause(slot, Slot.SCHEMA);
                return false;
            }
            return row == null ? drop(slot, record) : send(slot, record, row);
        } catch (Lane.Broken e) {
            throw e;
        } catch (Throwable e) { // an Error of one record: the lane's other feeds continue
            fail(Report.Failure.of(e).unsentAt(Records.place(slot, record.offset())));
            return false;
        }
    }

    /** Ask for what a record needs, and at once for what those behind it will. */
    void ask(Slot slot, List<ConsumerRecord<byte[], byte[]>> behind) {
        chains.ask(behind, slot, unreported);
        lane.urgent();
    }

    private boolean drop(Slot slot, ConsumerRecord<byte[], byte[]> record) {
        slot.pass(slot.take(Records.end(record)));
        counters.dropped++;
        count(slot, record);
        return true;
    }

    private boolean send(Slot slot, ConsumerRecord<byte[], byte[]> record, InternalRow row) {
        boolean bad = !row.isNullAt(Chain.FAILURE);
        if (bad && !spec.tolerates()) {
            if (letters != null) {
                letters.sendLast(Records.letter(row), this);
            }
            fail(new Report.Failure("record", row.getString(Chain.FAILURE), Records.place(slot, record.offset()), null, 0, null, null, true));
            return false;
        }
        if (bad && !spec.letters()) {
            failed(row.getString(Chain.FAILURE));
            slot.pass(slot.take(Records.end(record)));
            count(slot, record);
            return true;
        }
        ProducerRecord<byte[], byte[]> copy = bad && letters != null ? Records.letter(row) : copy(slot, record, row);
        if (copy == null || !hand(slot, record, copy, bad)) {
            return false;
        }
        if (bad) {
            failed(row.getString(Chain.FAILURE));
        }
        count(slot, record);
        return true;
    }

    /** The copy of a record; null if it cannot be written now, or never. */
    private ProducerRecord<byte[], byte[]> copy(Slot slot, ConsumerRecord<byte[], byte[]> record, InternalRow row) {
        String topic = slot.topic(row.getUTF8String(Chain.TOPIC));
        if (file != null) {
            return Records.of(topic, null, row);
        }
        Target target = targets.get(topic);
        Integer partition = row.isNullAt(Chain.PARTITION) ? null : (Integer) row.getInt(Chain.PARTITION);
        if (target == null || (target.keepsPartition() && partition != null && partition >= target.partitions())) {
            slot.await(topic);
            return null;
        }
        ProducerRecord<byte[], byte[]> copy = Records.of(topic, target.keepsPartition() ? partition : null, row);
        int size = Records.size(copy);
        if (target.maxMessageBytes() == 0 || size + OVERHEAD <= target.maxMessageBytes()) {
            return copy;
        }
        if (!spec.skipsRefused()) {
            fail(new Report.Failure("large", null, Records.place(slot, record.offset()), topic, size, null, null, true));
        } else if (target.isOld()) { // it may take larger records by now
            slot.await(topic);
        } else if (Refusals.skip(Refusals.tooLarge(size, target), slot, -1, record.offset(), topic)) {
            count(slot, record);
        }
        return null;
    }

    /** Hand a record to a producer; returns false if it takes none now. */
    private boolean hand(Slot slot, ConsumerRecord<byte[], byte[]> record, ProducerRecord<byte[], byte[]> copy, boolean letter) {
        boolean apart = letter && letters != null;
        long before = slot.taken();
        int flying = Records.size(copy) + Records.size(copy.headers()) + OVERHEAD;
        Sent sent = new Sent(this, slot, slot.take(Records.end(record)), flying, record.offset(), record.timestamp(), copy.topic(), letter,
            apart ? null : producer);
        counters.sent(flying);
        lane.inFlight.addAndGet(flying);
        notSent = null;
        sending = true;
        try {
            if (transaction != null) {
                transaction.begin();
            }
            if (apart) {
                letters.send(copy, sent);
            } else if (file != null) {
                file.send(copy, sent);
            } else {
                producer.send(copy, sent);
            }
        } catch (RuntimeException e) {
            notSent = e;
        } catch (Error e) { // it was not sent: no commit may have its offset
            slot.untake(before);
            landed(flying);
            throw e;
        } finally {
            sending = false;
        }
        if (notSent == null) {
            if (file != null && file.isFull()) {
                file.flush();
            }
            return true;
        }
        slot.untake(before);
        landed(flying);
        if (notSent instanceof org.apache.kafka.clients.producer.BufferExhaustedException) {
            lane.flow(this); // others have all of the producer's memory
        } else if (notSent instanceof org.apache.kafka.common.errors.TimeoutException && !apart) {
            targets.remove(copy.topic()); // no metadata: the topic may be gone
            slot.await(copy.topic());
        } else if (!apart && transaction == null && !(notSent instanceof org.apache.kafka.common.errors.ApiException)) {
            throw new Lane.Broken(notSent); // the producer itself can write no more
        } else if (Refusals.skip(notSent, slot, -1, record.offset(), copy.topic())) {
            count(slot, record);
        } else {
            refused(notSent, sent);
        }
        return false;
    }

    /** A record that the producer refuses while it is handed over, on this thread, was not on its way. */
    boolean isNotSent(Exception e) {
        if (!sending || Thread.currentThread() != lane.thread) {
            return false;
        }
        notSent = e instanceof RuntimeException known ? known : new IllegalStateException(e);
        return true;
    }

    /** A record that was on its way is not there. For any thread. */
    void lost(Exception e, Sent sent) {
        if (givenUp || lane.producer.isClosed(sent.by())) {
            return;
        }
        if (Refusals.isOfOthers(e)) { // it is read again, and sent without those, which may be of another feed
            lane.submit(() -> { // with transactions they are this one's own, and end it
                if (transaction == null && isOpen() && sent.slot().awaits(sent.number())) {
                    lane.rewind(this);
                }
            });
        } else if (!Refusals.skip(e, sent.slot(), sent.number(), sent.offset(), sent.topic())) {
            refused(e, sent);
        }
    }

    /** A record is in this topic. For any thread. */
    void written(String topic, boolean letter, long tookMs) {
        counters.latency.add(tookMs);
        (letter ? counters.letters : counters.written).incrementAndGet();
        if (unreported.written(topic)) {
            lane.urgent();
        }
    }

    /** For any thread. */
    void landed(int bytes) {
        counters.landed(bytes);
        lane.inFlight.addAndGet(-bytes); // last: what other feeds have in flight never seems less than it is
    }

    private void count(Slot slot, ConsumerRecord<byte[], byte[]> record) {
        counters.read++;
        slot.count(Records.size(record), Math.max(0, lane.nowMs - record.timestamp()));
    }

    /** A record is passed over. For any thread. */
    void failed(String report) {
        counters.failed.incrementAndGet();
        unreported.failed(report);
    }

    /** It waits until this topic is known. For any thread. */
    void needs(String topic) {
        unreported.needs(topic);
        lane.urgent();
    }

    private void refused(Exception e, Sent sent) {
        boolean large = e instanceof RecordTooLargeException && !(sent.letter() && letters != null);
        Report.Failure why = Report.Failure.of(e).at(sent.place(), file != null && !sent.letter() ? null : sent.topic());
        fail(large ? why.tooLarge(sent.bytes() - OVERHEAD) : why);
    }

    /** It stops here; what is in flight continues. For any thread. */
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
                if (why.unsent()) {
                    transaction.close(); // what precedes it
                } else {
                    transaction.abort();
                }
            }
        });
    }

    /** It is to stop, in good order. */
    void remove() {
        if (transaction != null && failure == null) {
            transaction.close();
        }
        removing = true;
        lane.end(this);
    }

    /** It is to stop, and nothing of it may be written any more. */
    void giveUp() {
        removing = true;
        givenUp = true;
        lane.end(this);
        if (letters != null) {
            letters.close();
        }
        if (transaction != null) {
            transaction.abort();
        } else if (counters.waiting.get() > 0 && file == null) {
            lane.withdraw(this);
        }
        lane.urgent();
    }

    /** Close what is its own. For any thread. */
    void close() {
        givenUp = true;
        if (letters != null) {
            letters.close();
        }
        if (transaction != null) {
            transaction.producer.close(Duration.ZERO);
        }
        if (file != null) {
            file.close();
        }
    }

    /** A topic exists, or has another shape than it was known to have. */
    void knows(Target target) {
        targets.put(target.topic(), target);
        slots.stream().filter(slot -> target.topic().equals(slot.awaited)).forEach(slot -> lane.resume(slot, Slot.TOPIC));
    }

    /** From here on it takes this chain for records with these needs. */
    void replaces(Chain newChain, List<String> needs) {
        chains.put(newChain, needs);
        slots.forEach(slot -> lane.resume(slot, Slot.SCHEMA));
    }

    /** The records that were taken are to be written now, where a producer does not see to that. */
    void flush() {
        if (file != null) {
            file.flush();
        }
    }

    void committed(int records) {
        unreported.committed(records);
        lane.urgent();
    }

    /** Nothing of it is in flight. After a failure, what nothing comes of for a while is given up: its topic may be away. */
    private boolean isSettled() {
        long failedMs = failure == null ? 0 : System.currentTimeMillis() - failedSinceMs;
        if (failedMs > SETTLES_MS && !givenUp) {
            givenUp = true;
            lane.submit(this::giveUp);
        }
        return failedMs > (transaction == null ? 3 : 1) * SETTLES_MS // its lane does not get to it
            || (counters.waiting.get() == 0 && (transaction == null || transaction.isEnded()));
    }

    /** What is new; null if nothing is. For the thread of the Spark task; totals may be a moment old. */
    Report report() {
        boolean last = !isOpen() && isSettled();
        Report report;
        synchronized (this) {
            if (ended) {
                return null;
            }
            List<Report.OfPartition> partitions = slots.stream().map(slot -> slot.report(transaction != null))
                .filter(Objects::nonNull).toList();
            if (partitions.isEmpty() && unreported.isEmpty() && !last && counters.isQuiet()) {
                return null;
            }
            ended = last;
            String state = !last ? "RUNNING" : failure != null ? "FAILED" : "REMOVED";
            report = unreported.report(spec, state, last ? failure : null, partitions, counters.now());
        }
        if (last) {
            close(); // without the lock: it waits for callbacks, which may wait for the lock in `fail`
        }
        return report;
    }
}
