package io.headrace.streams;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntUnaryOperator;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;

/** What the inputs of a sub-topology have in a batch: ranges of offsets of the topics that they follow, or records that were given. */
final class BatchInputs {
    private final Map<String, Object> settings;
    private final IntUnaryOperator pieceOf;
    private final Object arrivals = new Object();
    private final Map<String, RangeReader> readers = new ConcurrentHashMap<>(); // by input and piece
    private final Map<String, KeptRows> kept = new ConcurrentHashMap<>(); // the same
    private boolean keeps;
    private final Map<String, List<InternalRow>> given = new HashMap<>();
    private volatile Map<String, Map<TopicPartition, long[]>> ranges = Map.of();

    /** settings: Java settings of consumers; pieceOf: the piece that has a partition. */
    BatchInputs(Map<String, Object> settings, IntUnaryOperator pieceOf) {
        this.settings = new HashMap<>(settings);
        this.pieceOf = pieceOf;
    }

    /** Follow topics from some offsets on: of each input, topic, partition, offset. */
    synchronized void follow(String starts) {
        close();
        Map<String, Map<TopicPartition, Long>> found = new HashMap<>();
        for (String[] one : lines(starts)) {
            TopicPartition partition = partition(one, 1);
            found.computeIfAbsent(one[0] + "/" + pieceOf.applyAsInt(partition.partition()), key -> new HashMap<>())
                .put(partition, Long.valueOf(one[3]));
        }
        found.forEach((name, offsets) -> readers.put(name, reader(offsets)));
    }

    /** Where the topics end that are followed: topic, partition, offset; null if they are not followed any more. */
    synchronized String ends() {
        List<String> found = new ArrayList<>();
        try {
            for (RangeReader reader : readers.values()) {
                reader.ends().forEach((one, end) -> found.add(one.topic() + "\t" + one.partition() + "\t" + end));
            }
        } catch (RuntimeException e) { // what is wrong is found by asking brokers, or by the next batch
            close();
        }
        return readers.isEmpty() ? null : String.join("\n", found);
    }

    /** Wait until there is something to read; false: there is not. */
    boolean await(long patienceMs) throws InterruptedException {
        long until = System.currentTimeMillis() + patienceMs;
        synchronized (arrivals) {
            while (readers.values().stream().noneMatch(RangeReader::hasMore)) {
                long left = until - System.currentTimeMillis();
                if (left <= 0L) {
                    return false;
                }
                arrivals.wait(left);
            }
        }
        return true;
    }

    /** Begin a batch of ranges: of each input, topic, partition, first offset, the one after the last. */
    void begin(String offsets) {
        Map<String, Map<TopicPartition, long[]>> found = new HashMap<>();
        for (String[] one : lines(offsets)) {
            found.computeIfAbsent(one[0], name -> new LinkedHashMap<>())
                .put(partition(one, 1), new long[] {Long.parseLong(one[3]), Long.parseLong(one[4])});
        }
        ranges = found;
    }

    /** The records that an input has in the next batch, instead of ranges. */
    void give(String input, List<InternalRow> records) {
        given.put(input, records);
    }

    /** Keep what a batch has read, so that parts of it can be done without reading it again. */
    void keep() {
        keeps = true;
    }

    /** How many records the batch has, at most. */
    long size() {
        long found = given.values().stream().mapToLong(List::size).sum();
        for (Map<TopicPartition, long[]> one : ranges.values()) {
            found += one.values().stream().mapToLong(range -> range[1] - range[0]).sum();
        }
        return found;
    }

    /** The batch is over. */
    void end() {
        given.clear();
    }

    /** The records of an input in the batch that runs now. */
    Iterator<InternalRow> rows(String name, int piece, TaskContext context) {
        List<InternalRow> records = given.get(name);
        if (records != null) {
            return records.stream().filter(row -> pieceOf.applyAsInt(row.getInt(1)) == piece).iterator();
        }
        Map<TopicPartition, long[]> mine = new LinkedHashMap<>();
        ranges.getOrDefault(name, Map.of()).forEach((one, range) -> {
            if (pieceOf.applyAsInt(one.partition()) == piece) {
                mine.put(one, range);
            }
        });
        if (mine.isEmpty()) {
            return List.<InternalRow>of().iterator();
        }
        String reader = name + "/" + piece;
        if (!keeps) {
            return readers.compute(reader, (key, known) -> at(known, mine)).read(mine, context);
        }
        KeptRows rows = kept.get(reader);
        if (rows == null || !rows.cover(mine)) {
            rows = new KeptRows(mine, readers.compute(reader, (key, known) -> at(known, mine)).read(mine, context));
            kept.put(reader, rows);
        }
        return rows.of(mine);
    }

    /** A reader that continues where ranges begin: the one that is there, unless it is elsewhere. */
    private RangeReader at(RangeReader known, Map<TopicPartition, long[]> wanted) {
        Map<TopicPartition, Long> before = known == null ? Map.of() : known.positions();
        Map<TopicPartition, Long> starts = new HashMap<>(before);
        wanted.forEach((one, range) -> starts.put(one, range[0]));
        if (known != null && starts.equals(before)) {
            return known;
        }
        if (known != null) {
            known.close();
        }
        return reader(starts);
    }

    private RangeReader reader(Map<TopicPartition, Long> starts) {
        return new RangeReader(settings, starts, () -> {
            synchronized (arrivals) {
                arrivals.notifyAll();
            }
        });
    }

    /** Follow nothing any more. */
    synchronized void close() {
        for (Iterator<RangeReader> all = readers.values().iterator(); all.hasNext();) {
            all.next().close();
            all.remove();
        }
        kept.clear();
    }

    /** Lines of values with tabs between them: between Python and Java a list costs a call for each of its values. */
    static List<String[]> lines(String text) {
        return text.isEmpty() ? List.of() : text.lines().map(line -> line.split("\t", -1)).toList();
    }

    /** The topic and the partition that stand at a place of a line. */
    static TopicPartition partition(String[] line, int at) {
        return new TopicPartition(line[at], Integer.parseInt(line[at + 1]));
    }
}
