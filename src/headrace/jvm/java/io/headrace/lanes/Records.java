package io.headrace.lanes;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;

/** Kafka's records, as they come in and as they go out. */
final class Records {
    private Records() {
    }

    /** What a row of a chain is to a producer. */
    static ProducerRecord<byte[], byte[]> of(String topic, Integer partition, InternalRow row) {
        byte[] key = row.isNullAt(Chain.KEY) ? null : row.getBinary(Chain.KEY);
        byte[] value = row.isNullAt(Chain.VALUE) ? null : row.getBinary(Chain.VALUE);
        Long timestamp = row.isNullAt(Chain.TIMESTAMP) || row.getLong(Chain.TIMESTAMP) < 0 ? null : (Long) row.getLong(Chain.TIMESTAMP);
        RecordHeaders headers = row.isNullAt(Chain.HEADERS) ? null : headers(row.getArray(Chain.HEADERS));
        return new ProducerRecord<>(topic, partition, timestamp, key, value, headers);
    }

    /** What a producer of dead letters of its own is to write for a record that has failed. */
    static ProducerRecord<byte[], byte[]> letter(InternalRow row) {
        return of(row.getString(Chain.TOPIC), null, row);
    }

    /** Of key and value, in bytes. */
    static int size(ProducerRecord<byte[], byte[]> record) {
        return (record.key() == null ? 0 : record.key().length) + (record.value() == null ? 0 : record.value().length);
    }

    /** Of key and value, in bytes. */
    static int size(ConsumerRecord<byte[], byte[]> record) {
        return Math.max(0, record.serializedKeySize()) + Math.max(0, record.serializedValueSize());
    }

    /** How many bytes the headers of a record have. */
    static int size(Headers headers) {
        int size = 0;
        for (Header header : headers) {
            size += header.key().length() + (header.value() == null ? 0 : header.value().length);
        }
        return size;
    }

    /** The offset after a record. */
    static long end(ConsumerRecord<byte[], byte[]> record) {
        return record instanceof Line line ? line.next : record.offset() + 1;
    }

    /** Where a record is, in words. */
    static String place(Slot slot, long offset) {
        if (slot.part.spec.settings().files()) {
            return "file=" + slot.source.topic() + ", byte=" + offset;
        }
        return "topic=" + slot.source.topic() + ", partition=" + slot.source.partition() + ", offset=" + offset;
    }

    private static RecordHeaders headers(ArrayData rows) {
        RecordHeaders headers = new RecordHeaders();
        for (int i = 0; i < rows.numElements(); i++) {
            InternalRow row = rows.getStruct(i, 2);
            headers.add(new RecordHeader(row.getString(0), row.isNullAt(1) ? null : row.getBinary(1)));
        }
        return headers;
    }
}
