package org.apache.kafka.connect.runtime;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.internals.Plugin;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.connect.connector.Connector;
import org.apache.kafka.connect.runtime.errors.DeadLetterQueueReporter;
import org.apache.kafka.connect.runtime.errors.ErrorHandlingMetrics;
import org.apache.kafka.connect.runtime.errors.ErrorReporter;
import org.apache.kafka.connect.runtime.errors.LogReporter;
import org.apache.kafka.connect.runtime.errors.RetryWithToleranceOperator;
import org.apache.kafka.connect.runtime.errors.WorkerErrantRecordReporter;
import org.apache.kafka.connect.runtime.isolation.LoaderSwap;
import org.apache.kafka.connect.runtime.isolation.Plugins;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;
import org.apache.kafka.connect.storage.ClusterConfigState;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.storage.MemoryStatusBackingStore;
import org.apache.kafka.connect.util.ConnectorTaskId;

/**
 * A sink task as Kafka Connect itself runs it: its WorkerSinkTask, with a consumer of its own, on a thread of its own.
 *
 * <p>It stands in Kafka's package because WorkerSinkTask can be seen only there.
 */
public final class HostedSinkTask implements TaskStatus.Listener {
    private static final Function<ClassLoader, LoaderSwap> SWAP = loader -> new LoaderSwap(Plugins.compareAndSwapLoaders(loader));
    private final HostEnvironment environment;
    private final ConnectorTaskId id;
    private final WorkerSinkTask task;
    private final MemoryStatusBackingStore statuses = new MemoryStatusBackingStore(); // for the topics that it has had records of
    private final Thread thread;
    private List<KafkaMetric> measured;
    private boolean started;
    private boolean ended;
    private Throwable failure;

    /** What makes one task; plugins are configured already. */
    public static final class Parts {
        public String connector;
        public int number;
        public Connector instance;
        public SinkTask task;
        public Map<String, String> config; // of the task
        public Map<String, String> errors; // of the connector: `errors.…` and its name
        public Map<String, String> consumer;
        public Map<String, String> producer; // of dead letters, as the next
        public Map<String, String> admin;
        public Converter key;
        public Converter value;
        public HeaderConverter header;
        public List<TransformationStage<SinkRecord>> stages;
    }

    public HostedSinkTask(HostEnvironment environment, Parts parts) {
        this.environment = environment;
        this.id = new ConnectorTaskId(parts.connector, parts.number);
        ClassLoader loader = parts.task.getClass().getClassLoader();
        try (LoaderSwap swap = SWAP.apply(loader)) {
            this.task = made(parts, loader);
            task.initialize(new TaskConfig(parts.config));
        }
        this.thread = new Thread(task, "task-thread-" + id);
        thread.setDaemon(true);
        thread.setContextClassLoader(loader);
    }

    /** A transformation with its predicate, null for none. */
    public static TransformationStage<SinkRecord> stage(HostEnvironment environment, ConnectorTaskId task, Map<String, Object> described,
            org.apache.kafka.connect.transforms.Transformation<SinkRecord> transformation,
            org.apache.kafka.connect.transforms.predicates.Predicate<SinkRecord> predicate) {
        String alias = (String) described.get("alias");
        var wrapped = environment.metrics.wrap(transformation, task, alias);
        if (predicate == null) {
            return new TransformationStage<>(wrapped, alias, null, SWAP);
        }
        String name = (String) described.get("predicate_alias");
        return new TransformationStage<>(environment.metrics.wrap(predicate, task, name), name, null,
            (Boolean) described.get("negate"), wrapped, alias, null, SWAP);
    }

    private WorkerSinkTask made(Parts parts, ClassLoader loader) {
        ConnectMetrics metrics = environment.metrics;
        NoPlugins plugins = new NoPlugins();
        SinkConnectorConfig settings = new SinkConnectorConfig(plugins, parts.errors);
        ErrorHandlingMetrics errors = new ErrorHandlingMetrics(id, metrics);
        RetryWithToleranceOperator<ConsumerRecord<byte[], byte[]>> retries = new RetryWithToleranceOperator<>(
            settings.errorRetryTimeout(), settings.errorMaxDelayInMillis(), settings.errorToleranceType(), Time.SYSTEM, errors);
        TransformationChain<ConsumerRecord<byte[], byte[]>, SinkRecord> chain = new TransformationChain<>(parts.stages, retries);
        boolean reports = !Utils.isBlank(settings.dlqTopicName()) || settings.enableErrorLog();
        WorkerErrantRecordReporter reporter = reports
            ? new WorkerErrantRecordReporter(retries, parts.key, parts.value, parts.header) : null;
        TaskPluginsMetadata metadata = new TaskPluginsMetadata(parts.instance.getClass(), parts.task, parts.key, parts.value,
            parts.header, chain.transformationChainInfo(), plugins);
        Map<ConnectorTaskId, Map<String, String>> configs = Map.of(id, parts.config);
        ClusterConfigState state = new ClusterConfigState(0, null, Map.of(), Map.of(), Map.of(), configs, Map.of(), Map.of(), Map.of(),
            Set.of(), Set.of());
        Plugin<Converter> key = metrics.wrap(parts.key, id, true);
        Plugin<Converter> value = metrics.wrap(parts.value, id, false);
        Plugin<HeaderConverter> header = metrics.wrap(parts.header, id);
        return new WorkerSinkTask(id, parts.task, this, TargetState.STARTED, environment.config, state, metrics, key, value, errors,
            header, chain, consumer(parts.consumer), loader, Time.SYSTEM, retries, reporter, statuses,
            () -> reporters(parts, settings, errors), metadata, SWAP);
    }

