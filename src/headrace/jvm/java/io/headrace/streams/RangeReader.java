package io.headrace.streams;

import io.headrace.CalmPoll;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.OptionalLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Follows partitions with a consumer and a thread of its own: fetches ahead of the batches, and knows by what brokers send with the
 * records how far a partition goes. Who waits for records is woken by their arrival, and no batch has to ask where a topic ends.
 */
final class RangeReader implements Runnable {
    private static final long POLL_MS = 500L;
    private static final int ENOUGH = 20000; // records of a partition that wait here

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final CalmPoll poll;
    private final long patienceMs;
    private final Runnable arrived;
    private final Map<TopicPartition, Followed> partitions = new HashMap<>();
    private volatile boolean closed;
    private RuntimeException failure;

    /** A partition. All of it is guarded by the reader. */
    private static final class Followed {
        final ArrayDeque<ConsumerRecord<byte[], byte[]>> fetched = new ArrayDeque<>();
        long next; // what a batch takes next
        long position; // what the consumer fetches next
        long end; // where the partition ends, as far as is known
        boolean paused;
    }

    /** starts: where to begin; arrived: called when there is more to read than before, or a failure. */
    RangeReader(Map<String, Object> settings, Map<TopicPartition, Long> starts, Runnable arrived) {
        Map<String, Object> own = new HashMap<>(settings);
        own.put("auto.offset.reset", "none"); // what is gone is the sub-topology's to decide
        consumer = new KafkaConsumer<>(own, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        poll = new CalmPoll(consumer);
        patienceMs = Long.parseLong(settings.getOrDefault("default.api.timeout.ms", "60000").toString());
        this.arrived = arrived;
        consumer.assign(starts.keySet());
        starts.forEach((partition, offset) -> {
            Followed followed = new Followed();
            followed.next = offset;
            followed.position = offset;
            followed.end = offset;
            partitions.put(partition, followed);
            consumer.seek(partition, offset);
        });
        Thread thread = new Thread(this, "streams-reader");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        try {
            while (!closed) {
                try {
                    rest();
                    take(poll.poll(POLL_MS));
                } catch (WakeupException e) {
                    continue; // closed, or a partition may be fetched again
                }
            }
        } catch (RuntimeException e) {
            synchronized (this) {
                failure = e;
                notifyAll();
            }
            arrived.run();
        } finally {
            consumer.close(Duration.ZERO);
        }
    }

    /** Pause partitions of which enough waits here, resume those of which it does not. */
    private void rest() {
        List<TopicPartition> pause = new ArrayList<>();
        List<TopicPartition> resume = new ArrayList<>();
        synchronized (this) {
            partitions.forEach((partition, followed) -> {
                boolean enough = followed.fetched.size() > (followed.paused ? ENOUGH / 2 : ENOUGH);
                if (enough != followed.paused) {
                    (enough ? pause : resume).add(partition);
                    followed.paused = enough;
                }
            });
        }
        consumer.pause(pause);
        consumer.resume(resume);
    }

    private void take(ConsumerRecords<byte[], byte[]> records) {
        boolean more = false;
        Map<TopicPartition, Long> positions = new HashMap<>();
        Map<TopicPartition, Long> ends = new HashMap<>();
        for (TopicPartition partition : partitions.keySet()) {
            long position = consumer.position(partition);
            OptionalLong lag = consumer.currentLag(partition);
            positions.put(partition, position);
            ends.put(partition, lag.isPresent() ? position + lag.getAsLong() : position);
        }
        synchronized (this) {
            for (TopicPartition partition : records.partitions()) {
                partitions.get(partition).fetched.addAll(records.records(partition));
            }
            for (Map.Entry<TopicPartition, Followed> one : partitions.entrySet()) {
                Followed followed = one.getValue();
                followed.position = positions.get(one.getKey());
                long end = Math.max(ends.get(one.getKey()), followed.position);
                more |= end > followed.end;
                followed.end = Math.max(end, followed.end);
            }
            notifyAll();
        }
        if (more) {
            arrived.run();
        }
    }

    /** Where each partition ends, as far as is known. Throws what the consumer threw. */
    synchronized Map<TopicPartition, Long> ends() {
        check();
        Map<TopicPartition, Long> found = new HashMap<>();
        partitions.forEach((partition, followed) -> found.put(partition, followed.end));
        return found;
    }

    /** Whether a batch finds something, or a failure. */
    synchronized boolean hasMore() {
        return failure != null || partitions.values().stream().anyMatch(one -> one.end > one.next);
    }

    /** Where a batch continues. */
    synchronized Map<TopicPartition, Long> positions() {
        Map<TopicPartition, Long> found = new HashMap<>();
        partitions.forEach((partition, followed) -> found.put(partition, followed.next));
        return found;
    }

    /** The records of ranges, of one partition after the other; offsets: first, as `positions` has it, and the one after the last. */
    Iterator<InternalRow> read(Map<TopicPartition, long[]> ranges, TaskContext context) {
        return new Rows(ranges, context);
    }

    void close() {
        closed = true;
        consumer.wakeup();
    }

    private void check() {
        if (failure != null) {
            throw failure;
        }
    }

    /** Move what there is of a range into `into`, at least a record; false: the range is at its end. */
    private synchronized boolean fill(TopicPartition partition, long end, ArrayDeque<ConsumerRecord<byte[], byte[]>> into,
        TaskContext context) {
        Followed followed = partitions.get(partition);
        long until = System.currentTimeMillis() + patienceMs;
        while (true) {
            while (!followed.fetched.isEmpty() && followed.fetched.peekFirst().offset() < end) {
                into.add(followed.fetched.removeFirst());
            }
            if (followed.paused && followed.fetched.size() <= ENOUGH / 2) {
                consumer.wakeup(); // the only method that another thread may call
            }
            if (!into.isEmpty()) {
                return true;
            }
            if (!followed.fetched.isEmpty() || followed.position >= end) { // markers of transactions have offsets, too
                followed.next = end;
                return false;
            }
            check();
            context.killTaskIfInterrupted();
            if (System.currentTimeMillis() > until) {
                throw new TimeoutException("No record of " + partition + " came before offset " + end + " in " + patienceMs + " ms");
            }
            try {
                wait(POLL_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                context.killTaskIfInterrupted();
                throw new org.apache.kafka.common.errors.InterruptException(e);
            }
        }
    }

    private final class Rows implements Iterator<InternalRow> {
        private final Iterator<Map.Entry<TopicPartition, long[]>> left;
        private final TaskContext context;
        private final ArrayDeque<ConsumerRecord<byte[], byte[]>> taken = new ArrayDeque<>();
        private TopicPartition now;
        private long end;
        private UTF8String topic;

        Rows(Map<TopicPartition, long[]> ranges, TaskContext context) {
            this.left = ranges.entrySet().iterator();
            this.context = context;
        }

        @Override
        public boolean hasNext() {
            while (taken.isEmpty()) {
                if (now != null && fill(now, end, taken, context)) {
                    return true;
                }
                if (!left.hasNext()) {
                    now = null;
                    return false;
                }
                Map.Entry<TopicPartition, long[]> one = left.next();
                now = one.getKey();
                end = one.getValue()[1];
                topic = UTF8String.fromString(now.topic());
            }
            return true;
        }

        @Override
        public InternalRow next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            ConsumerRecord<byte[], byte[]> record = taken.removeFirst();
            return new GenericInternalRow(new Object[] {
                topic, record.partition(), record.offset(), record.timestamp(), record.key(), record.value(), headers(record),
            });
        }

        private static GenericArrayData headers(ConsumerRecord<byte[], byte[]> record) {
            Header[] given = record.headers().toArray();
            if (given.length == 0) {
                return null;
            }
            Object[] found = new Object[given.length];
            for (int i = 0; i < given.length; i++) {
                found[i] = new GenericInternalRow(new Object[] {UTF8String.fromString(given[i].key()), given[i].value()});
            }
            return new GenericArrayData(found);
        }
    }
}
