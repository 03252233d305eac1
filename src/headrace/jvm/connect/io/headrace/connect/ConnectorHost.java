package io.headrace.connect;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.connect.connector.Connector;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.runtime.HostEnvironment;
import org.apache.kafka.connect.source.ConnectorTransactionBoundaries;
import org.apache.kafka.connect.source.ExactlyOnceSupport;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceConnectorContext;
import org.apache.kafka.connect.sink.SinkConnector;
import org.apache.kafka.connect.sink.SinkConnectorContext;
import org.apache.kafka.connect.storage.OffsetStorageReader;
import org.apache.kafka.connect.util.ConnectUtils;
import org.slf4j.MDC;

/**
 * A connector that runs: what the worker asks of it, and what it may ask of the worker.
 *
 * <p>It is called by one thread at a time: what stops it waits for a start that has not returned.
 */
final class ConnectorHost implements SourceConnectorContext, SinkConnectorContext {
    private final String id;
    private final String context;
    private final Connector connector;
    private final Events events;
    private final StoredOffsets offsets;
    private final PluginMetricsImpl metrics;

    ConnectorHost(String id, String name, Connector connector, Events events, PluginMetricsImpl metrics) {
        this.id = id;
        this.context = "[" + name + "|worker] ";
        this.connector = connector;
        this.events = events;
        this.offsets = new StoredOffsets(id, events);
        this.metrics = metrics;
    }

    synchronized void start(Map<String, String> props) {
        try (ContextLoader swapped = ContextLoader.in(connector); MDC.MDCCloseable whose = MDC.putCloseable("connector.context", context)) {
            connector.initialize(this);
            connector.start(props);
        }
    }

    /** The configurations of its tasks, at most `most` of them by its own promise. */
    synchronized List<Map<String, String>> taskConfigs(int most) {
        try (ContextLoader swapped = ContextLoader.in(connector); MDC.MDCCloseable whose = MDC.putCloseable("connector.context", context)) {
            List<Map<String, String>> configs = new ArrayList<>();
            for (Map<String, String> config : connector.taskConfigs(most)) {
                configs.add(new LinkedHashMap<>(config));
            }
            return configs;
        }
    }

    void stop() {
        offsets.close(); // whoever waits for an answer returns
        stopConnector();
    }

    /** It has not stopped in time, and is left behind: another instance adds its own metrics under the same names. */
    void cancel() {
        HostEnvironment.close(metrics);
    }

    private synchronized void stopConnector() {
        try (ContextLoader swapped = ContextLoader.in(connector); MDC.MDCCloseable whose = MDC.putCloseable("connector.context", context)) {
            connector.stop();
        } finally {
            HostEnvironment.close(metrics);
        }
    }

    /** Whether a source promises exactly once with this configuration; null: it does not say. */
    static Boolean exactlyOnce(Connector connector, Map<String, String> props) {
        ExactlyOnceSupport support = ((SourceConnector) connector).exactlyOnceSupport(props);
        return support == null ? null : support == ExactlyOnceSupport.SUPPORTED;
    }

    /** Whether the tasks of a source can say where transactions end; null: it does not say. */
    static Boolean definesTransactions(Connector connector, Map<String, String> props) {
        ConnectorTransactionBoundaries boundaries = ((SourceConnector) connector).canDefineTransactionBoundaries(props);
        return boundaries == null ? null : boundaries == ConnectorTransactionBoundaries.SUPPORTED;
    }

    /**
     * changes: of a source, pairs of a partition and an offset (or null), as Connect's JSON; of a sink, a topic, its partition and
     * an offset (or null). Returns what the connector answers. Raises ConnectException, with Kafka's sentences for other exceptions.
     */
    static boolean alterOffsets(Connector connector, Map<String, String> props, List<List<Object>> changes) {
        String kind = connector instanceof SinkConnector ? "sink" : "source";
        try {
            return altered(connector, props, changes);
        } catch (UnsupportedOperationException e) {
            throw new ConnectException("Failed to modify offsets for connector " + props.get("name") + " because it doesn't support "
                + "external modification of offsets", e);
        } catch (RuntimeException | LinkageError e) {
            throw ConnectUtils.maybeWrap(e, "Failed to modify offsets for " + kind + " connector " + props.get("name"));
        }
    }

    private static boolean altered(Connector connector, Map<String, String> props, List<List<Object>> changes) {
        if (connector instanceof SinkConnector) {
            Map<TopicPartition, Long> offsets = new LinkedHashMap<>();
            for (List<Object> change : changes) {
                Object offset = change.get(2);
                TopicPartition partition = new TopicPartition((String) change.get(0), (Integer) change.get(1));
                offsets.put(partition, offset == null ? null : ((Number) offset).longValue());
            }
            return ((SinkConnector) connector).alterOffsets(props, offsets);
        }
        Map<Map<String, ?>, Map<String, ?>> offsets = new LinkedHashMap<>();
        for (List<Object> change : changes) {
            offsets.put(Json.offset((String) change.get(0)), Json.offset((String) change.get(1)));
        }
        return ((SourceConnector) connector).alterOffsets(props, offsets);
    }

    @Override
    public void requestTaskReconfiguration() {
        events.tell("reconfigure", id, "");
    }

    @Override
    public void raiseError(Exception e) {
        events.tell("error", id, Failure.trace(e));
    }

    @Override
    public OffsetStorageReader offsetStorageReader() {
        return offsets;
    }

    @Override
    public PluginMetrics pluginMetrics() {
        return metrics;
    }
}
