package io.headrace.streams;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.XXH64;

/** What a batch has made so far. Its records are sent at once, if there is a writer; everything else waits for its end. */
final class BatchResult {
    static final int OVERHEAD_BYTES = 256; // of a record alone in its batch
    final Map<String, List<InternalRow>> kept = new ConcurrentHashMap<>(); // rows that several operators read
    final Map<String, List<byte[][]>> changes = new HashMap<>(); // by store
    final Map<String, Map<Integer, Long>> ticks = new TreeMap<>(); // stream times by node and partition
    final Map<String, Map<Integer, Long>> dues = new TreeMap<>(); // by node and partition, of each schedule of a processor
    final List<Object[]> held = new ArrayList<>();
    final List<String> skipped = new ArrayList<>(); // the first of them
    long skips;
    private final Set<Long> leftOut = new HashSet<>(); // hashes of what `leave` has counted
    private final RecordWriter writer;
    private final byte[] number;

    /** writer: null: records are held; number: of the batch, for changelogs, null: a transaction needs none. */
    BatchResult(RecordWriter writer, byte[] number) {
        this.writer = writer;
        this.number = number;
    }

    /**
     * Fail if a record that is held is larger than a producer sends, or one of a changelog than its topic takes.
     *
     * @param producers Java settings of the producer
     * @param limits of topics, where nothing is in a transaction: once results are acknowledged, a row that is refused leaves a trace
     */
    void checkSizes(Map<String, Object> producers, Map<String, Integer> limits) {
        int most = Integer.parseInt(producers.getOrDefault(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, 1 << 20).toString());
        for (Object[] one : held) {
            if (size(one) + OVERHEAD_BYTES > most) {
                throw tooLarge(one, most, ProducerConfig.MAX_REQUEST_SIZE_CONFIG);
            }
            Integer limit = (boolean) one[6] ? limits.get((String) one[0]) : null;
            if (limit != null && size(one) + size(one) / 64 + OVERHEAD_BYTES > limit && BatchSize.alone(one, producers) > limit) {
                throw tooLarge(one, limit, TopicConfig.MAX_MESSAGE_BYTES_CONFIG);
            }
        }
    }

    private static RecordTooLargeException tooLarge(Object[] record, int most, String setting) {
        return new RecordTooLargeException("A record for " + record[0] + " has " + size(record) + " bytes, which is more than the "
            + most + " of " + setting + ".");
    }

    /** Bytes of a record's key, value and headers. */
    static int size(Object[] record) {
        int size = size((byte[]) record[2]) + size((byte[]) record[3]);
        for (Object header : (List<?>) record[4]) {
            size += size(((byte[][]) header)[0]) + size(((byte[][]) header)[1]);
        }
        return size;
    }

    private static int size(byte[] bytes) {
        return bytes == null ? 0 : bytes.length;
    }

    /** Stream times that the batch has come to: lines of node, partition, time. */
    String tickLines() {
        List<String> found = new ArrayList<>();
        ticks.forEach((node, times) -> times.forEach((partition, time) -> found.add(node + "\t" + partition + "\t" + time)));
        return String.join("\n", found);
    }

    /** What it holds for changelogs. */
    List<Object[]> changelogs() {
        return held.stream().filter(one -> (boolean) one[6]).toList();
    }

    /** What it holds for all other topics. */
    List<Object[]> results() {
        return held.stream().filter(one -> !(boolean) one[6]).toList();
    }

    /** Send records that another one held. */
    void send(List<Object[]> records) {
        records.forEach(this::put);
    }

    /** Take what another one has computed, once its records are sent. */
    void take(BatchResult other) {
        changes.putAll(other.changes);
        ticks.putAll(other.ticks);
        dues.putAll(other.dues);
        kept.putAll(other.kept);
        skipped.addAll(other.skipped);
        skips += other.skips;
    }

    /** Take a row. */
    void take(BatchProgram.Output output, InternalRow row) {
        switch (output.kind()) {
            case "sink" -> put(new Object[] {
                row.getUTF8String(0).toString(), row.isNullAt(1) ? null : row.getInt(1), TaskRuntime.bytes(row, 2),
                TaskRuntime.bytes(row, 3), RecordWriter.headers(row, 4), row.getLong(5), false,
            });
            case "store", "version" -> change(output, row);
            case "tick" -> {
                synchronized (this) {
                    ticks.computeIfAbsent(output.name(), name -> new TreeMap<>()).merge(row.getInt(0), row.getLong(1), Math::max);
                }
            }
            case "due" -> {
                synchronized (this) {
                    Map<Integer, Long> found = dues.computeIfAbsent(output.name() + "/" + row.getInt(0), key -> new TreeMap<>());
                    found.put(row.getInt(1), row.getLong(2));
                }
            }
            case "left out" -> leave(output, row);
            case "skip" -> skip(output.name() + "\t" + row.getUTF8String(0) + "\t" + row.getInt(1) + "\t" + row.getLong(2));
            default -> { }
        }
    }

    private void change(BatchProgram.Output output, InternalRow row) {
        byte[] key = TaskRuntime.bytes(row, 1);
        byte[] value = TaskRuntime.bytes(row, 2);
        byte[][] pair = {StateFunctions.key(row.getInt(0), key), value == null ? null : StateFunctions.stored(row.getLong(3), value)};
        synchronized (this) {
            changes.computeIfAbsent(output.name(), name -> new ArrayList<>()).add(pair);
        }
        if (output.topic() != null) {
            if (output.kind().equals("version")) { // the topic has the time as its records', and of a deletion no value
                key = Arrays.copyOf(key, key.length - 8);
                value = value[0] == 0 ? null : Arrays.copyOfRange(value, 1, value.length);
            }
            put(new Object[] {
                output.topic(), row.getInt(0), key, value, RecordWriter.changelogHeaders(TaskRuntime.bytes(row, 4), number), row.getLong(3),
                true,
            });
        }
    }

    private void put(Object[] record) {
        if (writer != null) {
            writer.send(record);
            return;
        }
        synchronized (this) {
            held.add(record);
        }
    }

    /** Count what an operator leaves out. Spark computes it as often as something follows from the same rows. */
    private synchronized void leave(BatchProgram.Output output, InternalRow row) {
        long hash = XXH64.hashLong(row.getInt(1), row.getUTF8String(0).hashCode());
        for (long number : row.getArray(3).toLongArray()) {
            hash = XXH64.hashLong(number, hash);
        }
        if (leftOut.add(hash)) {
            skip(output.name() + "\t" + row.getUTF8String(0) + "\t" + row.getInt(1) + "\t" + row.getLong(2));
        }
    }

    private synchronized void skip(String place) {
        skips++;
        if (skipped.size() < 100) {
            skipped.add(place);
        }
    }

    /** Wait until all that was sent is acknowledged; returns by partition the offset after the last record. */
    Map<TopicPartition, Long> acknowledged() {
        return writer == null ? Map.of() : writer.flush();
    }
}
