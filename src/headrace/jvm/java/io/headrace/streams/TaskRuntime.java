package io.headrace.streams;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;
import org.apache.spark.unsafe.types.UTF8String;
import org.rocksdb.RocksIterator;

/**
 * What one sub-topology has in this JVM: its stores, stream times, consumers, its producer, and the batch that runs now. Python says
 * what a batch covers, when it runs, and when its changes go into the stores: after everything else has been acknowledged.
 */
public final class TaskRuntime {
    private static final Map<String, TaskRuntime> ALL = new ConcurrentHashMap<>();
    static final String STORE = "store:"; // what names of RDDs that scan a store begin with

    final StateStores stores;
    private final String id = UUID.randomUUID().toString().substring(0, 8);
    private final SparkContext spark;
    private final int pieces;
    private final Map<String, Object> consumers;
    private final Map<String, Object> producers;
    private final Map<String, RangeReader> readers = new ConcurrentHashMap<>();
    private final Map<String, Map<Integer, Long>> clocks = new ConcurrentHashMap<>();
    private final Map<String, List<InternalRow>> given = new HashMap<>(); // records for inputs that read no topic
    private RecordWriter writer;
    private volatile Batch batch = new Batch();

    /** One batch. */
    private static final class Batch {
        final Map<String, Map<TopicPartition, long[]>> ranges = new HashMap<>();
        final Map<String, List<InternalRow>> kept = new ConcurrentHashMap<>();
        final Map<String, List<byte[][]>> changes = new HashMap<>();
        final Map<String, Map<Integer, Long>> ticks = new TreeMap<>();
        final List<Object[]> held = new ArrayList<>();
        final List<String> skipped = new ArrayList<>();
        byte[] number = new byte[8];
        boolean holds;
    }

    /**
     * @param directory scratch for the stores
     * @param pieces into how many pieces batches are cut
     * @param consumers Java settings of consumers
     * @param producers Java settings of the producer
     */
    public TaskRuntime(SparkContext spark, String directory, int pieces, Map<String, Object> consumers, Map<String, Object> producers)
        throws Exception {
        this.spark = spark;
        this.pieces = pieces;
        this.stores = new StateStores(directory);
        this.consumers = new HashMap<>(consumers);
        this.producers = new HashMap<>(producers);
        ALL.put(id, this);
    }

    static TaskRuntime of(UTF8String id) {
        return of(id.toString());
    }

    static TaskRuntime of(String id) {
        TaskRuntime found = ALL.get(id);
        if (found == null) {
            throw new IllegalStateException("The state of this sub-topology is not in this process: spark.master has to be local");
        }
        return found;
    }

    public String id() {
        return id;
    }

    /** The records of an input, as `given` or from its topics. */
    public RDD<InternalRow> input(String name) {
        return new BatchRdd(spark, id, name, pieces);
    }

    /** The rows of a store: partition, key, value. */
    public RDD<InternalRow> scan(String store) {
        return new BatchRdd(spark, id, STORE + store, pieces);
    }

    /** Rows that are computed once for everything in a batch that reads them. */
    public RDD<InternalRow> once(String name, RDD<InternalRow> rows) {
        return new BatchRdd(rows, id, name, pieces);
    }

    /** A job from what a batch puts out. */
    @SuppressWarnings("unchecked")
    public BatchProgram program(List<RDD<InternalRow>> rows, List<List<String>> outputs) {
        BatchProgram.Output[] kinds = new BatchProgram.Output[outputs.size()];
        for (int i = 0; i < kinds.length; i++) {
            List<String> one = outputs.get(i);
            kinds[i] = new BatchProgram.Output(one.get(0), one.get(1), one.get(2));
        }
        BatchRdd.share(new ArrayList<>(rows));
        return new BatchProgram(spark, id, rows.toArray(new RDD[0]), kinds, pieces);
    }

    public void createStore(String store) throws Exception {
        stores.create(store);
    }

    public void clearStore(String store) throws Exception {
        stores.clear(store);
    }

    public long storeSize(String store) throws Exception {
        return stores.size(store);
    }

    /** Set the stream time of a task at an operator. */
    public void setClock(String node, int partition, long time) {
        clocks.computeIfAbsent(node, name -> new ConcurrentHashMap<>()).put(partition, time);
    }

    public void clearClocks() {
        clocks.clear();
    }

    Long clock(String node, int partition) {
        Map<Integer, Long> found = clocks.get(node);
        return found == null ? null : found.get(partition);
    }

