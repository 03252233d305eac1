package io.headrace.connect;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.runtime.HostEnvironment;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.util.ConnectUtils;

/**
 * Source records as rows: topic, partition, key, value, headers, timestamp, source partition, source offset, failure; JDK types only.
 *
 * <p>The failure is of a record that could not be converted; the row has what could be.
 */
final class RecordRows implements Iterator<Object[]> {
    private static final int ROW_BYTES = 100; // beside what is in it
    private static final int FAILURE = 8;
    private final SourceTaskHost task;
    private final SourceRecord[] records;
    private final Converters converters;
    private final boolean origin;
    private int next;
    private long bytes;
    private boolean measured;
    private Map<String, ?> lastPartition;
    private String lastPartitionText;

    /** What key, value and headers become bytes by. */
    static final class Converters {
        final Converter key;
        final Converter value;
        final HeaderConverter header;
        final Retries retries;
        final List<?> secrets; // hidden in failures

        Converters(Converter key, Converter value, HeaderConverter header, Retries retries, List<?> secrets) {
            this.key = key;
            this.value = value;
            this.header = header;
            this.retries = retries;
            this.secrets = secrets;
        }

        /** Give them their metrics; what is returned ends both. */
        List<AutoCloseable> measured(HostEnvironment environment, String connector, int task) {
            return List.of(environment.measured(key, connector, task, "key"), environment.measured(value, connector, task, "value"),
                environment.measured(header, connector, task, null));
        }
    }

    /** from, to: numbers of records of the task; origin: whether the last two columns are asked for. */
    RecordRows(SourceTaskHost task, long from, long to, Converters converters, boolean origin) {
        this.task = task;
        this.records = task.read(from, to);
        this.converters = converters;
        this.origin = origin;
    }

    @Override
    public boolean hasNext() {
        if (next == records.length && !measured) {
            task.measure(records.length, bytes);
            measured = true;
        }
        return next < records.length;
    }

    @Override
    public Object[] next() {
        SourceRecord record = records[next++];
        Object[] row = new Object[FAILURE + 1];
        RecordHeaders headers = new RecordHeaders();
        step(row, "output.headers", () -> addHeaders(record, headers)); // first, as in Kafka Connect: the others may add to them
        row[0] = record.topic();
        row[1] = record.kafkaPartition();
        step(row, "input.key", () -> row[2] = converted(converters.key, record.topic(), headers, record.keySchema(), record.key()));
        step(row, "input.value",
            () -> row[3] = converted(converters.value, record.topic(), headers, record.valueSchema(), record.value()));
        row[4] = pairs(headers);
        bytes += ROW_BYTES + length(row[2]) + length(row[3]) + length((Object[]) row[4]);
        row[5] = ConnectUtils.checkAndConvertTimestamp(record.timestamp()); // -1 is none
        if (origin) {
            if (lastPartitionText == null || record.sourcePartition() != lastPartition) { // a partition may be null, too
                lastPartition = record.sourcePartition();
                lastPartitionText = Json.text(lastPartition);
            }
            row[6] = lastPartitionText;
            row[7] = Json.text(record.sourceOffset());
            bytes += lastPartitionText.length() + ((String) row[7]).length();
        }
        return row;
    }

    /** A step of the conversion; step: as compiled chains name it. What the first one throws is the row's failure. */
    private void step(Object[] row, String step, Runnable conversion) {
        try {
            conversion.run();
        } catch (RuntimeException | LinkageError e) {
            row[FAILURE] = row[FAILURE] == null ? Failure.masked(Failure.ofRecord(step, e), converters.secrets) : row[FAILURE];
        }
    }

    private byte[] converted(Converter converter, String topic, RecordHeaders headers, Schema schema, Object data) {
        try (ContextLoader swapped = ContextLoader.in(converter)) { // rows are read on threads of Spark, too
            return converters.retries.call(() -> converter.fromConnectData(topic, headers, schema, data));
        }
    }

    private static int length(Object converted) {
        return converted == null ? 0 : ((byte[]) converted).length;
    }

    private static long length(Object[] pairs) {
        long bytes = 0;
        for (Object pair : pairs) {
            bytes += ((String) ((Object[]) pair)[0]).length() + length(((Object[]) pair)[1]);
        }
        return bytes;
    }

    private void addHeaders(SourceRecord record, RecordHeaders headers) {
        try (ContextLoader swapped = ContextLoader.in(converters.header)) {
            for (Header header : record.headers()) {
                headers.add(header.key(), converters.retries.call(
                    () -> converters.header.fromConnectHeader(record.topic(), header.key(), header.schema(), header.value())));
            }
        }
    }

    static Object[] pairs(RecordHeaders headers) {
        org.apache.kafka.common.header.Header[] all = headers.toArray();
        Object[] pairs = new Object[all.length];
        for (int i = 0; i < pairs.length; i++) {
            pairs[i] = new Object[] {all[i].key(), all[i].value()};
        }
        return pairs;
    }
}
