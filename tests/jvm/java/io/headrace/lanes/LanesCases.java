package io.headrace.lanes;

import static io.headrace.Cases.equal;

import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/** What becomes of the feeds of a lane, moment by moment. */
final class LanesCases {
    private static final int OFFSET = 4; // among a chain's input

    private LanesCases() {
    }

    static void aLookAheadEndsAtARecordThatOverflowsTheStack() throws Exception {
        List<Long> seen = new ArrayList<>();
        Chain chain = Given.chain(row -> {
            seen.add(row.getLong(OFFSET));
            return row.getLong(OFFSET) == 2 ? overflow(row) : Given.row(Chain.NEED, "{\"value\":\"new\"}");
        });
        ReportBuffer unreported = new ReportBuffer();
        List<ConsumerRecord<byte[], byte[]>> behind = List.of(Given.record(1), Given.record(2), Given.record(3));
        new Chains(chain).ask(behind, Given.slot(chain), unreported);
        equal(seen, List.of(1L, 2L));
        equal(unreported.schemas("{\"value\":\"new\"}"), 1); // the record before it is asked for
    }

    static void aLookAheadEndsAtARecordWhoseClassCannotBeLoaded() throws Exception {
        Chain chain = Given.chain(row -> {
            throw new NoClassDefFoundError("com/example/Missing");
        });
        new Chains(chain).ask(List.of(Given.record(1)), Given.slot(chain), new ReportBuffer());
    }

    static void anErrorOfARecordFailsItsFeedAlone() throws Exception {
        Chain chain = Given.chain(row -> {
            throw new AssertionError("no luck");
        });
        FeedPart part = Given.part(chain, null);
        equal(part.take(part.slots.get(0), Given.record(0)), false);
        equal(part.isOpen(), false);
        new Chains(chain).ask(List.of(Given.record(0)), part.slots.get(0), new ReportBuffer());
    }

    static void aTimestampThatSparkDoesNotHaveIsAnErrorOfItsRecord() throws Exception {
        byte[] none = new byte[0];
        ConsumerRecord<byte[], byte[]> late = new ConsumerRecord<>(Given.TOPIC, 0, 0, 1_700_000_000_000_000_000L, TimestampType.CREATE_TIME,
            0, 0, none, none, new RecordHeaders(), Optional.empty());
        try {
            Given.chain(row -> row).apply(late, UTF8String.EMPTY_UTF8);
            throw new AssertionError("another timestamp");
        } catch (ArithmeticException e) {
            equal(e.getMessage().startsWith("The timestamp 1700000000000000000 ms is later than "), true);
        }
    }

    static void aFeedWithOneProducerIsInOneLaneThoughAnotherReadsSomeOfItsPartitions() {
        Placement placement = new Placement(1);
        Partition[] both = {new Partition(Given.TOPIC, 0, 0, "", null), new Partition(Given.TOPIC, 1, 0, "", null)};
        placement.place(1, Given.FILES, List.of(both[0]), 1);
        equal(placement.place(2, Given.FILES, List.of(both), 1).size(), 1);
    }

    static void linesOfAFileAreThereThoughTheNextFileCannotBeRead() throws Exception {
        Path directory = Files.createTempDirectory("lines");
        TopicPartition file = new TopicPartition(Files.writeString(directory.resolve("in.txt"), "one\ntwo\n").toString(), 0);
        TopicPartition unreadable = new TopicPartition(directory.toString(), 0);
        LinesReader reader = new LinesReader(Map.of("batch.size", "10"));
        reader.assign(List.of(file, unreadable));
        equal(reader.poll(0).count(), 2);
        equal(reader.position(file), 8L);
        try {
            reader.poll(0);
            throw new AssertionError("a directory has been read");
        } catch (RecordReader.Refused e) {
            equal(e.partitions, List.of(unreadable));
        }
    }

