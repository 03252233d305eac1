package io.headrace.connect;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.runtime.HostEnvironment;
import org.apache.kafka.connect.runtime.WorkerTransactionContext;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;
import org.apache.kafka.connect.source.SourceTaskContext;
import org.apache.kafka.connect.source.TransactionContext;
import org.apache.kafka.connect.storage.OffsetStorageReader;
import org.apache.kafka.connect.util.ConnectUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * A source task with a thread of its own, which polls into a bounded buffer.
 *
 * <p>Records are numbered from 0 on, and stay until they are acknowledged: a range that was cut can be read again and again.
 * `start`, `poll` and `stop` of the task are called by that thread alone; it continues polling while records are delivered, since
 * tasks do in their next poll what `commit` has only noted.
 */
final class SourceTaskHost implements Runnable, SourceTaskContext {
    /** Bytes of the values of records that may wait, to which one more poll may be added. */
    private static final long CAPACITY_BYTES = 64 << 20;
    private static final int CAPACITY = 200_000; // in records: small ones are mostly objects
    private static final int FIRST_CARRIED = 100;
    private static final int GROWTH = 10; // of what is carried, from one range to the next
    private static final Logger LOG = LoggerFactory.getLogger(SourceTaskHost.class);
    private final String id;
    private final String context;
    private final SourceTask task;
    private final Map<String, String> props;
    private final StoredOffsets offsets;
    private final TransformationChain<SourceRecord> chain;
    private final Retries retries; // of transforms and converters
    private final PluginMetricsImpl metrics;
    private final List<AutoCloseable> ending; // transforms and converters
    private final Thread thread;
    private final ArrayList<SourceRecord> buffer = new ArrayList<>(); // as they were polled
    private final ArrayList<SourceRecord> changed = new ArrayList<>(); // after the chain; null: taken out
    private final ArrayList<Integer> sizes = new ArrayList<>(); // of what was polled, in bytes
    private long bytes; // the sum of the sizes
    private final WorkerTransactionContext transactions; // null: batches end anywhere
    private final ArrayDeque<Long> ends = new ArrayDeque<>(); // of the transactions in the buffer: numbers of the records after
    private long base; // number of the first record in the buffer
    private boolean started;
    private boolean stopping;
    private boolean wokenUp;
    private boolean ended;
    private Throwable failure;
    private int carried = FIRST_CARRIED; // records of a range that travels with a Spark task: CAPACITY_BYTES, as far as is known

    SourceTaskHost(String id, String context, SourceTask task, Map<String, String> props, StoredOffsets offsets,
            TransformationChain<SourceRecord> chain, Retries retries, boolean transactional, PluginMetricsImpl metrics,
            List<AutoCloseable> ending) {
        this.id = id;
        this.context = context;
        this.task = task;
        this.props = props;
        this.offsets = offsets;
        this.chain = chain;
        this.retries = retries;
        this.transactions = transactional ? new WorkerTransactionContext() : null;
        this.metrics = metrics;
        this.ending = ending;
        this.thread = new Thread(this, "task-thread-" + id);
        this.thread.setDaemon(true);
        this.thread.setContextClassLoader(task.getClass().getClassLoader());
    }

    void start() {
        thread.start();
    }

    @Override
    public void run() {
        MDC.put("connector.context", context);
        try {
            task.initialize(this);
            task.start(props);
            synchronized (this) {
                started = true;
                notifyAll();
            }
            while (room()) {
                take(polled());
            }
        } catch (Throwable e) { // whatever a plugin throws ends this task, and nothing else
            synchronized (this) {
                failure = e;
            }
            LOG.error("Task {} failed", id, e);
        } finally {
            end();
        }
    }

    private List<SourceRecord> polled() throws InterruptedException {
        try {
            return task.poll();
        } catch (RetriableException | org.apache.kafka.common.errors.RetriableException e) {
            LOG.warn("Task {} will poll again", id, e); // at once, as Kafka Connect does
            return null;
        }
    }

