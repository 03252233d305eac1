package io.headrace.lanes;

import io.headrace.PluginAnswers;
import java.util.Arrays;
import java.util.TreeSet;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A source partition in its lane: which of its records are in flight, and before which offset all are acknowledged. The lane's thread
 * takes records, the producer's thread acknowledges them.
 */
final class Slot {
    /** Why a partition is paused; several may apply. */
    static final int FLOW = 1;
    static final int TOPIC = 2;
    static final int SCHEMA = 4;
    static final int ENDED = 8;
    static final int COMMIT = 16;

    final FeedPart part;
    final Partition partition;
    final TopicPartition source;
    final UTF8String destination; // the name of the copy, before the chain
    final PluginAnswers answers = new PluginAnswers(); // the lane's thread alone
    int paused; // the lane's thread alone
    String awaited; // the last topic that it has waited for; the lane's thread alone
    private String target; // the topic of the record before; the lane's thread alone
    private byte[] targetText = new byte[0]; // in UTF-8
    private long[] ends = new long[64]; // after each record in flight: a ring, from head (the oldest) to tail
    private long[] copies = new long[64]; // offset of the copy; IN_FLIGHT until it is acknowledged, else NONE or PASSED
    private long head;
    private long tail;
    private long next; // everything before this is acknowledged
    private long committed; // with exactly once: everything before this is in a committed transaction
    private long taken; // the offset after the last record taken
    private long upstream = -1; // the last record before `next` that was copied, and its offset in the copy
    private long downstream = -1;
    private long unbroken; // the first record whose copies, up to that one, follow each other as the records do
    private long records;
    private long bytes;
    private Ages age = new Ages(); // when read
    private Ages latency = new Ages(); // when acknowledged
    private boolean changed = true;
    private final TreeSet<Long> refused = new TreeSet<>(); // offsets, from `next` on
    private static final long IN_FLIGHT = -3;
    private static final long NONE = -1; // no copy: dropped, or a dead letter
    private static final int LEAST = 64;

    Slot(FeedPart part, Partition partition) {
        this.part = part;
        this.partition = partition;
        this.source = partition.source();
        this.destination = UTF8String.fromString(partition.destination());
        this.next = partition.offset();
        this.committed = partition.offset();
        this.taken = partition.offset();
    }

    /** A record is taken, with the offset after it; returns its number, by which it is acknowledged. */
    synchronized long take(long end) {
        if (tail - head == ends.length) {
            resize(2 * ends.length);
        }
        int at = (int) (tail & ends.length - 1);
        ends[at] = end;
        copies[at] = IN_FLIGHT;
        taken = end;
        return tail++;
    }

    /** The record taken last was not sent after all. */
    synchronized void untake(long before) {
        tail--;
        taken = before;
    }

    /** What is in flight is to be read again; returns the offset of the first such record, -1 if nothing is in flight. */
    synchronized long rewind() {
        if (head == tail) {
            return -1;
        }
        head = tail;
        taken = next;
        return next;
    }

    /** The counts of a record, once it stays taken. */
    synchronized void count(int size, long ageMs) {
        records++;
        bytes += size;
        age.add(ageMs);
        changed = true;
    }

    /** A record needs no acknowledgement: it was dropped. */
    synchronized void pass(long number) {
        copies[(int) (number & ends.length - 1)] = NONE;
        advance();
    }

    /** A record is in Kafka, at this offset; letter: as a dead letter. */
    synchronized void acknowledge(long number, long copy, boolean letter, long latencyMs) {
        if (number < head) { // it is read again
            return;
        }
        copies[(int) (number & ends.length - 1)] = letter ? NONE : copy;
        latency.add(latencyMs);
        advance();
    }

    /** A record is refused for good: it is passed over, also if it is read again. Returns whether that is new. number -1: not taken. */
    synchronized boolean refuse(long number, long offset) {
        refused.headSet(next).clear();
        boolean isNew = refused.add(offset);
        if (number >= head) {
            pass(number);
        }
        return isNew;
    }

    synchronized boolean isRefused(long offset) {
        return !refused.isEmpty() && refused.contains(offset);
    }

    /** Whether the record with this number is in flight, and not to be read again. */
    synchronized boolean awaits(long number) {
        return number >= head;
    }

    /** Its records wait until this topic is known. For the lane's thread. */
    void await(String topic) {
        awaited = topic;
        part.needs(topic);
        part.lane.pause(this, TOPIC);
    }

    /** The topic of a record, which is mostly that of the record before. For the lane's thread. */
    String topic(UTF8String text) {
        if (text.numBytes() != targetText.length || !text.equals(UTF8String.fromBytes(targetText))) {
            target = text.toString();
            targetText = text.getBytes();
        }
        return target;
    }

    private void advance() {
        int mask = ends.length - 1;
        while (head < tail && copies[(int) (head & mask)] != IN_FLIGHT) {
            int at = (int) (head & mask);
            next = ends[at];
            if (copies[at] != NONE) {
                if (next != upstream + 2 || copies[at] != downstream + 1) {
                    unbroken = next - 1;
                }
                upstream = next - 1;
                downstream = copies[at];
            }
            head++;
        }
        changed = true;
        if (head == tail && ends.length > 16 * LEAST) { // after a burst
            ends = new long[LEAST];
            copies = new long[LEAST];
        }
    }

    private void resize(int length) {
        long[] wider = new long[length];
        long[] marks = new long[length];
        for (long i = head; i < tail; i++) {
            wider[(int) (i & length - 1)] = ends[(int) (i & ends.length - 1)];
            marks[(int) (i & length - 1)] = copies[(int) (i & ends.length - 1)];
        }
        ends = wider;
        copies = marks;
    }

    /** Nothing is in flight, and the consumer has gone past what holds no records (the ends of transactions). */
    synchronized void idleAt(long position) {
        if (head == tail && position > next && taken <= position) {
            next = position;
            taken = position;
            changed = true;
        }
    }

    /** With exactly once: everything before this offset has been committed. */
    synchronized void commit(long offset) {
        committed = offset;
        changed = true;
    }

    synchronized long taken() {
        return taken;
    }

    synchronized long committed() {
        return committed;
    }

    synchronized long waiting() {
        return tail - head;
    }

    /** What has changed since this was called last; null if nothing has. */
    synchronized Report.OfPartition report(boolean exactly) {
        if (!changed) {
            return null;
        }
        changed = false;
        long stored = exactly ? Math.min(committed, next) : next;
        Report.OfPartition report = new Report.OfPartition(source.topic(), source.partition(), stored, records, bytes, upstream, downstream,
            unbroken, age.toArray(), latency.toArray());
        age = new Ages();
        latency = new Ages();
        return report;
    }

    @Override
    public String toString() {
        return source + " " + Arrays.asList(head, tail, next);
    }

    /** Count, least, greatest, sum and last of some durations, in ms. */
    private static final class Ages {
        private long count;
        private long least = Long.MAX_VALUE;
        private long most;
        private long sum;
        private long last;

        void add(long ms) {
            count++;
            least = Math.min(least, ms);
            most = Math.max(most, ms);
            sum += ms;
            last = ms;
        }

        long[] toArray() {
            return new long[] {count, count == 0 ? 0 : least, most, sum, last};
        }
    }
}