    /** Begin a batch. holds: its records stay here, instead of being sent; without a broker they always do. */
    public synchronized void begin(long number, boolean holds) {
        batch = new Batch();
        batch.number = ByteBuffer.allocate(8).putLong(number).array();
        batch.holds = holds || !producers.containsKey("bootstrap.servers");
        if (!batch.holds && writer == null) {
            writer = new RecordWriter(producers);
        }
    }

    /** A range of offsets that an input has in this batch. */
    public void range(String input, String topic, int partition, long from, long to) {
        batch.ranges.computeIfAbsent(input, name -> new LinkedHashMap<>()).put(new TopicPartition(topic, partition), new long[] {from, to});
    }

    /** The records that an input has in this batch, instead of ranges of offsets: in the form of `RecordBytes`. */
    public void give(String input, byte[] records) throws Exception {
        given.put(input, RecordBytes.rows(records));
    }

    /** Run the batch that was begun over some partitions; what it makes is acknowledged after that, and in no store yet. */
    public void run(BatchProgram program, List<Integer> partitions) {
        TreeSet<Integer> wanted = new TreeSet<>();
        partitions.forEach(partition -> wanted.add(piece(partition)));
        boolean good = false;
        try {
            program.run(new ArrayList<>(wanted));
            good = true;
        } finally {
            given.clear();
            if (!good) {
                abandon();
            }
        }
    }

    /** Close what a failed batch has sent with or read with: nothing of it may arrive later. */
    private synchronized void abandon() {
        if (writer != null) {
            writer.close(true);
            writer = null;
        }
        closeReaders();
    }

    /** Stream times that the batch has come to: `node`, partition, time, three for each. */
    public List<Object> ticks() {
        List<Object> found = new ArrayList<>();
        batch.ticks.forEach((node, times) -> times.forEach((partition, time) -> found.addAll(List.of(node, partition, time))));
        return found;
    }

    /** Records that no serde could read and that were left out: the first of them, as topic, partition, offset. */
    public List<String> skipped() {
        return batch.skipped;
    }

    /** Take the changes of the batch into the stores. */
    public void apply() throws Exception {
        stores.write(batch.changes);
    }

    /** How many rows the batch has changed in a store. */
    public int changed(String store) {
        List<byte[][]> rows = batch.changes.get(store);
        return rows == null ? 0 : rows.size();
    }

    /** The batch is over: forget what it kept. */
    public void end() {
        batch = new Batch();
    }

    /** How many records a batch that `holds` has made. */
    public int heldCount() {
        return batch.held.size();
    }

    /** Delete the rows of a task whose time, 8 bytes that stand `behind` bytes before the end of the key, is before a limit. */
    public void expire(String store, int partition, int behind, long limit) throws Exception {
        byte[] first = ByteBuffer.allocate(4).putInt(partition).array();
        Map<String, List<byte[][]>> gone = new HashMap<>();
        List<byte[][]> rows = gone.computeIfAbsent(store, name -> new ArrayList<>());
        try (RocksIterator all = stores.iterator(store)) {
            for (all.seek(first); all.isValid() && Arrays.equals(all.key(), 0, 4, first, 0, 4); all.next()) {
                byte[] key = all.key();
                if (ByteBuffer.wrap(key).getLong(key.length - behind) < limit) {
                    rows.add(new byte[][] {key, null});
                }
                if (rows.size() == 10000) {
                    stores.write(gone);
                    rows.clear();
                }
            }
        }
        stores.write(gone);
    }

    /** Put rows into a store that are no batch's: partition, key, value and time; no value deletes. */
    public void load(String store, RDD<InternalRow> rows) {
        StoreLoad.run(id, store, rows);
    }

    /** Close everything and delete the state. */
    public synchronized void close() throws Exception {
        ALL.remove(id);
        if (writer != null) {
            writer.close(true);
            writer = null;
        }
        closeReaders();
        stores.close();
    }

    private void closeReaders() {
        for (Iterator<RangeReader> all = readers.values().iterator(); all.hasNext();) {
            all.next().close();
            all.remove();
        }
    }

    Iterator<InternalRow> rows(String name, int piece, TaskContext context) {
        if (name.startsWith(STORE)) {
            return new StoreScan(stores.iterator(name.substring(STORE.length())), this, piece, context);
        }
        List<InternalRow> records = given.get(name);
        if (records != null) {
            return records.stream().filter(row -> piece(row.getInt(1)) == piece).iterator();
        }
        Map<TopicPartition, long[]> mine = new LinkedHashMap<>();
        batch.ranges.getOrDefault(name, Map.of()).forEach((one, range) -> {
            if (piece(one.partition()) == piece) {
                mine.put(one, range);
            }
        });
        if (mine.isEmpty()) {
            return List.<InternalRow>of().iterator();
        }
        return readers.computeIfAbsent(name + "/" + piece, key -> new RangeReader(consumers)).read(mine, context);
    }