    private void take(List<SourceRecord> polled) {
        if (polled == null) {
            return;
        }
        List<SourceRecord> records = polled.stream().filter(Objects::nonNull).toList(); // Kafka Connect drops a null, too
        List<SourceRecord> after = new ArrayList<>(records.size());
        List<Integer> measured = new ArrayList<>(records.size());
        try {
            for (SourceRecord record : records) {
                measured.add(MemorySize.of(record));
                after.add(changed(record));
            }
        } finally { // what comes before a record that fails is delivered
            synchronized (this) {
                changed.addAll(after);
                buffer.addAll(records.subList(0, after.size()));
                for (Integer size : measured.subList(0, after.size())) {
                    sizes.add(size);
                    bytes += size;
                }
                if (transactions != null) {
                    endTransactions(records.subList(0, after.size()), after.size() == records.size());
                }
                notifyAll();
            }
        }
    }

    /** The record after the chain; null if it was taken out. */
    private SourceRecord changed(SourceRecord record) {
        try {
            SourceRecord after = chain.apply(record, retries);
            if (after != null) {
                ConnectUtils.checkAndConvertTimestamp(after.timestamp()); // ends the task, whatever it tolerates
            }
            return after;
        } catch (TransformationChain.StageFailure e) {
            String where = "Transform " + e.alias + " failed for the record at source offset " + record.sourceOffset();
            throw new ConnectException("Tolerance exceeded in error handler: " + where, e.getCause());
        }
    }

    /**
     * Note where the task has said that transactions end; records of one that it aborts are left out, and their offsets count.
     *
     * <p>`all`: whether these are all of the poll, whose end may be that of a transaction, too.
     */
    private void endTransactions(List<SourceRecord> polled, boolean all) {
        long number = base + buffer.size() - polled.size();
        for (SourceRecord record : polled) {
            number++;
            boolean aborted = transactions.shouldAbortOn(record);
            if (aborted | transactions.shouldCommitOn(record)) {
                endTransaction(number, aborted);
            }
        }
        boolean aborted = all && transactions.shouldAbortBatch();
        if (aborted | (all && transactions.shouldCommitBatch())) {
            endTransaction(number, aborted);
        }
    }

    private void endTransaction(long end, boolean aborted) {
        long begin = ends.isEmpty() ? base : ends.getLast();
        for (long number = begin; aborted && number < end; number++) {
            changed.set((int) (number - base), null);
        }
        if (end > begin) {
            ends.add(end);
        }
    }

    private void end() {
        try {
            task.stop();
        } catch (Throwable e) {
            LOG.warn("Task {} failed to stop", id, e);
        }
        ending.forEach(plugin -> Utils.closeQuietly(plugin, "plugin of task " + id));
        HostEnvironment.close(metrics);
        synchronized (this) {
            ended = true;
            notifyAll();
        }
    }

    /** Wait until there is room for more; returns whether to continue. */
    private synchronized boolean room() throws InterruptedException {
        while (!stopping && (bytes >= CAPACITY_BYTES || buffer.size() >= CAPACITY) && ready() > 0) {
            wait();
        }
        return !stopping;
    }

    /** Wait until the task has started; returns false if that takes longer. Throws what it has failed with. */
    synchronized boolean awaitStart(long waitMs) throws Throwable {
        long until = System.currentTimeMillis() + waitMs;
        for (long left = waitMs; !started && !ended && left > 0; left = until - System.currentTimeMillis()) {
            wait(left);
        }
        if (failure != null && !started) { // else it is thrown once all records before it are delivered
            throw failure;
        }
        return started;
    }

    /** How many records can be delivered in one batch: those of one transaction, if the task has transactions. */
    private int ready() {
        if (transactions == null) {
            return buffer.size();
        }
        return ends.isEmpty() ? 0 : (int) (ends.peek() - base);
    }

