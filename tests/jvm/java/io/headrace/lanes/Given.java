package io.headrace.lanes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/** Feeds for cases: of one partition; the lane does not run unless the case makes it. */
final class Given {
    static final String TOPIC = "t";
    static final FeedSpec.Settings FILES = new FeedSpec.Settings(Map.of("batch.size", "10"), Map.of(), true);

    private Given() {
    }

    /** What a chain makes of the records of a case. */
    interface Step {
        InternalRow of(InternalRow row) throws Exception;
    }

    static Chain chain(Step step) {
        return new Chain() {
            @Override
            InternalRow row(InternalRow row) throws Exception {
                return step.of(row);
            }
        };
    }

    /** A row that comes out of a chain, with one text in it. */
    static InternalRow row(int column, String text) {
        Object[] values = new Object[Chain.NEED + 1];
        values[Chain.TOPIC] = UTF8String.fromString(TOPIC);
        values[column] = UTF8String.fromString(text);
        return new GenericInternalRow(values);
    }

    /** A row that comes out of a chain: a record with this value. */
    static InternalRow copy(byte[] value) {
        Object[] values = new Object[Chain.NEED + 1];
        values[Chain.TOPIC] = UTF8String.fromString(TOPIC);
        values[Chain.VALUE] = value;
        return new GenericInternalRow(values);
    }

    /** A feed that writes lines to the standard output. @param letterProducer null: dead letters have no producer */
    static FeedPart part(Chain chain, Map<String, String> letterProducer) throws IOException {
        return part(chain, letterProducer, false);
    }

    /** Such a feed. @param tolerates whether a record that fails is passed over */
    static FeedPart part(Chain chain, Map<String, String> letterProducer, boolean tolerates) throws IOException {
        return new FeedPart(spec(TOPIC, letterProducer, tolerates), chain, new Lane(0, FILES, () -> { }), null, null);
    }

    /** A feed that reads the lines of a file. */
    static FeedPart part(Lane lane, String file, Chain chain) throws IOException {
        return new FeedPart(spec(file, null, false), chain, lane, null, null);
    }

    private static FeedSpec spec(String source, Map<String, String> letterProducer, boolean tolerates) {
        Partition partition = new Partition(source, 0, 0, TOPIC, new Partition.OffsetRecord[0]);
        return new FeedSpec(1, 0, "c-0", FILES, List.of(partition), null, Map.of(), tolerates, letterProducer != null, false, "",
            letterProducer, null, 0);
    }

    static Slot slot(Chain chain) throws IOException {
        return part(chain, null).slots.get(0);
    }

    static ConsumerRecord<byte[], byte[]> record(long offset) {
        return record(offset, 0);
    }

    /** A record with a value of so many bytes. */
    static ConsumerRecord<byte[], byte[]> record(long offset, int size) {
        return new ConsumerRecord<>(TOPIC, 0, offset, 0, TimestampType.CREATE_TIME, ConsumerRecord.NULL_SIZE, size, null, new byte[size],
            new RecordHeaders(), Optional.empty());
    }

    static void overwrite(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