    /** The piece that has a partition. */
    int piece(int partition) {
        return piece(partition, pieces);
    }

    /** As Spark's `HashPartitioning` says. */
    private static int piece(int partition, int pieces) {
        return Math.floorMod(Murmur3_x86_32.hashInt(partition, 42), pieces);
    }

    /** Into how many pieces batches are cut: the fewest that put no more partitions into one than they have to, for so many slots. */
    public static int pieces(int partitions, int slots) {
        int most = Math.min(partitions, 4 * slots);
        int best = 1;
        int least = partitions;
        for (int count = 2; count <= 8 * most && least > (partitions + most - 1) / most; count++) {
            int[] sizes = new int[count];
            int largest = 0;
            for (int partition = 0; partition < partitions; partition++) {
                largest = Math.max(largest, ++sizes[piece(partition, count)]);
            }
            if (largest < least) {
                least = largest;
                best = count;
            }
        }
        return best;
    }

    List<InternalRow> kept(String name, int piece) {
        return batch.kept.get(name + "/" + piece);
    }

    void keep(String name, int piece, List<InternalRow> rows) {
        batch.kept.put(name + "/" + piece, rows);
    }

    /** Take a row that the batch puts out. */
    void take(BatchProgram.Output output, InternalRow row) {
        switch (output.kind()) {
            case "sink" -> put(new Object[] {
                row.getUTF8String(0).toString(), row.isNullAt(1) ? null : row.getInt(1), bytes(row, 2), bytes(row, 3),
                RecordWriter.headers(row, 4), row.getLong(5), false,
            });
            case "store" -> change(output, row);
            case "tick" -> tick(output.name(), row.getInt(0), row.getLong(1));
            case "skip" -> skip(row.getUTF8String(0) + "\t" + row.getInt(1) + "\t" + row.getLong(2));
            default -> { }
        }
    }

    private void change(BatchProgram.Output output, InternalRow row) {
        byte[] key = bytes(row, 1);
        byte[] value = bytes(row, 2);
        byte[][] pair = {StateFunctions.key(row.getInt(0), key), value == null ? null : stored(row.getLong(3), value)};
        Batch now = batch;
        synchronized (now) {
            now.changes.computeIfAbsent(output.name(), name -> new ArrayList<>()).add(pair);
        }
        if (output.topic() != null) {
            put(new Object[] {
                output.topic(), row.getInt(0), key, value, RecordWriter.changelogHeaders(bytes(row, 4), now.holds ? null : now.number), row.getLong(3), true,
            });
        }
    }

    static byte[] stored(long time, byte[] value) {
        return ByteBuffer.allocate(8 + value.length).putLong(time).put(value).array();
    }

    private void put(Object[] record) {
        Batch now = batch;
        if (now.holds) {
            synchronized (now) {
                now.held.add(record);
            }
        } else {
            writer.send(record);
        }
    }

    private void tick(String node, int partition, long time) {
        Batch now = batch;
        synchronized (now) {
            now.ticks.computeIfAbsent(node, name -> new TreeMap<>()).merge(partition, time, Math::max);
        }
    }

    private void skip(String place) {
        Batch now = batch;
        synchronized (now) {
            if (now.skipped.size() < 100) {
                now.skipped.add(place);
            }
        }
    }

    /** Wait until all that was sent is acknowledged. */
    void acknowledged() {
        if (!batch.holds) {
            writer.flush();
        }
    }

    /** The records of a batch that `holds`, in the form of `RecordBytes`. */
    public byte[] heldBytes() throws Exception {
        return RecordBytes.of(batch.held);
    }

    /** The records of the batch, one after the other, for those who write them in another way. */
    @SuppressWarnings("unchecked")
    public RDD<InternalRow> heldRows() {
        List<InternalRow> rows = new ArrayList<>();
        for (Object[] record : batch.held) {
            rows.add(new GenericInternalRow(new Object[] {
                UTF8String.fromString((String) record[0]), record[1], record[2], record[3], RecordWriter.array((List<byte[][]>) record[4]),
                record[5], record[6],
            }));
        }
        return org.apache.spark.api.java.JavaSparkContext.fromSparkContext(spark).parallelize(rows, 1).rdd();
    }

    static byte[] bytes(InternalRow row, int index) {
        return row.isNullAt(index) ? null : row.getBinary(index);
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
