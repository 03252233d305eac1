package org.apache.kafka.connect.runtime;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.connect.connector.Connector;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.runtime.isolation.LoaderSwap;
import org.apache.kafka.connect.runtime.isolation.Plugins;
import org.apache.kafka.connect.storage.ClusterConfigState;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.storage.MemoryStatusBackingStore;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;
import org.apache.kafka.connect.util.ConnectorTaskId;

/**
 * A task as Kafka Connect itself runs it: its WorkerTask, with clients of its own, on a thread of its own.
 *
 * <p>It stands in Kafka's package because WorkerTask's subclasses can be seen only there.
 */
public abstract class HostedTask implements TaskStatus.Listener {
    static final Function<ClassLoader, LoaderSwap> SWAP = loader -> new LoaderSwap(Plugins.compareAndSwapLoaders(loader));
    final HostEnvironment environment;
    final ConnectorTaskId id;
    /** For the topics that it has had records of since the last look. */
    final MemoryStatusBackingStore statuses = new MemoryStatusBackingStore() {
        @Override
        public void put(TopicStatus status) {
            super.put(status);
            synchronized (HostedTask.this) {
                HostedTask.this.notifyAll();
            }
        }
    };
    private WorkerTask<?, ?> task;
    private Thread thread;
    private List<KafkaMetric> measured;
    private boolean started;
    private boolean ended;
    private boolean stopping;
    private Throwable failure;

    /** What makes one task; plugins are configured already. */
    public static final class Parts<R extends ConnectRecord<R>> {
        public String connector;
        public int number;
        public Class<?> connectorClass;
        public Task task;
        public Map<String, String> config; // of the task
        public Map<String, String> settings; // of the connector: `errors.…`, `topic.creation.…`, and its name
        public Map<String, String> consumer; // of a sink
        public Map<String, String> producer; // of a source; of a sink's dead letters
        public List<?> secrets; // not to be said in dead letters
        public Map<String, String> admin; // what creates topics
        public Converter key;
        public Converter value;
        public HeaderConverter header;
        public List<TransformationStage<R>> stages;

        public ConnectorTaskId id() {
            return new ConnectorTaskId(connector, number);
        }

        ClassLoader loader() {
            return task.getClass().getClassLoader();
        }

        /** What the task's context reads its configuration from. */
        ClusterConfigState state() {
            return new ClusterConfigState(0, null, Map.of(), Map.of(), Map.of(), Map.of(id(), config), Map.of(), Map.of(), Map.of(),
                Set.of(), Set.of());
        }

        TaskPluginsMetadata metadata(TransformationChain<?, R> chain, Plugins plugins) {
            return new TaskPluginsMetadata(connectorClass.asSubclass(Connector.class), task, key, value, header,
                chain.transformationChainInfo(), plugins);
        }
    }

    HostedTask(HostEnvironment environment, ConnectorTaskId id) {
        this.environment = environment;
        this.id = id;
    }

    /** What is to run; called once, by the constructor of a subclass. */
    final void prepare(WorkerTask<?, ?> made, Map<String, String> config, ClassLoader loader) {
        task = made;
        task.initialize(new TaskConfig(config));
        thread = new Thread(task, "task-thread-" + id);
        thread.setDaemon(true);
        thread.setContextClassLoader(loader);
        // WorkerTask has logged and reported an Error before it throws it again: Spark would end the executor for it.
        thread.setUncaughtExceptionHandler((ended, error) -> { });
    }

    /** A transformation with its predicate, null for none. */
    public static <R extends ConnectRecord<R>> TransformationStage<R> stage(HostEnvironment environment, ConnectorTaskId task,
            Map<String, Object> described, Transformation<R> transformation, Predicate<R> predicate) {
        String alias = (String) described.get("alias");
        var wrapped = environment.metrics.wrap(transformation, task, alias);
        if (predicate == null) {
            return new TransformationStage<>(wrapped, alias, null, SWAP);
        }
        String name = (String) described.get("predicate_alias");
        return new TransformationStage<>(environment.metrics.wrap(predicate, task, name), name, null,
            (Boolean) described.get("negate"), wrapped, alias, null, SWAP);
    }

    public void start() {
        thread.start();
    }

    /** Wait until the task has started, or has failed; returns false if that takes longer. Throws what it has failed with. */
    public synchronized boolean awaitStart(long waitMs) throws Throwable {
        await(waitMs, () -> !started);
        throwFailure();
        return started;
    }

    /**
     * How the task is, after waiting: `topics`, those that it has had records of since the last look, and `figures`, metrics by name.
     *
     * @param waitMs so long once it has had records, so that the figures count those, too
     * @param idleWaitMs so long at most before, while it has none
     * @param names of the metrics, the same at each look: all that Kafka Connect has would be most of what a look costs
     * @throws Throwable what it has failed with
     */
    public synchronized Map<String, Object> state(long waitMs, long idleWaitMs, Collection<?> names) throws Throwable {
        await(idleWaitMs, () -> statuses.getAllTopics(id.connector()).isEmpty());
        await(waitMs, () -> true);
        throwFailure();
        Map<String, Object> answer = new LinkedHashMap<>();
        Set<String> topics = new TreeSet<>();
        statuses.getAllTopics(id.connector()).forEach(status -> topics.add(status.topic()));
        topics.forEach(topic -> statuses.deleteTopic(id.connector(), topic)); // the worker keeps them, and may forget them
        answer.put("topics", topics);
        answer.put("figures", figures(names));
        return answer;
    }

    /** Wait as long as this is so, at most so long; less if the task ends. */
    private synchronized void await(long waitMs, BooleanSupplier so) throws InterruptedException {
        long until = System.nanoTime() + waitMs * 1_000_000;
        for (long left = waitMs; left > 0 && !ended && !stopping && so.getAsBoolean(); left = (until - System.nanoTime()) / 1_000_000) {
            wait(left);
        }
    }

    private Map<String, Double> figures(Collection<?> names) {
        if (measured == null) { // looked for once: all tasks of the process are in one registry
            measured = environment.ofTask(id, names);
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
        if (ended && !stopping) { // Kafka Connect takes an InterruptedException for the end of the task
            throw new ConnectException("Task " + id + " has ended by itself: it was interrupted, or has thrown an InterruptedException");
        }
    }

    /** What the failure of the task says, where more is known than it says itself. */
    Throwable explained(Throwable failure) {
        return failure;
    }

    /** Signal that nothing of the task counts any more, and wait for nothing; `stop` follows. */
    public void abandon() {
        synchronized (this) {
            stopping = true;
            notifyAll();
        }
        task.stop();
        task.cancel();
    }

    /** Have the task stop; returns whether it has within so long. If not it ends later, and nothing of it is heard. */
    public boolean stop(long waitMs) {
        synchronized (this) {
            stopping = true;
            notifyAll();
        }
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
        failure = explained(cause);
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
}
