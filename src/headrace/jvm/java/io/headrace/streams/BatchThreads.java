package io.headrace.streams;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.TaskKilledException;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.memory.MemoryManager;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.util.Utils;
import scala.Option;

/**
 * Threads that compute the pieces of batches, as many as Spark has slots, for all sub-topologies of this process. Spark's scheduler
 * would send every piece of every batch through a broadcast, which costs more than a small batch does. What a piece computes finds
 * what a task of Spark finds: a context with memory of its own, which is given back at its end.
 */
final class BatchThreads {
    private static final AtomicLong ATTEMPTS = new AtomicLong(1L << 40); // no task of Spark's scheduler has such a number
    private static final long PAGE_BYTES = 256L << 10; // a task may have 8,192 of them
    static final String CANCELLED = "The batch was cancelled"; // as headrace.spark.failure
    private static ExecutorService threads;

    private final Map<Thread, TaskContextImpl> running = new HashMap<>();
    private Throwable failure; // of the batch that runs now
    private boolean cancelledAtOnce; // whether that batch may not wait for brokers any more

    /** slots: how many pieces of all sub-topologies are computed at a time. */
    BatchThreads(int slots) {
        synchronized (BatchThreads.class) {
            if (threads == null) {
                AtomicInteger number = new AtomicInteger();
                ClassLoader loader = Utils.getContextOrSparkClassLoader(); // which knows the jars that users add
                threads = Executors.newFixedThreadPool(slots, task -> {
                    Thread thread = new Thread(task, "streams-batch-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    thread.setContextClassLoader(loader);
                    return thread;
                });
            }
        }
    }

    /** Compute some pieces, and return when none is computed any more; the first error ends them all, and is thrown. */
    void run(List<Integer> pieces, int count, PieceWork work) throws Throwable {
        synchronized (this) {
            failure = null;
            cancelledAtOnce = false;
        }
        List<Future<?>> waiting = new ArrayList<>();
        for (int piece : pieces) {
            waiting.add(threads.submit(() -> compute(piece, count, work)));
        }
        boolean interrupted = false;
        for (Future<?> piece : waiting) {
            interrupted |= waitFor(piece);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        synchronized (this) {
            if (failure != null) {
                throw failure;
            }
        }
    }

    private static boolean waitFor(Future<?> piece) throws ExecutionException {
        boolean interrupted = false;
        while (true) {
            try {
                piece.get();
                return interrupted;
            } catch (InterruptedException e) {
                interrupted = true; // no piece may be left behind that still writes
            }
        }
    }

    /** Abort the running batch. atOnce: its writes are given up without waiting for brokers. */
    synchronized void cancel(boolean atOnce) {
        cancelledAtOnce = atOnce;
        fail(new TaskKilledException(CANCELLED));
    }

    /** Whether the last batch was cancelled at once. */
    synchronized boolean cancelledAtOnce() {
        return cancelledAtOnce;
    }

    private synchronized void fail(Throwable error) {
        if (failure == null) {
            failure = error;
            running.forEach((thread, context) -> {
                context.markInterrupted("another piece of the batch failed, or the batch was cancelled");
                thread.interrupt();
            });
        }
    }

    private void compute(int piece, int count, PieceWork work) {
        SparkEnv env = SparkEnv.get();
        long attempt = ATTEMPTS.incrementAndGet();
        TaskMemoryManager memory = new SmallPages(env.memoryManager(), attempt);
        Properties properties = new Properties();
        properties.put(SQLExecution$.MODULE$.EXECUTION_ID_KEY(), "streams"); // a plan takes the settings that it finds, not its own
        TaskContextImpl context = new TaskContextImpl(0, 0, piece, attempt, 0, count, memory, properties, env.metricsSystem(),
            TaskMetrics.empty(), 1, scala.collection.immutable.Map$.MODULE$.empty());
        if (!enter(context)) {
            return;
        }
        Option<Throwable> wrong = Option.empty();
        TaskContext$.MODULE$.setTaskContext(context);
        try {
            work.compute(piece, context);
        } catch (Throwable error) {
            wrong = Option.apply(error);
            fail(error);
            context.markTaskFailed(error);
        } finally {
            leave();
            try {
                context.markTaskCompleted(wrong); // listeners free what operators hold
            } finally {
                TaskContext$.MODULE$.unset();
                memory.cleanUpAllAllocatedMemory();
            }
        }
    }

    private synchronized boolean enter(TaskContextImpl context) {
        if (failure == null) {
            running.put(Thread.currentThread(), context);
        }
        return failure == null;
    }

    private synchronized void leave() {
        running.remove(Thread.currentThread());
        Thread.interrupted(); // meant for this piece, not for the next one of this thread
    }

    /** Memory in small pages: Spark's own have up to 64 MB each, which takes longer to clear than a small batch to compute. */
    private static final class SmallPages extends TaskMemoryManager {
        SmallPages(MemoryManager memory, long attempt) {
            super(memory, attempt);
        }

        @Override
        public long pageSizeBytes() {
            return PAGE_BYTES;
        }
    }

    /** Computes a piece. */
    interface PieceWork {
        void compute(int piece, TaskContext context) throws Exception;
    }
}