    static void aFeedIsReadThoughTheOneBeforeItEndedWhileItsPartitionWasPaused() throws Exception {
        Path file = Files.writeString(Files.createTempDirectory("lines").resolve("in.txt"), "one\n");
        BlockingQueue<String> read = new LinkedBlockingQueue<>();
        Lane lane = new Lane(1, Given.FILES, () -> { });
        FeedPart waiting = Given.part(lane, file.toString(), Given.chain(row -> {
            read.add("wait");
            return Given.row(Chain.NEED, "{}");
        }));
        FeedPart next = Given.part(lane, file.toString(), Given.chain(row -> {
            read.add("read");
            return null;
        }));
        lane.open();
        lane.submit(() -> lane.add(waiting));
        equal(read.poll(60, TimeUnit.SECONDS), "wait");
        lane.submit(() -> { // one right after the other, as when the lane's thread was busy for a while
            waiting.remove();
            lane.add(next);
        });
        equal(read.poll(60, TimeUnit.SECONDS), "read");
        lane.stop();
    }

    static void recordsThatWaitAreNotReadAgain() throws Exception {
        Path file = Files.writeString(Files.createTempDirectory("lines").resolve("in.txt"), "one\ntwo\n");
        BlockingQueue<String> read = new LinkedBlockingQueue<>();
        Lane lane = new Lane(1, new FeedSpec.Settings(Map.of("batch.size", "10"), Map.of(), true), () -> { });
        FeedPart part = Given.part(lane, file.toString(), Given.chain(row -> {
            read.add("wait");
            return Given.row(Chain.NEED, "{}");
        }));
        lane.open();
        lane.submit(() -> lane.add(part));
        equal(List.of(read.poll(60, TimeUnit.SECONDS), read.poll(60, TimeUnit.SECONDS)), List.of("wait", "wait")); // and what is behind
        lane.submit(() -> { // after the round in which it was held
            Given.overwrite(file, "1..\n2..\nthree\n");
            part.replaces(Given.chain(row -> {
                read.add(row.getLong(OFFSET) + " " + new String(row.getBinary(1)));
                return null;
            }), List.of());
        });
        equal(List.of(read.poll(60, TimeUnit.SECONDS), read.poll(60, TimeUnit.SECONDS), read.poll(60, TimeUnit.SECONDS)),
            List.of("0 one", "4 two", "8 three"));
        lane.stop();
    }

    static void onlySmallRecordsAreHeld() throws Exception {
        HeldRecords held = new HeldRecords();
        Slot slot = Given.slot(Given.chain(row -> row));
        slot.paused = Slot.TOPIC;
        equal(held.hold(slot, List.of(Given.record(3, 60_000), Given.record(4, 10_000))), false);
        equal(held.hold(slot, List.of(Given.record(3, 30_000), Given.record(4, 30_000))), true);
        equal(held.due().size(), 0);
        equal(held.position(slot, null), 3L);
        slot.paused = 0;
        equal(held.due().get(slot).size(), 2);
        equal(held.due().size(), 0);
        List<Slot> slots = new ArrayList<>();
        while (slots.size() < 1000) { // of all partitions together
            slots.add(Given.slot(Given.chain(row -> row)));
            if (!held.hold(slots.get(slots.size() - 1), List.of(Given.record(0, 65_000)))) {
                break;
            }
        }
        equal(slots.size(), 65);
        held.forget(slots.get(0));
        equal(held.hold(slots.get(64), List.of(Given.record(0, 65_000))), true);
    }

    static void aChainThatIsSlowHasTheLaneForATurnOnly() throws Exception {
        Path directory = Files.createTempDirectory("lines");
        Path slow = Files.writeString(directory.resolve("slow.txt"), "line\n".repeat(100));
        Path other = directory.resolve("other.txt");
        BlockingQueue<String> read = new LinkedBlockingQueue<>();
        Lane lane = new Lane(1, new FeedSpec.Settings(Map.of("batch.size", "100"), Map.of(), true), () -> { });
        FeedPart busy = Given.part(lane, slow.toString(), Given.chain(row -> {
            if (row.getLong(OFFSET) == 0) {
                Files.writeString(other, "line\n");
            }
            long endMs = System.currentTimeMillis() + 80;
            while (System.currentTimeMillis() < endMs) {
                Thread.onSpinWait();
            }
            read.add("slow");
            return null;
        }));
        FeedPart next = Given.part(lane, other.toString(), Given.chain(row -> {
            read.add("other");
            return null;
        }));
        lane.open();
        lane.submit(() -> {
            lane.add(busy);
            lane.add(next);
        });
        int before = 0;
        while ("slow".equals(read.poll(60, TimeUnit.SECONDS))) {
            before++;
        }
        lane.stop();
        equal(before < 50, true); // of a hundred that one poll gave
    }

