package io.headrace.lanes;

import java.io.Serializable;
import java.util.List;

/**
 * What a part of a feed has done since its last report; totals are since it was added.
 *
 * @param state RUNNING, FAILED or REMOVED; the last two once nothing of it is in flight, or nothing more can be
 * @param failure why it FAILED; else null
 * @param partitions those that have changed
 * @param counts see Counts
 * @param topics topics that it needs before it can continue: they are not known to exist, or to have as many partitions
 * @param needs what its chains do not know of schemas, in the words of those chains
 * @param failures of records that were passed over, as the chain or Refusals reports them (JSON); the first hundred
 * @param unnamed how many more were passed over
 * @param written topics that it has written to since its last report
 * @param transactions how many records each transaction had that was committed
 */
record Report(
    long feed, int part, String state, Failure failure, List<OfPartition> partitions, Counts counts, List<String> topics,
    List<String> needs, List<String> failures, int unnamed, List<String> written, List<Integer> transactions
) implements Serializable {
    /**
     * Of one partition.
     *
     * @param next everything before this offset is acknowledged (with exactly once: committed)
     * @param upstream the last record before that which was copied, -1: none
     * @param downstream its offset in the copy
     * @param unbroken the first record whose copies, up to upstream's, follow each other as the records do
     * @param age of records when they were read, since the last report: count, least, greatest, sum, last (ms)
     * @param latency from a record's timestamp to its acknowledgement, likewise
     */
    record OfPartition(
        String topic, int partition, long next, long records, long bytes, long upstream, long downstream, long unbroken, long[] age,
        long[] latency
    ) implements Serializable {
        /** With the totals of an attempt before (null: there is none). */
        OfPartition behind(OfPartition earlier) {
            return earlier == null ? this : new OfPartition(topic, partition, next, earlier.records + records, earlier.bytes + bytes,
                upstream, downstream, unbroken, age, latency);
        }

        /** Both, of which the other is the later one. */
        OfPartition then(OfPartition later) {
            return new OfPartition(topic, partition, later.next, later.records, later.bytes, later.upstream, later.downstream,
                later.unbroken, joined(age, later.age), joined(latency, later.latency));
        }

        private static long[] joined(long[] a, long[] b) {
            if (a[0] == 0 || b[0] == 0) {
                return a[0] == 0 ? b : a;
            }
            return new long[] {a[0] + b[0], Math.min(a[1], b[1]), Math.max(a[2], b[2]), a[3] + b[3], b[4]};
        }
    }

    /**
     * Totals and present values.
     *
     * @param read records taken
     * @param written records acknowledged in Kafka, without dead letters
     * @param failed records that failed in the chain, or were refused
     * @param letters dead letters acknowledged
     * @param dropped records that the chain has filtered out
     * @param inFlight bytes handed to the producer and not acknowledged
     * @param waitingMs since when the oldest of them waits, about; 0: none does
     * @param pausedMs how long flow control has paused it, in all
     * @param paused whether it does now
     * @param latency histogram (Histogram.BOUNDS)
     */
    record Counts(
        long read, long written, long failed, long letters, long dropped, long inFlight, long waitingMs, long pausedMs, boolean paused,
        long[] latency
    ) implements Serializable {
        /** Totals of both, present values of the other one, which counts from 0. */
        Counts then(Counts later) {
            long[] both = new long[latency.length];
            java.util.Arrays.setAll(both, i -> latency[i] + later.latency[i]);
            return new Counts(read + later.read, written + later.written, failed + later.failed, letters + later.letters,
                dropped + later.dropped, later.inFlight, later.waitingMs, pausedMs + later.pausedMs, later.paused, both);
        }
    }

    /**
     * Why a feed stopped.
     *
     * @param kind "record": of the chain, `report` is what the chain says of it (JSON); "large": a record is too large for its topic;
     *     "error": anything else, by its Java class
     * @param place topic, partition and offset of the record; null if there is none
     * @param target the topic that it was to be written to; null if not known
     * @param size of the record in bytes
     * @param unsent whether the feed stopped before it sent the record: what precedes that can be written as if nothing had happened
     */
    record Failure(
        String kind, String report, String place, String target, long size, String javaClass, String message, boolean unsent
    ) implements Serializable {
        static Failure of(Throwable e) {
            Throwable cause = e;
            while (cause.getCause() != null && cause.getClass() == org.apache.kafka.common.KafkaException.class) {
                cause = cause.getCause();
            }
            String message = cause instanceof StackOverflowError // a regular expression over a long text, for example
                ? "A transform or converter needs too deep a stack for this record" : String.valueOf(cause.getMessage());
            return new Failure("error", null, null, null, 0, cause.getClass().getName(), message, false);
        }

        Failure at(String newPlace, String newTarget) {
            return new Failure(kind, report, newPlace, newTarget, size, javaClass, message, unsent);
        }

        Failure tooLarge(int bytes) {
            return new Failure("large", report, place, target, bytes, javaClass, message, unsent);
        }

        Failure unsentAt(String newPlace) {
            return new Failure(kind, report, newPlace, target, size, javaClass, message, true);
        }
    }
}
