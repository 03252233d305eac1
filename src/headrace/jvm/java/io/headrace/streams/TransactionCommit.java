package io.headrace.streams;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.spark.TaskKilledException;

/**
 * Commits the transaction of a batch together with offsets. Where a topic of the offsets does not exist any more, the producer waits for
 * it until `max.block.ms` is over; another thread can end that.
 */
final class TransactionCommit {
    private Thread waiting; // for brokers
    private boolean cancelled;
    private volatile boolean mayBeCommitted;

    /** offsets: of a group, lines of topic, partition, offset and text; abandon: what is done after an error. */
    void run(RecordWriter writer, String group, String offsets, Runnable abandon) {
        Map<TopicPartition, OffsetAndMetadata> found = new HashMap<>();
        for (String[] one : BatchInputs.lines(offsets)) {
            // librdkafka, when it gives the text back, reads on to the next zero byte.
            found.put(BatchInputs.partition(one, 0), new OffsetAndMetadata(Long.parseLong(one[2]), one[3] + "\0"));
        }
        begin();
        boolean good = false;
        try {
            writer.commit(group, found);
            good = true;
        } catch (InterruptException e) {
            throw isCancelled() ? new TaskKilledException(BatchThreads.CANCELLED) : e;
        } finally {
            end();
            mayBeCommitted = writer.mayBeCommitted();
            if (!good) {
                abandon.run();
            }
        }
    }

    /** End the wait of the thread that commits, if there is one, with an error. */
    synchronized void cancel() {
        if (waiting != null) {
            cancelled = true;
            waiting.interrupt();
        }
    }

    /** Whether the last transaction may have been committed: the last step of its commit was begun. */
    boolean mayBeCommitted() {
        return mayBeCommitted;
    }

    private synchronized void begin() {
        cancelled = false;
        waiting = Thread.currentThread();
    }

    private synchronized boolean isCancelled() {
        return cancelled;
    }

    private synchronized void end() {
        waiting = null;
        Thread.interrupted(); // meant for this commit
    }
}
