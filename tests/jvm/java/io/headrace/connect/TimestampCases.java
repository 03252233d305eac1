package io.headrace.connect;

import static io.headrace.Cases.equal;

import io.headrace.TimestampInterceptor;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;

/** Timestamps that are none, on each way of a source's record to a producer: Kafka Connect takes -1 for none, and refuses less. */
final class TimestampCases {
    private static final long WAIT_MS = 60_000;
    private static final PluginLoaders PLUGINS = new PluginLoaders(TimestampCases.class.getClassLoader());

    private TimestampCases() {
    }

    static void aNegativeOneIsNoneToAProducerAndIsTakenOffTheHeaders() {
        for (String millis : List.of("-1", "-5")) {
            ProducerRecord<?, ?> sent = sent("trace", "__headrace.timestamp", millis);
            equal(sent.timestamp(), null);
            equal(sent.headers().toArray().length, 1);
        }
        equal(sent("trace", "__headrace.timestamp", "5").timestamp(), 5L);
        equal(sent("__headrace.timestamp", "trace", "5").headers().toArray().length, 2);
    }

    static void onesOfPolledRecordsBelowZeroAreNone() throws Throwable {
        Object[][] rows = rows(List.of(record(1L), record(-1L), record(null)));
        equal(new Object[] {rows[0][5], rows[1][5], rows[2][5]}, new Object[] {1L, null, null});
    }

    static void aPolledRecordWithAnInvalidOneEndsTheTaskAfterThoseBeforeIt() throws Throwable {
        SourceTaskHost host = SourceTaskHostCases.polling(record(1L), record(-5L));
        host.acknowledge((Long) host.cut(100, false, WAIT_MS).get("to"));
        try {
            host.cut(100, false, WAIT_MS);
            throw new AssertionError("it has not failed");
        } catch (org.apache.kafka.common.InvalidRecordException e) {
            equal(e.getMessage(), "Invalid record timestamp -5");
        }
    }

    static void onesOfRecordsInACompiledChainAreAsThoseOfPolledRecords() {
        equal(changed(-1L)[4], null);
        equal(changed(7L)[4], 7L);
        equal(((Object[]) changed(-5L)[0])[2], "Invalid record timestamp -5");
    }

    private static ProducerRecord<?, ?> sent(String name, String last, String value) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>("t", new byte[0]);
        record.headers().add(name, null).add(last, value.getBytes(StandardCharsets.US_ASCII));
        return new TimestampInterceptor().onSend(record);
    }

    private static SourceRecord record(Long timestamp) {
        return new SourceRecord(Map.of("p", "1"), Map.of("at", 1L), "t", null, null, null, Schema.INT64_SCHEMA, 1L, timestamp);
    }

    private static Object[][] rows(List<SourceRecord> records) throws Throwable {
        SourceTaskHost host = SourceTaskHostCases.polling(records.toArray(new SourceRecord[0]));
        host.cut(100, false, WAIT_MS);
        JsonConverter converter = Json.converter(false, false);
        RecordRows.Converters all =
            new RecordRows.Converters(converter, converter, new SimpleHeaderConverter(), Retries.of(Map.of()), List.of());
        RecordRows rows = new RecordRows(host, 0, records.size(), all, false);
        Object[][] read = new Object[records.size()][];
        for (int i = 0; i < read.length; i++) {
            read[i] = rows.next();
        }
        return read;
    }

    private static Object[] changed(Long timestamp) {
        Map<String, Object> header = Map.of("class", SimpleHeaderConverter.class.getName(), "props", Map.of());
        ChainCall call = ChainCall.of(PLUGINS, Map.of("kind", "stages", "stages", List.of(), "header", header));
        Object[] parts = {"t", null, null, timestamp, null, null, null, null, new Object[0], "t"};
        return call.call(parts, Retries.of(Map.of()));
    }
}
