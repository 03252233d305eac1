package io.headrace.streams;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Sends what batches make, with one producer for all of them.
 *
 * <p>A record that is larger than a batch of the producer goes alone. Its batch has room for its largest possible overhead, and so for
 * another one of a few bytes; if a broker refuses the two as too large, the producer splits them without an end, until its thread dies
 * (KAFKA-8350).
 */
final class RecordWriter {
    private static final String BATCH = "b"; // as headrace.streams.engine.changelog
    private static final String OLD = "o";
    private static final int SMALL_BYTES = 24; // more than what a record's largest possible overhead leaves for another one

    private final KafkaProducer<byte[], byte[]> producer;
    private final boolean transactional;
    private final int batchBytes;
    private final Set<String> large = ConcurrentHashMap.newKeySet(); // topics that have got one larger than a batch
    private final Map<TopicPartition, Long> ends = new ConcurrentHashMap<>(); // of what this batch has written, as acknowledged
    private volatile Exception failure;
    private boolean commits;
    private volatile boolean mayBeCommitted;

    RecordWriter(Map<String, Object> settings) {
        producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        transactional = settings.containsKey(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
        batchBytes = Integer.parseInt(settings.getOrDefault(ProducerConfig.BATCH_SIZE_CONFIG, 16384).toString());
    }

    /** A writer whose records count once they are committed; whoever had the id before is fenced off, and what was open aborted. */
    static RecordWriter transactional(Map<String, Object> settings, String id) {
        Map<String, Object> own = new HashMap<>(settings);
        own.putAll(Map.of(ProducerConfig.TRANSACTIONAL_ID_CONFIG, id, ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true,
            ProducerConfig.ACKS_CONFIG, "all"));
        RecordWriter writer = new RecordWriter(own);
        try {
            writer.producer.initTransactions();
        } catch (RuntimeException e) {
            writer.close(true);
            throw e;
        }
        return writer;
    }

    boolean isTransactional() {
        return transactional;
    }

    /** Begin a transaction, if this is what it writes in; whether it is. */
    boolean begin() {
        failure = null;
        commits = false;
        mayBeCommitted = false;
        ends.clear();
        large.clear();
        if (transactional) {
            producer.beginTransaction();
        }
        return transactional;
    }

    /** Commit the transaction with offsets of a group. */
    void commit(String group, Map<TopicPartition, OffsetAndMetadata> offsets) {
        commits = true;
        producer.sendOffsetsToTransaction(offsets, new ConsumerGroupMetadata(group));
        mayBeCommitted = true;
        producer.commitTransaction();
    }

    /** Whether the transaction has been committed, or a commit was begun whose outcome is unknown. */
    boolean mayBeCommitted() {
        return mayBeCommitted;
    }

    /** Abort the transaction; false: this writer cannot be used any more. */
    boolean abort() {
        if (commits) { // the producer would wait once more for what its commit has failed with
            return false;
        }
        try {
            if (transactional) {
                producer.abortTransaction();
            }
            return transactional;
        } catch (RuntimeException e) { // fenced off, or no answer: who begins again settles it
            return false;
        }
    }

    /**
     * A record: topic, partition (as headrace.streams.engine.sinks has it) or null, key, value, headers as pairs of bytes, time,
     * whether it is a changelog's.
     */
    @SuppressWarnings("unchecked")
    void send(Object[] record) {
        check();
        RecordHeaders headers = new RecordHeaders();
        for (byte[][] one : (List<byte[][]>) record[4]) {
            headers.add(TaskRuntime.text(one[0]), one[1]);
        }
        String topic = (String) record[0];
        int bytes = BatchResult.size(record);
        keepApart(topic, bytes);
        byte[] key = (byte[]) record[2];
        Integer partition = partition(topic, (Integer) record[1], key);
        producer.send(new ProducerRecord<>(topic, partition, (Long) record[5], key, (byte[]) record[3], headers),
            (metadata, exception) -> completed(topic, bytes, metadata, exception));
    }

    /** The windows of a key go to one partition, as Kafka's WindowedStreamPartitioner sends them. */
    private Integer partition(String topic, Integer partition, byte[] key) {
        if (partition == null || partition >= 0) {
            return partition;
        }
        byte[] withoutWindow = Arrays.copyOf(key, key.length + partition);
        return BuiltInPartitioner.partitionForKey(withoutWindow, producer.partitionsFor(topic).size());
    }

    private void keepApart(String topic, int bytes) {
        if (bytes + BatchResult.OVERHEAD_BYTES > batchBytes) {
            large.add(topic);
        } else if (bytes <= SMALL_BYTES && large.remove(topic)) {
            producer.flush();
        }
    }

    /** Wait until all of the batch is acknowledged; returns by partition the offset after its last record. */
    Map<TopicPartition, Long> flush() {
        producer.flush();
        check();
        return ends;
    }

    private void check() {
        if (failure != null) {
            throw failure instanceof RuntimeException ? (RuntimeException) failure : new RuntimeException(failure);
        }
    }

    private void completed(String topic, int bytes, RecordMetadata metadata, Exception exception) {
        if (exception instanceof RecordTooLargeException && failure == null) { // which knows neither the topic nor the record
            failure = new RecordTooLargeException("A result of " + bytes + " bytes of key, value and headers is too large for topic '"
                + topic + "'. " + exception.getMessage());
        } else if (exception != null && failure == null) {
            failure = exception;
        } else if (exception == null) {
            ends.merge(new TopicPartition(metadata.topic(), metadata.partition()), metadata.offset() + 1L, Math::max);
        }
    }

    /** at once: what still waits is not sent. */
    void close(boolean atOnce) {
        boolean interrupted = Thread.interrupted();
        producer.close(atOnce ? Duration.ZERO : Duration.ofSeconds(5L));
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Headers of a row as pairs of bytes. */
    static List<byte[][]> headers(InternalRow row, int index) {
        if (row.isNullAt(index)) {
            return List.of();
        }
        ArrayData given = row.getArray(index);
        List<byte[][]> found = new ArrayList<>();
        for (int i = 0; i < given.numElements(); i++) {
            InternalRow one = given.getStruct(i, 2);
            found.add(new byte[][] {one.getUTF8String(0).getBytes(), one.isNullAt(1) ? null : one.getBinary(1)});
        }
        return found;
    }

    /** The headers of a changelog record: the row that it replaced, and the number of the batch, each unless null. */
    static List<byte[][]> changelogHeaders(byte[] old, byte[] number) {
        List<byte[][]> found = new ArrayList<>(2);
        if (old != null) {
            found.add(new byte[][] {OLD.getBytes(), old});
        }
        if (number != null) {
            found.add(new byte[][] {BATCH.getBytes(), number});
        }
        return found;
    }

    /** Pairs of bytes as Spark has headers. */
    static ArrayData array(List<byte[][]> headers) {
        Object[] found = new Object[headers.size()];
        for (int i = 0; i < found.length; i++) {
            byte[][] one = headers.get(i);
            found[i] = new GenericInternalRow(new Object[] {UTF8String.fromBytes(one[0]), one[1]});
        }
        return new GenericArrayData(found);
    }
}