    static void aRecordGoesThroughTheChainThatKnowsItsSchemaFromAnotherTopic() throws Exception {
        String schema = "{\"value\":\"{\\\"topic\\\":7}\"";
        Chain knows = Given.chain(row -> Given.row(Chain.VALUE, "read"));
        Chain other = Given.chain(row -> Given.row(Chain.NEED, schema + ",\"topic\":\"b\"}"));
        Slot slot = Given.slot(other);
        Chains chains = new Chains(other);
        chains.put(knows, List.of(schema + ",\"topic\":\"a\"}"));
        chains.put(other, List.of("{\"value\":\"8\"}"));
        ReportBuffer unreported = new ReportBuffer();
        chains.ask(List.of(Given.record(0)), slot, unreported);
        equal(unreported.isEmpty(), true);
        equal(Chains.need(chains.apply(Given.record(0), slot)), null);
    }

    private static InternalRow overflow(InternalRow row) {
        return overflow(row).copy();
    }

    static void theLastReportHasTheOffsetOfTheLastRecord() throws Exception {
        List<String> reports = new ArrayList<>();
        List<FeedPart> removed = new ArrayList<>();
        Lane lane = new Lane(0, Given.FILES, () -> removed.forEach(part -> reports.add(text(part.report()))));
        FeedPart part = Given.part(lane, Given.TOPIC, null);
        Slot slot = part.slots.get(0);
        Sent sent = new Sent(part, slot, slot.take(1), 10, 0, 0, Given.TOPIC, false, null);
        part.counters.sent(10);
        part.remove();
        removed.add(part);
        sent.onCompletion(new RecordMetadata(new TopicPartition(Given.TOPIC, 0), 0, 0, 0, 0, 0), null);
        equal(reports, List.of("RUNNING [1]", "REMOVED []")); // one while its acknowledgement was under way
    }

    static void aRecordInFlightDoesNotHoldWhatItWasMadeOf() throws Exception {
        FeedPart part = Given.part(Given.chain(row -> Given.copy(new byte[1])), null);
        List<WeakReference<byte[]>> values = new ArrayList<>();
        for (long offset = 0; offset < 3; offset++) {
            byte[] value = new byte[1 << 20];
            values.add(new WeakReference<>(value));
            equal(part.take(part.slots.get(0), new ConsumerRecord<>(Given.TOPIC, 0, offset, null, value)), true);
        }
        long endMs = System.currentTimeMillis() + 30_000;
        while (values.get(0).get() != null && System.currentTimeMillis() < endMs) {
            System.gc();
        }
        equal(values.get(0).get() == null, true);
        equal(part.counters.waiting.get(), 3);
    }

    static void aReportFollowsThatSaysThatNothingIsInFlightOrPausedAnyMore() throws Exception {
        FeedPart part = Given.part(null, null);
        Slot slot = part.slots.get(0);
        part.counters.sent(10);
        part.counters.flowPaused(true);
        slot.acknowledge(slot.take(1), 0, false, 0);
        List<String> reports = new ArrayList<>(List.of(counts(part.report()))); // the acknowledgement is under way
        part.landed(10);
        reports.add(counts(part.report())); // the lane has not resumed it yet
        part.counters.flowPaused(false);
        reports.add(counts(part.report()));
        reports.add(counts(part.report()));
        equal(reports, List.of("10 true", "0 true", "0 false", "none"));
    }

    private static String counts(Report report) {
        return report == null ? "none" : report.counts().inFlight() + " " + report.counts().paused();
    }