    /**
     * The records that can be read now, at most `most`, as a range of numbers; waits for the first one, at most `waitMs`, and not
     * after `wakeUp`.
     *
     * <p>`travels`: whether they go to another process in one message; then they are no more than fit, by the size of those before.
     * A transaction is never divided.
     *
     * <p>`offsets`: for each source partition in it the last offset, as Connect's JSON; `topics`: those of the records. Throws
     * what the task has failed with, once all that it has polled before is acknowledged. `retries`: see {@link #retries}.
     */
    synchronized Map<String, Object> cut(int most, boolean travels, long waitMs) throws Throwable {
        long until = System.currentTimeMillis() + waitMs;
        for (long left = waitMs; ready() == 0 && !ended && !wokenUp && left > 0; left = until - System.currentTimeMillis()) {
            wait(left);
        }
        int count = transactions == null ? Math.min(travels ? Math.min(most, carried) : most, ready()) : ready();
        if (count == 0 && failure != null) {
            throw failure;
        }
        Map<Map<String, ?>, Map<String, ?>> last = new LinkedHashMap<>(); // by value: a task may make a new map for each record
        Set<String> topics = new LinkedHashSet<>();
        for (SourceRecord record : buffer.subList(0, count)) {
            last.put(record.sourcePartition(), record.sourceOffset());
        }
        for (SourceRecord record : changed.subList(0, count)) {
            if (record != null) {
                topics.add(record.topic());
            }
        }
        List<List<String>> positions = new ArrayList<>();
        last.forEach((partition, offset) -> positions.add(List.of(Json.text(partition), Json.text(offset))));
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("from", base);
        answer.put("to", base + count);
        answer.put("waiting", buffer.size() - count);
        answer.put("offsets", positions);
        answer.put("topics", topics);
        answer.put("retries", retries());
        return answer;
    }

    /** How often a transform or converter was called again. */
    long retries() {
        return retries.count();
    }

    /** The records of a range after the chain, without those that it has taken out. */
    synchronized SourceRecord[] read(long from, long to) {
        if (from < base || to > base + buffer.size()) {
            throw new IllegalStateException("Records " + from + " to " + to + " of task " + id + " are not here");
        }
        return changed.subList((int) (from - base), (int) (to - base)).stream().filter(record -> record != null)
            .toArray(SourceRecord[]::new);
    }

    /** So many records of a range were so many bytes when they were converted. */
    synchronized void measure(int records, long converted) {
        // Without records the chain has taken all of them out.
        long fitting = records == 0 ? CAPACITY : records * CAPACITY_BYTES / Math.max(1, converted);
        carried = (int) Math.max(1, Math.min(fitting, (long) GROWTH * carried));
    }

    /** Everything before `to` is written, and its offsets are stored: have the task commit it, and forget it. */
    void acknowledge(long to) {
        SourceRecord[] done;
        synchronized (this) {
            done = buffer.subList(0, (int) (to - base)).toArray(new SourceRecord[0]);
        }
        try (ContextLoader swapped = ContextLoader.in(task)) {
            for (SourceRecord record : done) {
                commitRecord(record);
            }
            commit();
        }
        synchronized (this) {
            buffer.subList(0, done.length).clear();
            changed.subList(0, done.length).clear();
            List<Integer> gone = sizes.subList(0, done.length);
            for (Integer size : gone) {
                bytes -= size;
            }
            gone.clear();
            base = to;
            while (!ends.isEmpty() && ends.peek() <= base) {
                ends.remove();
            }
            notifyAll();
        }
    }

    private void commitRecord(SourceRecord record) {
        try {
            task.commitRecord(record, null);
        } catch (Throwable e) { // as in Kafka Connect: the record is written, whatever the task makes of it
            LOG.error("Task {} failed in commitRecord()", id, e);
        }
    }

    private void commit() {
        try {
            task.commit();
        } catch (Throwable e) {
            LOG.error("Task {} failed in commit()", id, e);
        }
    }

    /** It is about to be stopped: wait for no records any more. What was cut can be read and acknowledged as before. */
    synchronized void wakeUp() {
        wokenUp = true;
        notifyAll();
    }

    /** Have the task stop, on its thread; returns whether it has within so long. It ends later by itself if not. */
    boolean stop(long waitMs) throws InterruptedException {
        synchronized (this) {
            stopping = true;
            notifyAll();
        }
        retries.end();
        thread.join(waitMs);
        offsets.close();
        HostEnvironment.close(metrics); // also if the task is left behind: another one adds its own under the same names
        return !thread.isAlive();
    }

    @Override
    public Map<String, String> configs() {
        return props;
    }

    @Override
    public OffsetStorageReader offsetStorageReader() {
        return offsets;
    }

    @Override
    public TransactionContext transactionContext() {
        return transactions;
    }

    @Override
    public PluginMetrics pluginMetrics() {
        return metrics;
    }
}
