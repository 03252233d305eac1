package org.example;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;
import org.apache.kafka.connect.source.SourceTaskContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Three numbers in each poll, from the stored offset on. */
public class CountingSourceTask extends SourceTask {
    private static final Schema VALUE = SchemaBuilder.struct().name("org.example.Number").field("n", Schema.INT64_SCHEMA)
        .field("word", Schema.OPTIONAL_STRING_SCHEMA).build();
    private static final byte[] LARGE = new byte[16 << 20];
    private static final Logger LOG = LoggerFactory.getLogger(CountingSourceTask.class);
    private Map<String, String> props;
    private Map<String, String> partition;
    private long at;
    private boolean retried;
    private int polls;

    static void failIf(Map<String, String> props, String method) {
        while (method.equals(props.get("hang")) && !(props.containsKey("until") && Files.exists(Path.of(props.get("until"))))) {
            java.util.concurrent.locks.LockSupport.parkNanos(1_000_000_000L);
        }
        if (method.equals(props.get("fail"))) {
            String secret = props.getOrDefault("renamed", props.get("secret"));
            String what = "no luck in " + method + (secret == null ? "" : " with " + secret);
            if (props.containsKey("linkage")) {
                throw new NoClassDefFoundError(what);
            }
            throw new IllegalStateException(what);
        }
    }

    @Override
    public String version() {
        return "1";
    }

    @Override
    public void initialize(SourceTaskContext context) {
        failIf(context.configs(), "initialize");
        super.initialize(context);
    }

    @Override
    public void start(Map<String, String> props) {
        this.props = props;
        partition = Map.of("counter", props.get("counter"));
        failIf(props, "start");
        at = stored();
        note("start at " + at);
        if (props.containsKey("warn")) {
            LOG.warn("logging in with {}", props.get("secret"), new IllegalStateException("refused\nfor " + props.get("secret")));
        }
        var metrics = context.pluginMetrics();
        metrics.addMetric(metrics.metricName("counted", "How far it is.", new java.util.LinkedHashMap<>()), (config, now) -> (double) at);
    }

    /** Ends the process after six records, once: `die` says how. */
    private void die() {
        if (at < 6 || !props.containsKey("die") || died()) {
            return;
        }
        note("died");
        if (props.get("die").equals("exit")) {
            System.exit(7);
        }
        List<byte[]> all = new ArrayList<>();
        while (true) {
            all.add(new byte[1 << 24]);
        }
    }

    private boolean died() {
        try {
            return Files.readString(Path.of(props.get("journal"))).contains("died");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private long stored() {
        Map<String, Object> offset = context.offsetStorageReader().offset(partition);
        return offset == null ? 0 : (Long) offset.get("at");
    }

    @Override
    public List<SourceRecord> poll() throws InterruptedException {
        failIf(props, "poll");
        die();
        if (props.containsKey("varied")) {
            return varied();
        }
        if (props.containsKey("interrupt")) {
            throw new InterruptedException();
        }
        if (!retried && props.containsKey("retry")) {
            retried = true;
            throw new RetriableException("again");
        }
        long end = Math.min(Long.parseLong(props.getOrDefault("records", "10")), at + 3);
        if (end <= at) {
            note("stored " + stored());
            LOG.info("at the end");
            Thread.sleep(100);
            return null;
        }
        if (props.containsKey("pace")) {
            Thread.sleep(Long.parseLong(props.get("pace")));
        }
        List<SourceRecord> records = new ArrayList<>();
        while (at < end) {
            if (props.containsKey("large")) {
                at++;
                records.add(new SourceRecord(partition, Map.of("at", at), props.get("topic"), Schema.BYTES_SCHEMA, LARGE));
                continue;
            }
            Struct value = new Struct(VALUE).put("n", at).put("word", at % 2 == 0 ? null : "odd");
            ConnectHeaders headers = new ConnectHeaders();
            headers.addInt("counted", (int) at);
            at++;
            records.add(new SourceRecord(partition, Map.of("at", at), props.get("topic"), null, Schema.STRING_SCHEMA,
                props.get("counter"), VALUE, value, 1700000000000L + at, headers));
            endTransaction(records.get(records.size() - 1));
        }
        return records;
    }

    /** Nothing, in each way there is; then a tombstone, a record with all sorts of headers, and two more. */
    private List<SourceRecord> varied() throws InterruptedException {
        if (++polls > 5) {
            Thread.sleep(100);
            return null;
        }
        note("poll " + polls + " stored " + context.offsetStorageReader().offset(partition));
        switch (polls) {
            case 1:
                return null;
            case 2:
                return List.of();
            case 3:
                throw new RetriableException("again");
            case 4:
                throw new org.apache.kafka.common.errors.TimeoutException("again, too");
            default:
        }
        ConnectHeaders headers = new ConnectHeaders();
        headers.addInt("int", 1).addBytes("bytes", new byte[] {1, 2}).add("null", null, null).addString("int", "again");
        headers.addStruct("struct", number(7));
        return List.of(
            new SourceRecord(partition, Map.of("at", 1L), props.get("topic"), 0, null, null, null, null, null, headers),
            new SourceRecord(partition, Map.of("at", 2L), props.get("topic"), null, null, Map.of("no", "schema"), VALUE, number(2), 2L, headers),
            new SourceRecord(partition, Map.of("at", 3L), props.get("topic"), Schema.STRING_SCHEMA, "key", VALUE, number(3)),
            new SourceRecord(partition, Map.of("at", 4L), props.get("topic"), 0, Schema.BYTES_SCHEMA, new byte[] {1}, VALUE, number(4), 4L));
    }

    private static Struct number(long number) {
        return new Struct(VALUE).put("n", number).put("word", "odd");
    }

    /** Five records each; the second of them is aborted. */
    private void endTransaction(SourceRecord record) {
        if (context.transactionContext() != null && at == 10) {
            context.transactionContext().abortTransaction(record);
        } else if (context.transactionContext() != null && at % 5 == 0) {
            context.transactionContext().commitTransaction(record);
        }
    }

    @Override
    public void commitRecord(SourceRecord record, RecordMetadata metadata) {
        failIf(props, "commitRecord");
        note("commitRecord " + record.sourceOffset().get("at") + (metadata == null ? "" : " " + metadata));
    }

    @Override
    public void commit() {
        failIf(props, "commit");
        note("commit");
    }

    @Override
    public void stop() {
        note("stop");
        failIf(props, "stop");
    }

    private void note(String what) {
        note(props, what);
    }

    static void note(Map<String, String> props, String what) {
        if (props.get("journal") != null) {
            try {
                Files.writeString(Path.of(props.get("journal")), what + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
