package org.apache.kafka.connect.runtime;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.connect.connector.Connector;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.connector.Task;
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
    final MemoryStatusBackingStore statuses = new MemoryStatusBackingStore(); // for the topics that it has had records of
    private WorkerTask<?, ?> task;
    private Thread thread;
    private List<KafkaMetric> measured;
    private boolean started;
    private boolean ended;
    private Throwable failure;

    /** What makes one task; plugins are configured already. */
    public static final class Parts<R extends ConnectRecord<R>> {
        public String connector;
        public int number;
        public Connector instance;
        public Task task;
        public Map<String, String> config; // of the task
        public Map<String, String> settings; // of the connector: `errors.…`, `topic.creation.…`, and its name
        public Map<String, String> consumer; // of a sink
        public Map<String, String> producer; // of a source; of a sink's dead letters
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
            return new TaskPluginsMetadata(instance.getClass(), task, key, value, header, chain.transformationChainInfo(), plugins);
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

    /** What the failure of the task says, where more is known than it says itself. */
    Throwable explained(Throwable failure) {
        return failure;
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
