package io.headrace.streams;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/** Reads ranges of offsets with a consumer that stays: what it has fetched beyond a range is there for the next one. */
final class RangeReader {
    private static final Duration POLL = Duration.ofMillis(100L);
    private static final int ENOUGH = 20000; // records of a partition that wait here

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final long patienceMs;
    private final Map<TopicPartition, ArrayDeque<ConsumerRecord<byte[], byte[]>>> fetched = new HashMap<>();
    private final Map<TopicPartition, Long> next = new HashMap<>(); // the offset at which the next range has to begin

    RangeReader(Map<String, Object> settings) {
        consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        patienceMs = Long.parseLong(settings.getOrDefault("default.api.timeout.ms", "60000").toString());
    }

    /** The records of ranges, of one partition after the other; offsets: first, and the one after the last. */
    Iterator<InternalRow> read(Map<TopicPartition, long[]> ranges, TaskContext context) {
        for (TopicPartition one : ranges.keySet()) {
            fetched.computeIfAbsent(one, given -> new ArrayDeque<>());
        }
        if (!consumer.assignment().containsAll(ranges.keySet())) {
            List<TopicPartition> all = new ArrayList<>(fetched.keySet());
            consumer.assign(all);
        }
        ranges.forEach((one, range) -> {
            if (!Long.valueOf(range[0]).equals(next.get(one))) {
                fetched.get(one).clear();
                consumer.seek(one, range[0]);
            }
            next.remove(one); // until the range has been read to its end
        });
        return new Rows(ranges, context);
    }

    void close() {
        consumer.close(Duration.ofSeconds(1L));
    }

    private final class Rows implements Iterator<InternalRow> {
        private final Iterator<Map.Entry<TopicPartition, long[]>> left;
        private final TaskContext context;
        private TopicPartition now;
        private long end;
        private UTF8String topic;
        private ArrayDeque<ConsumerRecord<byte[], byte[]>> queue;
        private boolean last;

        Rows(Map<TopicPartition, long[]> ranges, TaskContext context) {
            this.left = ranges.entrySet().iterator();
            this.context = context;
            advance();
        }

        @Override
        public boolean hasNext() {
            long until = System.currentTimeMillis() + patienceMs;
            while (!last) {
                ConsumerRecord<byte[], byte[]> head = queue.peekFirst();
                if (head != null && head.offset() < end) {
                    return true;
                }
                if (head != null || consumer.position(now) >= end) { // markers of transactions have offsets, too
                    next.put(now, end);
                    advance();
                } else if (System.currentTimeMillis() > until) {
                    throw new TimeoutException("No record of " + now + " came before offset " + end + " in " + patienceMs + " ms");
                } else {
                    poll();
                }
            }
            return false;
        }

        private void advance() {
            last = !left.hasNext();
            if (!last) {
                Map.Entry<TopicPartition, long[]> one = left.next();
                now = one.getKey();
                end = one.getValue()[1];
                topic = UTF8String.fromString(now.topic());
                queue = fetched.get(now);
            }
        }

        private void poll() {
            context.killTaskIfInterrupted();
            for (TopicPartition one : consumer.assignment()) {
                if (fetched.get(one).size() > ENOUGH) {
                    consumer.pause(List.of(one));
                } else if (consumer.paused().contains(one)) {
                    consumer.resume(List.of(one));
                }
            }
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                fetched.get(new TopicPartition(record.topic(), record.partition())).add(record);
            }
        }

        @Override
        public InternalRow next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            ConsumerRecord<byte[], byte[]> record = queue.removeFirst();
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
