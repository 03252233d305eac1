package org.apache.kafka.connect.runtime;

import io.headrace.connect.OffsetsToStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.runtime.errors.ErrorHandlingMetrics;
import org.apache.kafka.connect.runtime.errors.ErrorReporter;
import org.apache.kafka.connect.runtime.errors.LogReporter;
import org.apache.kafka.connect.runtime.errors.ProcessingContext;
import org.apache.kafka.connect.runtime.errors.RetryWithToleranceOperator;
import org.apache.kafka.connect.runtime.isolation.LoaderSwap;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;
import org.apache.kafka.connect.storage.CloseableOffsetStorageReader;
import org.apache.kafka.connect.storage.ConnectorOffsetBackingStore;
import org.apache.kafka.connect.storage.OffsetStorageWriter;
import org.apache.kafka.connect.util.LoggingContext;
import org.apache.kafka.connect.util.TopicAdmin;
import org.apache.kafka.connect.util.TopicCreationGroup;

/** Kafka Connect's WorkerSourceTask, with a producer of its own; offsets are read from, and go to, the worker's store. */
public final class HostedSourceTask extends HostedTask {
    private static final Executor CLOSING = work -> new Thread(work, "plugin-producer-close").start();
    private final WorkerSourceTask task;
    private final OffsetsToStore store;
    /** Its own, as is the committer: a successor has the same id, and a `commit()` that hangs must not hold up those of other tasks. */
    private final ScheduledExecutorService commits;
    private volatile String failedAt; // where the last record that failed has

    /** reader: what the task asks for offsets; store: takes what is to be stored. */
    public HostedSourceTask(HostEnvironment environment, Parts<SourceRecord> parts, CloseableOffsetStorageReader reader,
            OffsetsToStore store) {
        super(environment, parts.id());
        this.store = store;
        commits = Executors.newSingleThreadScheduledExecutor(work -> {
            Thread thread = new Thread(work, "task-commits-" + id);
            thread.setDaemon(true);
            return thread;
        });
        try (LoaderSwap swap = SWAP.apply(parts.loader())) {
            task = made(parts, reader);
            prepare(task, parts.config, parts.loader());
        }
    }

    private WorkerSourceTask made(Parts<SourceRecord> parts, CloseableOffsetStorageReader reader) {
        ConnectMetrics metrics = environment.metrics;
        boolean creates = environment.config.topicCreationEnable();
        SourceConnectorConfig settings = new SourceConnectorConfig(environment.plugins, parts.settings, creates);
        ErrorHandlingMetrics errors = new ErrorHandlingMetrics(id, metrics);
        RetryWithToleranceOperator<SourceRecord> retries = new RetryWithToleranceOperator<>(settings.errorRetryTimeout(),
            settings.errorMaxDelayInMillis(), settings.errorToleranceType(), Time.SYSTEM, errors);
        TransformationChain<SourceRecord, SourceRecord> chain = new TransformationChain<>(parts.stages, retries);
        creates &= settings.usesTopicCreation();
        TopicAdmin admin = creates ? new TopicAdmin(new HashMap<>(parts.admin)) : null;
        Map<String, TopicCreationGroup> groups = creates ? TopicCreationGroup.configuredGroups(settings) : null;
        ConnectorOffsetBackingStore stored =
            ConnectorOffsetBackingStore.withOnlyWorkerStore(() -> LoggingContext.forOffsets(id), store, "");
        OffsetStorageWriter writer = new OffsetStorageWriter(stored, id.connector(), plain(true), plain(false));
        return new WorkerSourceTask(id, (SourceTask) parts.task, this, TargetState.STARTED, metrics.wrap(parts.key, id, true),
            metrics.wrap(parts.value, id, false), errors, metrics.wrap(parts.header, id), chain, producer(parts.producer), admin, groups,
            reader, writer, stored, environment.config, parts.state(), metrics, parts.loader(), Time.SYSTEM, retries, statuses, CLOSING,
            () -> List.of(new LogReporter.Source(id, settings, errors), new LastFailure()), parts.metadata(chain, environment.plugins),
            SWAP);
    }

    private static JsonConverter plain(boolean key) {
        JsonConverter converter = new JsonConverter();
        converter.configure(Map.of("schemas.enable", "false"), key);
        return converter;
    }

    private static KafkaProducer<byte[], byte[]> producer(Map<String, String> settings) {
        Map<String, Object> all = new HashMap<>(settings);
        all.put("key.serializer", ByteArraySerializer.class);
        all.put("value.serializer", ByteArraySerializer.class);
        try {
            return new KafkaProducer<>(all);
        } catch (KafkaException e) { // its own message says nothing
            throw e.getCause() instanceof RuntimeException ? (RuntimeException) e.getCause() : e;
        }
    }

    @Override
    public void start() {
        synchronized (commits) {
            if (!commits.isShutdown()) { // else it was stopped before it could start, which it does to close what it has
                new SourceTaskOffsetCommitter(environment.config, commits, new ConcurrentHashMap<>()).schedule(id, task);
            }
        }
        super.start();
    }

    @Override
    public void abandon() {
        store.end();
        super.abandon();
    }

    @Override
    public boolean stop(long waitMs) {
        synchronized (commits) {
            commits.shutdown(); // which does not interrupt a commit
        }
        return super.stop(waitMs);
    }

    @Override
    Throwable explained(Throwable failure) {
        String where = failedAt;
        boolean refused = where != null && failure instanceof ConnectException && failure.getCause() != null
            && String.valueOf(failure.getMessage()).startsWith("Tolerance exceeded");
        return refused ? new ConnectException(failure.getMessage() + ": " + where, failure.getCause()) : failure;
    }

    /** Remembers where the last record that failed has: Kafka's own error does not say it. */
    private final class LastFailure implements ErrorReporter<SourceRecord> {
        @Override
        public Future<RecordMetadata> report(ProcessingContext<SourceRecord> context) {
            failedAt = context.stage() + " by " + context.executingClass().getName() + " failed for the record at source offset "
                + context.original().sourceOffset();
            return CompletableFuture.completedFuture(null);
        }
    }
}
