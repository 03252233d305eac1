package org.example;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;
import org.apache.kafka.connect.sink.SinkTaskContext;

/** One line for each call; what a record with a certain value does is named by that value. */
public class JournalSinkTask extends SinkTask {
    private Map<String, String> props;
    private boolean rewound;
    private int retries;

    @Override
    public String version() {
        return "1";
    }

    @Override
    public void initialize(SinkTaskContext context) {
        CountingSourceTask.failIf(context.configs(), "initialize");
        super.initialize(context);
    }

    @Override
    public void start(Map<String, String> props) {
        this.props = props;
        note("start " + context.configs().equals(props) + " " + Thread.currentThread().getName());
        CountingSourceTask.failIf(props, "start");
        var metrics = context.pluginMetrics();
        metrics.addMetric(metrics.metricName("answer", "What it is.", new java.util.LinkedHashMap<>()), (config, now) -> 42.0);
    }

    @Override
    public void open(Collection<TopicPartition> partitions) {
        note("open " + new TreeSet<>(partitions.stream().map(TopicPartition::partition).toList()) + " " + context.assignment().size());
        CountingSourceTask.failIf(props, "open");
    }

    @Override
    public void put(Collection<SinkRecord> records) {
        if (records.isEmpty()) {
            return;
        }
        CountingSourceTask.failIf(props, "put");
        for (SinkRecord record : records) {
            String value = String.valueOf(record.value());
            if (value.equals("retry") && retries++ < 2) {
                note("again after " + retries);
                context.timeout(100);
                throw new RetriableException("later");
            }
        }
        for (SinkRecord record : records) {
            take(record, String.valueOf(record.value()));
        }
    }

    private void take(SinkRecord record, String value) {
        TopicPartition here = new TopicPartition(record.originalTopic(), record.originalKafkaPartition());
        note("put " + record.topic() + "-" + record.kafkaPartition() + "@" + record.kafkaOffset() + " " + record.key() + "=" + value
            + " " + record.timestampType() + " " + record.headers());
        switch (value) {
            case "errant":
                context.errantRecordReporter().report(record, new DataException("not this one " + props.get("secret")));
                break;
            case "rewind":
                if (!rewound) {
                    rewound = true;
                    context.offset(here, 0);
                }
                break;
            case "pause":
                context.pause(here);
                break;
            case "commit":
                context.requestCommit();
                break;
            default:
        }
    }

    @Override
    public Map<TopicPartition, OffsetAndMetadata> preCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {
        CountingSourceTask.failIf(props, "preCommit");
        Map<TopicPartition, OffsetAndMetadata> back = new HashMap<>(super.preCommit(offsets)); // which calls flush
        if (props.containsKey("hold")) {
            back.replaceAll((partition, offset) -> new OffsetAndMetadata(Math.max(0, offset.offset() - 1)));
        }
        return back;
    }

    @Override
    public void flush(Map<TopicPartition, OffsetAndMetadata> offsets) {
        CountingSourceTask.failIf(props, "flush");
    }

    @Override
    public void close(Collection<TopicPartition> partitions) {
        note("close " + new TreeSet<>(partitions.stream().map(TopicPartition::partition).toList()));
        CountingSourceTask.failIf(props, "close");
    }

    @Override
    public void stop() {
        note("stop");
        CountingSourceTask.failIf(props, "stop");
    }

    private void note(String line) {
        try {
            Files.writeString(Path.of(props.get("journal")), line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