    private static KafkaConsumer<byte[], byte[]> consumer(Map<String, String> settings) {
        Map<String, Object> all = new HashMap<>(settings);
        all.put("key.deserializer", ByteArrayDeserializer.class);
        all.put("value.deserializer", ByteArrayDeserializer.class);
        try {
            return new KafkaConsumer<>(all);
        } catch (KafkaException e) { // its own message says nothing
            throw e.getCause() instanceof RuntimeException ? (RuntimeException) e.getCause() : e;
        }
    }

    private List<ErrorReporter<ConsumerRecord<byte[], byte[]>>> reporters(Parts parts, SinkConnectorConfig settings,
            ErrorHandlingMetrics errors) {
        List<ErrorReporter<ConsumerRecord<byte[], byte[]>>> reporters = new ArrayList<>();
        reporters.add(new LogReporter.Sink(id, settings, errors));
        if (!Utils.isBlank(settings.dlqTopicName())) {
            Map<String, Object> producer = new HashMap<>(parts.producer);
            producer.put("key.serializer", ByteArraySerializer.class.getName());
            producer.put("value.serializer", ByteArraySerializer.class.getName());
            reporters.add(DeadLetterQueueReporter.createAndSetup(new HashMap<>(parts.admin), id, settings, producer, errors));
        }
        return reporters;
    }

    public void start() {
        thread.start();
    }

    /** Wait until the task has started, or has failed; returns false if that takes longer. Throws what it has failed with. */
    public synchronized boolean awaitStart(long waitMs) throws Throwable {
        long until = System.currentTimeMillis() + waitMs;
        for (long left = waitMs; !started && !ended && left > 0; left = until - System.currentTimeMillis()) {
            wait(left);
        }
        throwFailure();
        return started;
    }

    /** `topics`: those that it has had records of since the last look; `figures`: its metrics by name. Waits so long; throws what it has failed with. */
    public synchronized Map<String, Object> look(long waitMs) throws Throwable {
        if (!ended) {
            wait(waitMs);
        }
        throwFailure();
        Map<String, Object> answer = new LinkedHashMap<>();
        Set<String> topics = new TreeSet<>();
        statuses.getAllTopics(id.connector()).forEach(status -> topics.add(status.topic()));
        topics.forEach(topic -> statuses.deleteTopic(id.connector(), topic)); // the worker keeps them, and may forget them
        answer.put("topics", topics);
        answer.put("figures", figures());
        return answer;
    }

    private Map<String, Double> figures() {
        if (measured == null) { // looked for once: all tasks of the process are in one registry
            measured = environment.ofTask(id);
        }
        Map<String, Double> figures = new HashMap<>();
        for (KafkaMetric metric : measured) {
            if (metric.metricValue() instanceof Double value) {
                figures.put(metric.metricName().name(), value.isNaN() ? 0.0 : value);
            }
        }
        return figures;
    }

    private void throwFailure() throws Throwable {
        if (failure != null && ended) {
            throw failure;
        }
    }

    /** Have the task stop; returns whether it has within so long. If not it ends later, and nothing of it is heard. */
    public boolean stop(long waitMs) {
        task.stop();
        boolean stopped = !thread.isAlive() || task.awaitStop(waitMs);
        if (!stopped) {
            task.cancel();
        }
        task.removeMetrics();
        return stopped;
    }

    @Override
    public synchronized void onStartup(ConnectorTaskId task) {
        started = true;
        notifyAll();
    }

    @Override
    public synchronized void onFailure(ConnectorTaskId task, Throwable cause) {
        failure = cause;
        ended = true;
        notifyAll();
    }

    @Override
    public synchronized void onShutdown(ConnectorTaskId task) {
        ended = true;
        notifyAll();
    }

    @Override
    public void onPause(ConnectorTaskId task) {
    }

    @Override
    public void onResume(ConnectorTaskId task) {
    }

    @Override
    public void onDeletion(ConnectorTaskId task) {
    }

    @Override
    public void onRestart(ConnectorTaskId task) {
    }

    /** Says that there is no further plugin: nothing is looked for by the name of a class here. */
    private static final class NoPlugins extends Plugins {
        NoPlugins() {
            super(Map.of("plugin.discovery", "service_load")); // without a path: what is on the class path, at once
        }

        @Override
        public String pluginVersion(String name, ClassLoader loader, org.apache.kafka.connect.runtime.isolation.PluginType... types) {
            return null;
        }
    }
}
