package io.headrace.connect;

import static io.headrace.Cases.equal;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;
import org.apache.kafka.connect.transforms.Transformation;

/** What a polled task delivers, and what ends it. */
final class SourceTaskHostCases {
    private static final long WAIT_MS = 60_000;
    private static final Map<String, Object> FAILING = Map.of("alias", "picky", "class", Picky.class.getName(), "props", Map.of());

    private SourceTaskHostCases() {
    }

    static void whatTransactionsHaveBeforeARecordThatFailsIsDelivered() throws Throwable {
        List<SourceRecord> records = List.of(record(1), record(2), record(3), record(4), record(-5));
        Listed task = new Listed(records, records.get(2));
        SourceTaskHost host = host(task, List.of(FAILING), true);
        equal(delivered(host), List.of(1L, 2L, 3L));
        equal(failure(host), "Tolerance exceeded in error handler: Transform picky failed for the record at source offset {at=-5}");
    }

    static void theEndOfAPollEndsItsTransactionIfAllOfItIsHere() throws Throwable {
        SourceTaskHost host = host(new Listed(List.of(record(1), record(2)), null), List.of(FAILING), true);
        equal(delivered(host), List.of(1L, 2L));
        host = host(new Listed(List.of(record(1), record(-2)), null), List.of(FAILING), true);
        equal(delivered(host), List.of());
    }

    static void aNullAmongTheRecordsOfAPollIsLeftOut() throws Throwable {
        equal(delivered(polling(record(1), null, record(2))), List.of(1L, 2L));
    }

    /** A task that has these records, and no transforms. */
    static SourceTaskHost polling(SourceRecord... records) {
        return host(new Listed(Arrays.asList(records), null), List.of(), false);
    }

    /** The records of the next range, by their offsets; none once the task has failed. */
    private static List<Object> delivered(SourceTaskHost host) {
        List<Object> delivered = new ArrayList<>();
        try {
            Map<String, Object> cut = host.cut(100, false, WAIT_MS);
            for (SourceRecord record : host.read((Long) cut.get("from"), (Long) cut.get("to"))) {
                delivered.add(record.sourceOffset().get("at"));
            }
            host.acknowledge((Long) cut.get("to"));
        } catch (Throwable e) {
            return delivered;
        }
        return delivered;
    }

    private static String failure(SourceTaskHost host) {
        try {
            return "records " + host.cut(100, false, WAIT_MS);
        } catch (Throwable e) {
            return e.getMessage();
        }
    }

    private static SourceTaskHost host(SourceTask task, List<Map<String, Object>> stages, boolean transactional) {
        TransformationChain<SourceRecord> chain = new TransformationChain<>(
            new PluginLoaders(SourceTaskHostCases.class.getClassLoader()), stages);
        StoredOffsets offsets = new StoredOffsets("c-0", new Events());
        SourceTaskHost host = new SourceTaskHost("c-0", "[c|task-0] ", task, Map.of(), offsets, chain, Retries.of(Map.of()),
            transactional, null, List.of());
        host.start();
        return host;
    }

    private static SourceRecord record(long at) {
        return new SourceRecord(Map.of("p", "1"), Map.of("at", at), "t", Schema.INT64_SCHEMA, at);
    }

    /** One poll of these records, then none; a transaction ends at one of them, or with the poll. */
    static final class Listed extends SourceTask {
        private final LinkedBlockingQueue<List<SourceRecord>> polls = new LinkedBlockingQueue<>();
        private final SourceRecord end;

        Listed(List<SourceRecord> records, SourceRecord end) {
            polls.add(records);
            this.end = end;
        }

        @Override
        public String version() {
            return "1";
        }

        @Override
        public void start(Map<String, String> props) {
        }

        @Override
        public List<SourceRecord> poll() throws InterruptedException {
            List<SourceRecord> records = polls.take();
            if (context.transactionContext() != null && end != null) {
                context.transactionContext().commitTransaction(end);
            } else if (context.transactionContext() != null) {
                context.transactionContext().commitTransaction();
            }
            return records;
        }

        @Override
        public void stop() {
        }
    }

    /** Fails for negative values. */
    public static final class Picky implements Transformation<SourceRecord> {
        @Override
        public SourceRecord apply(SourceRecord record) {
            if ((Long) record.value() < 0) {
                throw new IllegalArgumentException("negative");
            }
            return record;
        }

        @Override
        public ConfigDef config() {
            return new ConfigDef();
        }

        @Override
        public void configure(Map<String, ?> props) {
        }

        @Override
        public void close() {
        }
    }
}
