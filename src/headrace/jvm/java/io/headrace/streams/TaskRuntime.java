package io.headrace.streams;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.unsafe.types.UTF8String;

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
    final BatchPieces pieces;
    private final BatchInputs inputs;
    private final Map<String, Object> producers;
    private final StreamClocks clocks;
    private final Map<TopicPartition, Long> written = new ConcurrentHashMap<>(); // by complete batches, the offset after the last
    private final BatchThreads threads;
    private RecordWriter writer;
    private final TransactionCommit commit = new TransactionCommit();
    private ProcessorServer processors;
    private Map<String, Integer> limits; // of changelogs, bytes of a record; null: a batch is written while it is computed
    private volatile List<String> failure = List.of(); // exception, message, stack trace
    private volatile List<String> letter = List.of(); // the same
    private volatile BatchResult batch = new BatchResult(null, null);

    /**
     * @param directory scratch for the stores, whose cache and write buffers may take so much memory, in bytes
     * @param partitions how many its topics have
     * @param pieces into how many pieces batches are cut
     * @param consumers Java settings of consumers
     * @param producers Java settings of the producer
     */
    public TaskRuntime(SparkContext spark, String directory, long memory, int partitions, int pieces, Map<String, Object> consumers,
        Map<String, Object> producers) throws Exception {
        this.spark = spark;
        this.pieces = new BatchPieces(partitions, pieces);
        this.clocks = new StreamClocks(partitions);
        this.stores = new StateStores(directory, memory);
        this.inputs = new BatchInputs(consumers, this.pieces::of);
        this.producers = new HashMap<>(producers);
        this.threads = new BatchThreads(spark.defaultParallelism());
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
        return new BatchRdd(spark, id, name, pieces.count());
    }

    /** The rows of a store: partition, key, value. */
    public RDD<InternalRow> scan(String store) {
        return new BatchRdd(spark, id, STORE + store, pieces.count());
    }

    /** Rows that are computed once for everything in a batch that reads them. */
    public RDD<InternalRow> once(String name, RDD<InternalRow> rows) {
        return new BatchRdd(rows, id, name, pieces.count());
    }

    /** A job from what a batch puts out. settings: of the session that has planned it. */
    @SuppressWarnings("unchecked")
    public BatchProgram program(SQLConf settings, List<RDD<InternalRow>> rows, List<List<String>> outputs) {
        BatchProgram.Output[] kinds = outputs.stream().map(one -> new BatchProgram.Output(one.get(0), one.get(1), one.get(2)))
            .toArray(BatchProgram.Output[]::new);
        BatchRdd.share(new ArrayList<>(rows));
        return new BatchProgram(spark, settings, id, rows.toArray(new RDD[0]), kinds, pieces.count());
    }

    /** A row in whatever task, null if there is none. */
    public byte[] get(String store, byte[] key) throws Exception {
        return stores.find(store, pieces.partitions(), key);
    }

    /** Rows from a key on and before another one, at most so many, each with the partition in front of its key: key, value. */
    public byte[] range(String store, byte[] from, byte[] to, int atMost) throws Exception {
        return RecordBytes.joined(stores.range(store, from, to, false, atMost));
    }

    public StateStores stores() {
        return stores;
    }

    /** Its stream times and schedules. */
    public StreamClocks clocks() {
        return clocks;
    }

    /** Follow topics from some offsets on: lines of input, topic, partition, offset. */
    public void follow(String starts) {
        inputs.follow(starts);
    }

    /** Where the topics end that are followed: lines of topic, partition, offset; null if they are not followed any more. */
    public String ends() {
        return inputs.ends();
    }

    /** Wait until there is something to read; false: there is not. */
    public boolean waitForRecords(long patienceMs) throws InterruptedException {
        return inputs.await(patienceMs);
    }

    /** Write in transactions from now on, and be the only one who does under this id. */
    public synchronized void fence(String transactionalId) {
        closeWriter();
        writer = RecordWriter.transactional(producers, transactionalId);
    }

    /** Commit what the batch has written with offsets of a group: lines of topic, partition, offset and text. */
    public void commit(String group, String offsets) {
        commit.run(writer, group, offsets, this::abandon);
    }

    /** Whether the transaction of the last commit may have been committed, as its last step was begun. */
    public boolean mayBeCommitted() {
        return commit.mayBeCommitted();
    }

    /** Whether a failed batch has left no open transaction; else `fence` has to be called first. */
    public synchronized boolean canWrite() {
        return writer != null;
    }

    /** The records that an input has in this batch, instead of ranges of offsets: in the form of `RecordBytes`. */
    public void give(String input, byte[] records) throws Exception {
        inputs.give(input, RecordBytes.rows(records));
    }

    /**
     * Compute a batch; what it makes is acknowledged after that, and in no store yet.
     *
     * @param number of the batch
     * @param ranges what inputs have in this batch: lines of input, topic, partition, first offset, the one after the last
     * @param partitions with records, a line
     */
    public void run(BatchProgram program, long number, String ranges, String partitions) throws Throwable {
        failure = List.of();
        if (limits != null) {
            runCarefully(program, number, ranges, partitions);
            return;
        }
        begin(number);
        inputs.begin(ranges);
        boolean good = false;
        try {
            program.run(new ArrayList<>(pieces.of(partitions)), inputs.size(), threads);
            acknowledge();
            good = true;
        } finally {
            inputs.end();
            if (!good) {
                abandon();
            }
        }
    }

    /** The same, but nothing is written before everything is computed: a record that cannot be processed leaves no trace. */
    private void runCarefully(BatchProgram program, long number, String ranges, String partitions) throws Throwable {
        boolean withoutBroker = !producers.containsKey("bootstrap.servers");
        boolean numbered = !withoutBroker && (writer == null || !writer.isTransactional());
        batch = new BatchResult(null, numbered ? ByteBuffer.allocate(8).putLong(number).array() : null);
        inputs.begin(ranges);
        try {
            program.run(new ArrayList<>(pieces.of(partitions)), inputs.size(), threads);
            batch.checkSizes(producers, numbered ? limits : Map.of());
        } catch (Throwable error) {
            failure = RecordFailure.of(error);
            if (failure.isEmpty()) {
                abandon();
            }
            throw error;
        } finally {
            inputs.end();
        }
        if (withoutBroker) {
            return;
        }
        writeCarefully(number);
    }

    /** Write what was computed, results first: if a broker refuses one of them as too large, no changelog knows of the batch. */
    private void writeCarefully(long number) throws Throwable {
        BatchResult computed = batch;
        boolean leavesNoTrace = true;
        try {
            begin(number);
            batch.send(computed.results());
            acknowledge();
            leavesNoTrace = writer.isTransactional();
            batch.send(computed.changelogs());
            acknowledge();
            batch.take(computed);
        } catch (Throwable error) {
            failure = leavesNoTrace ? RecordFailure.of(error) : List.of();
            abandonWrites();
            if (failure.isEmpty()) {
                inputs.close();
            }
            throw error;
        }
    }

    private void acknowledge() throws Throwable {
        threads.run(List.of(0), 1, (piece, context) -> batch.acknowledged() // once: each flush is a round trip
            .forEach((partition, end) -> written.merge(partition, end, Math::max)));
    }

    /** Write nothing of a batch before it is computed, and keep what it has read until it is done. most: lines of topic, bytes. */
    public void beCareful(String most) {
        limits = new HashMap<>();
        BatchInputs.lines(most).forEach(one -> limits.put(one[0], Integer.valueOf(one[1])));
        inputs.keep();
    }

    /** Of a record that cannot be processed, by which the last batch has failed: exception, message, stack trace; else nothing. */
    public List<String> failure() {
        return failure;
    }

    /** What went wrong with the record that is written to the dead letter topic now: exception, message, stack trace. */
    public void setLetter(String exception, String message, String trace) {
        letter = List.of(exception, message, trace);
    }

    String letter(int part) {
        return letter.get(part);
    }

    private synchronized void begin(long number) {
        if (!producers.containsKey("bootstrap.servers")) {
            batch = new BatchResult(null, null);
            return;
        }
        if (writer == null) {
            writer = new RecordWriter(producers);
        }
        batch = new BatchResult(writer, writer.begin() ? null : ByteBuffer.allocate(8).putLong(number).array());
    }

    /** Where complete batches have written to: lines of topic, partition, the offset after the last record. */
    public String written() {
        List<String> found = new ArrayList<>();
        written.forEach((partition, end) -> found.add(partition.topic() + "\t" + partition.partition() + "\t" + end));
        return String.join("\n", found);
    }

    /** A topic has gone: what was written to it counts no more. */
    public void forget(String topic) {
        written.keySet().removeIf(partition -> partition.topic().equals(topic));
    }

    /** Abort the running batch, or its commit, with an error. atOnce: the transaction is not aborted, which may wait for brokers. */
    public void cancel(boolean atOnce) {
        threads.cancel(atOnce);
        commit.cancel();
    }

    /** Nothing of a failed batch may arrive later; what it has read is read again. */
    private synchronized void abandon() {
        abandonWrites();
        inputs.close();
    }

    private synchronized void abandonWrites() {
        if (writer != null && (threads.cancelledAtOnce() || !writer.abort())) {
            closeWriter();
        }
    }

    /** Stream times that the batch has come to: lines of node, partition, time. */
    public String ticks() {
        return batch.tickLines();
    }

    /** Records that no serde could read and that were left out: lines of topic, partition, offset of the first of them. */
    public String skipped() {
        return String.join("\n", batch.skipped);
    }

    /** How many records were left out so. */
    public long skips() {
        return batch.skips;
    }

    /** Take the changes of the batch into the stores, and its stream times. */
    public void apply() throws Exception {
        stores.write(batch.changes);
        clocks.take(batch);
    }

    /** How many rows the batch has changed in a store. */
    public int changed(String store) {
        return batch.changes.getOrDefault(store, List.of()).size();
    }

    /** The batch is over: forget what it kept. */
    public void end() {
        batch = new BatchResult(null, null);
    }

    /** Put rows into a store that are no batch's: partition, key, value and time; no value deletes. */
    public void load(String store, RDD<InternalRow> rows) {
        StoreLoad.run(id, store, rows);
    }

    /** Answer processors at a path. */
    public void serve(String path) throws Exception {
        processors = new ProcessorServer(this, Path.of(path));
    }

    /** Close everything and delete the state. */
    public synchronized void close() throws Exception {
        ALL.remove(id);
        closeWriter();
        inputs.close();
        if (processors != null) {
            processors.close();
        }
        stores.close();
    }

    private void closeWriter() {
        if (writer != null) {
            writer.close(true);
        }
        writer = null;
    }

    Iterator<InternalRow> rows(String name, int piece, TaskContext context) {
        if (name.startsWith(STORE)) {
            return new StoreScan(stores.iterator(name.substring(STORE.length())), this, piece, context);
        }
        return inputs.rows(name, piece, context);
    }

    List<InternalRow> kept(String name, int piece) {
        return batch.kept.get(name + "/" + piece);
    }

    void keep(String name, int piece, List<InternalRow> rows) {
        batch.kept.put(name + "/" + piece, rows);
    }

    /** Take a row that the batch puts out. */
    void take(BatchProgram.Output output, InternalRow row) {
        batch.take(output, row);
    }

    /** The records of a batch without a broker, in the form of `RecordBytes`. */
    public byte[] heldBytes() throws Exception {
        return RecordBytes.of(batch.held);
    }

    static byte[] bytes(InternalRow row, int index) {
        return row.isNullAt(index) ? null : row.getBinary(index);
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