    private static String text(Report report) {
        return report == null ? "none" : report.state() + " " + report.partitions().stream().map(Report.OfPartition::next).toList();
    }

    static void aReportSaysFromWhereOnTheCopiesFollowEachOther() throws Exception {
        Slot slot = Given.slot(null);
        List<Long> unbroken = new ArrayList<>();
        long[][] copied = {{10, 100}, {11, 101}, {12, -1}, {13, 102}, {14, 103}, {15, 105}, {16, 106}}; // -1: dropped
        for (long[] record : copied) {
            slot.acknowledge(slot.take(record[0] + 1), record[1], record[1] < 0, 0);
            unbroken.add(slot.report(false).unbroken());
        }
        equal(unbroken, List.of(10L, 10L, 10L, 13L, 13L, 15L, 15L));
    }

    static void otherFeedsAreWaitedForWhileTheirRecordsAreAcknowledged() {
        QuietPeriod nothingComes = new QuietPeriod(0);
        equal(nothingComes.continues(100, 0), true);
        equal(nothingComes.continues(100, 499), true);
        equal(nothingComes.continues(100, 500), false);
        QuietPeriod slow = new QuietPeriod(0);
        for (int ms = 0; ms < 1500; ms += 300) {
            equal(slow.continues(2000 - ms, ms), true);
        }
        equal(slow.continues(500, 1500), false); // the task waits no longer
        equal(new QuietPeriod(0).continues(0, 0), false);
    }

    static void aFeedIsClosedWithoutItsLockForWhichCallbacksMayWait() throws Exception {
        Map<String, String> unreachable = Map.of("bootstrap.servers", "localhost:1", "max.block.ms", "0", "interceptor.classes",
            Closing.class.getName());
        FeedPart part = Given.part(Given.chain(row -> Given.row(Chain.FAILURE, "{}")), unreachable);
        equal(part.take(part.slots.get(0), Given.record(0)), false); // its dead letter is tried
        Closing.part = part;
        equal(part.report().state(), "FAILED");
        equal(Closing.closed, List.of("without lock"));
    }

    static void aRecordIsNotTakenIfItsProducerThrowsAnError() throws Exception {
        Map<String, String> throwing = Map.of("bootstrap.servers", "localhost:1", "interceptor.classes", Throwing.class.getName());
        FeedPart part = Given.part(Given.chain(row -> Given.row(Chain.FAILURE, "{}")), throwing, true);
        equal(part.take(part.slots.get(0), Given.record(0)), false);
        equal(List.of(part.isOpen(), part.slots.get(0).taken(), part.counters.waiting.get()), List.of(false, 0L, 0));
        part.close();
    }

    static void aReportNamesTheFirstHundredFailuresAndCountsTheOthers() throws Exception {
        FeedSpec spec = Given.part(Given.chain(row -> row), null).spec;
        ReportBuffer unreported = new ReportBuffer();
        for (int i = 0; i < 103; i++) {
            unreported.failed("record " + i);
        }
        Report first = unreported.report(spec, "RUNNING", null, List.of(), null);
        equal(List.of(first.failures().size(), first.failures().get(99), first.unnamed()), List.of(100, "record 99", 3));
        unreported.failed("a later one");
        Report second = unreported.report(spec, "RUNNING", null, List.of(), null);
        equal(List.of(second.failures(), second.unnamed()), List.of(List.of("a later one"), 0));
    }

    /** Sees how the producer of dead letters is closed. */
    public static final class Closing extends Interceptor {
        static volatile FeedPart part;
        static final List<String> closed = new ArrayList<>();

        @Override
        public void close() {
            closed.add(Thread.holdsLock(part) ? "with lock" : "without lock");
        }
    }

    /** Lets no record pass. */
    public static final class Throwing extends Interceptor {
        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            throw new AssertionError("no luck");
        }
    }

    /** Of a producer; does nothing. */
    private abstract static class Interceptor implements ProducerInterceptor<byte[], byte[]> {
        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            return record;
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception exception) {
        }

        @Override
        public void close() {
        }

        @Override
        public void configure(Map<String, ?> configs) {
        }
    }
}
