package io.headrace.lanes;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;

/**
 * What reads, and a producer, with the same settings, and the feeds that share them. Its thread reads, transforms and hands over; the
 * producer's thread acknowledges. A feed that fails, waits or is full touches no other.
 */
final class Lane implements Runnable {
    private static final long MOST_IN_FLIGHT = 32L << 20;
    private static final long MOST_OF_FEED = 16L << 20;
    private static final long LEAST_OF_FEED = 64L << 10;
    private static final long IDLE_MS = 1000;
    private static final long SOON_MS = 100;
    private static final long DRAIN_MS = 5000;
    private static final long TURN_MS = 500;

    final long id;
    final SharedProducer producer;
    final AtomicLong inFlight = new AtomicLong(); // bytes, of all feeds
    final Thread thread;
    volatile long nowMs = System.currentTimeMillis(); // of the last poll
    private final FeedSpec.Settings settings;
    private volatile RecordReader reader; // null until `open`
    private final Runnable urgent;
    private final Map<TopicPartition, Slot> slots = new HashMap<>();
    private final Set<FeedPart> parts = new LinkedHashSet<>();
    private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();
    private final HeldRecords held = new HeldRecords();
    private List<Slot> added = new ArrayList<>();
    private boolean moved; // the assignment is not that of `slots` yet
    private long lookedMs;
    private volatile boolean stopping;
    private volatile boolean polling;

    /** The lane's producer can write no more. */
    static final class Broken extends RuntimeException {
        Broken(RuntimeException cause) {
            super(cause);
        }
    }

    /** @param urgent called when there is something to report at once */
    Lane(long id, FeedSpec.Settings settings, Runnable urgent) {
        this.id = id;
        this.settings = settings;
        this.urgent = urgent;
        this.producer = new SharedProducer(settings.producer(), "headrace-lane-" + id);
        this.thread = new Thread(this, "lane-" + id);
        this.thread.setDaemon(true);
    }

    // for any thread

    /** Make what reads, which may wait for anything (a name, a token, a file of keys), and begin, unless that is done. */
    synchronized void open() {
        if (thread.getState() == Thread.State.NEW) {
            Map<String, Object> config = new HashMap<>(settings.consumer());
            config.putIfAbsent("client.id", "headrace-lane-" + id);
            reader = settings.files() ? new LinesReader(config) : new KafkaReader(config);
            thread.start();
        }
    }

    /** Have the lane's thread do something, soon. */
    void submit(Runnable command) {
        commands.add(command);
        if (polling && Thread.currentThread() != thread) {
            reader.wakeup();
        }
        synchronized (commands) {
            commands.notifyAll();
        }
    }

    void urgent() {
        urgent.run();
    }

    /** Records of a feed are acknowledged, or given up. */
    void landed(FeedPart part) {
        if (part.counters.isFlowPaused() && part.counters.inFlight.get() <= limit() / 2) {
            submit(() -> flowing(part));
        } else if (!part.isOpen() && part.counters.waiting.get() == 0) {
            urgent.run();
        }
    }

    private long limit() {
        return Math.max(LEAST_OF_FEED, Math.min(MOST_OF_FEED, MOST_IN_FLIGHT - inFlight.get()));
    }

    /** End: what is in flight may still be acknowledged for some seconds. Returns when nothing is written any more. */
    void stop() throws InterruptedException {
        stopping = true;
        submit(() -> { });
        thread.join(2 * DRAIN_MS);
        long end = System.currentTimeMillis() + DRAIN_MS;
        while (inFlight.get() > 0 && System.currentTimeMillis() < end) {
            synchronized (commands) {
                commands.wait(20);
            }
        }
        producer.end();
    }

    boolean hasEnded() {
        return thread.getState() == Thread.State.TERMINATED;
    }

    // for the lane's thread

    void add(FeedPart part) {
        for (Slot slot : part.slots) {
            if (slots.containsKey(slot.source)) {
                part.fail(new Report.Failure("error", null, slot.source.toString(), null, 0, IllegalStateException.class.getName(),
                    "the lane reads this partition for another feed", false));
                return;
            }
        }
        parts.add(part);
        if (part.usesLaneProducer()) {
            renew(part); // the one that it was prepared with may be closed
        }
        for (Slot slot : part.slots) {
            slots.put(slot.source, slot);
            added.add(slot);
        }
        moved = true;
    }

    /** Read no more of a feed. */
    void end(FeedPart part) {
        if (parts.remove(part)) {
            for (Slot slot : part.slots) {
                slots.remove(slot.source, slot);
                slot.paused |= Slot.ENDED;
                held.forget(slot);
            }
            part.counters.flowPaused(false);
            moved = true;
        }
        urgent.run();
    }

    /**
     * Write nothing more of a feed. Single records of a producer cannot be withdrawn, so it is closed, and what other feeds have in
     * flight then is read again: they have a while to be acknowledged before, as all are that can be written.
     */
    void withdraw(FeedPart part) {
        awaitOthers(part);
        producer.close();
        for (FeedPart other : new ArrayList<>(parts)) {
            if (other.usesLaneProducer()) {
                renew(other);
                rewind(other);
            }
        }
    }

    private void renew(FeedPart part) {
        try {
            part.producer = producer.get();
        } catch (RuntimeException e) {
            part.fail(Report.Failure.of(e));
        }
    }

    private void awaitOthers(FeedPart part) {
        QuietPeriod wait = new QuietPeriod(System.currentTimeMillis());
        while (wait.continues(inFlight.get() - part.counters.inFlight.get(), System.currentTimeMillis())) {
            synchronized (commands) {
                try {
                    commands.wait(10);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
    }

    /** What a feed has in flight is read again. */
    void rewind(FeedPart part) {
        for (Slot slot : part.slots) {
            long offset = slot.rewind();
            if (offset >= 0 && has(slot) && reader.isAssigned(slot.source)) {
                held.forget(slot);
                reader.seek(slot.source, offset);
            }
        }
        flowing(part);
    }

    boolean has(Slot slot) {
        return slots.get(slot.source) == slot;
    }

    void pause(Slot slot, int reason) {
        int before = slot.paused;
        slot.paused |= reason;
        if (before == 0 && has(slot) && reader.isAssigned(slot.source)) {
            reader.pause(slot.source);
        }
    }

    void resume(Slot slot, int reason) {
        int before = slot.paused;
        slot.paused &= ~reason;
        if (before != 0 && slot.paused == 0 && has(slot) && reader.isAssigned(slot.source)) {
            reader.resume(slot.source);
        }
    }

    /** A feed has enough in flight. */
    void flow(FeedPart part) {
        part.counters.flowPaused(true);
        part.slots.forEach(slot -> pause(slot, Slot.FLOW));
    }

    private void flowing(FeedPart part) {
        if (part.counters.isFlowPaused() && part.counters.inFlight.get() <= limit() / 2) {
            part.counters.flowPaused(false);
            part.slots.forEach(slot -> resume(slot, Slot.FLOW));
        }
    }

    @Override
    public void run() {
        try {
            while (!stopping) {
                execute();
                assign();
                if (slots.isEmpty()) {
                    rest();
                } else {
                    round();
                }
            }
        } catch (Broken e) {
            failAll(e.getCause());
        } catch (Throwable e) {
            org.slf4j.LoggerFactory.getLogger(Lane.class).error("Lane {} has ended", id, e);
            failAll(e);
        } finally {
            execute();
            if (!stopping) {
                failAll(new IllegalStateException("The lane has ended"));
            }
            urgent.run();
            reader.close();
        }
    }

    private void failAll(Throwable e) {
        if (stopping) {
            return; // the next attempt resumes where they are
        }
        for (FeedPart part : new ArrayList<>(parts)) {
            part.fail(Report.Failure.of(e));
        }
    }

    private void execute() {
        for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
            command.run();
        }
    }

    private void rest() throws InterruptedException {
        synchronized (commands) {
            if (commands.isEmpty() && !stopping) {
                commands.wait(IDLE_MS);
            }
        }
    }

    private void assign() {
        if (!moved) {
            return;
        }
        moved = false;
        reader.assign(new HashSet<>(slots.keySet()));
        for (Slot slot : added) {
            if (has(slot)) {
                reader.seek(slot.source, slot.partition.offset());
                if (slot.paused == 0) { // of a feed that has ended since the last assignment it may be paused
                    reader.resume(slot.source);
                } else {
                    reader.pause(slot.source);
                }
            }
        }
        added = new ArrayList<>();
    }

    private void round() {
        Map<FeedPart, Long> turns = new LinkedHashMap<>(); // until when each may have the thread: its chain may be slow
        held.due().forEach((slot, kept) -> take(slot, kept, turns));
        ConsumerRecords<byte[], byte[]> records = poll();
        nowMs = System.currentTimeMillis();
        for (TopicPartition partition : records.partitions()) {
            Slot slot = slots.get(partition);
            if (slot != null) {
                take(slot, records.records(partition), turns);
            }
        }
        for (FeedPart part : turns.keySet()) {
            part.flush();
            if (part.counters.inFlight.get() > limit()) {
                flow(part);
            }
        }
        for (FeedPart part : parts) {
            if (part.transaction != null) {
                part.transaction.round(!turns.containsKey(part), nowMs);
            }
        }
        if (nowMs - lookedMs >= IDLE_MS) {
            lookedMs = nowMs;
            checkFeeds();
        }
    }

    private ConsumerRecords<byte[], byte[]> poll() {
        boolean soon = inFlight.get() > 0 || parts.stream().anyMatch(part -> part.transaction != null && !part.transaction.isClosed());
        polling = true;
        try {
            return commands.isEmpty() ? reader.poll(soon ? SOON_MS : IDLE_MS) : ConsumerRecords.empty();
        } catch (RecordReader.Refused e) {
            failThose(e.partitions, e.getCause());
        } catch (RuntimeException e) {
            failAll(e);
        } finally {
            polling = false;
        }
        return ConsumerRecords.empty();
    }

    private void failThose(Collection<TopicPartition> partitions, Throwable e) {
        for (TopicPartition partition : new ArrayList<>(partitions)) {
            Slot slot = slots.get(partition);
            if (slot != null) {
                String place = settings.files() ? "file=" + partition.topic() : "topic=" + partition.topic() + ", partition=" + partition.partition();
                slot.part.fail(Report.Failure.of(e).at(place, null));
            }
        }
    }

    private void take(Slot slot, List<ConsumerRecord<byte[], byte[]>> records, Map<FeedPart, Long> turns) {
        FeedPart part = slot.part;
        long untilMs = turns.computeIfAbsent(part, any -> System.currentTimeMillis() + TURN_MS);
        long most = 2 * limit();
        for (int i = 0; i < records.size(); i++) {
            ConsumerRecord<byte[], byte[]> record = records.get(i);
            if (slot.paused == 0 && part.counters.inFlight.get() > most) {
                flow(part);
            }
            boolean isLate = i % 8 == 0 && System.currentTimeMillis() >= untilMs;
            if (slot.paused != 0 || isLate || !part.isOpen() || !part.take(slot, record)) {
                List<ConsumerRecord<byte[], byte[]>> rest = records.subList(i, records.size());
                if (has(slot) && (slot.paused == 0 || !held.hold(slot, rest))) {
                    reader.seek(slot.source, record.offset());
                }
                if ((slot.paused & Slot.SCHEMA) != 0) {
                    part.ask(slot, rest.subList(1, rest.size()));
                }
                return;
            }
        }
    }

    /** What needs a look from time to time: feeds whose memory is free again, and partitions that have gone past what has no records. */
    private void checkFeeds() {
        parts.forEach(this::flowing);
        for (Slot slot : slots.values()) {
            Transaction transaction = slot.part.transaction; // commits the offset in its next round
            if (slot.paused == 0 && (transaction == null || transaction.isClosed()) && slot.waiting() == 0) {
                try {
                    slot.idleAt(held.position(slot, reader));
                } catch (RuntimeException e) {
                    continue; // it is not known yet
                }
            }
        }
    }
}
