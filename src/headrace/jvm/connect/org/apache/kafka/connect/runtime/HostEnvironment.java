package org.apache.kafka.connect.runtime;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.connect.runtime.isolation.Plugins;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;
import org.apache.kafka.connect.util.ConnectorTaskId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What connectors and tasks of this process share: settings of the worker, and metrics, which plugins may add theirs to (KIP-877). */
public final class HostEnvironment {
    private static final Logger LOG = LoggerFactory.getLogger(HostEnvironment.class);
    private static final Map<String, String> DEFAULTS = Map.of("bootstrap.servers", "localhost:9092",
        "key.converter", "org.apache.kafka.connect.json.JsonConverter", "value.converter", "org.apache.kafka.connect.json.JsonConverter");
    final WorkerConfig config;
    final ConnectMetrics metrics;
    final Plugins plugins = new NoPlugins();
    private final Set<List<Object>> measured = ConcurrentHashMap.newKeySet();

    /** Closed once: when one that was left behind ends at last, the metrics of these names are another instance's. */
    private static final class OwnMetrics extends PluginMetricsImpl {
        private final AtomicBoolean closed = new AtomicBoolean();

        OwnMetrics(Metrics metrics, Map<String, String> tags) {
            super(metrics, tags);
        }

        @Override
        public void close() throws IOException {
            if (closed.compareAndSet(false, true)) {
                super.close();
            }
        }
    }

    /** props: the worker's, as far as tasks read them. */
    public HostEnvironment(Map<String, String> props) {
        Map<String, String> all = new HashMap<>(DEFAULTS);
        all.putAll(props);
        config = new WorkerConfig(WorkerConfig.baseConfigDef(), all);
        metrics = new ConnectMetrics("headrace", config, Time.SYSTEM, "");
    }

    /** Where a connector adds its metrics; close it with the connector. */
    public PluginMetricsImpl ofConnector(String name) {
        return new OwnMetrics(metrics.metrics(), Map.of("connector", name));
    }

    /** The same of a task. */
    public PluginMetricsImpl ofTask(String connector, int number) {
        Map<String, String> tags = new LinkedHashMap<>();
        tags.put("connector", connector);
        tags.put("task", String.valueOf(number));
        return new OwnMetrics(metrics.metrics(), tags);
    }

    /**
     * Gives a plugin its metrics; what is returned ends both. alias: of a transformation or predicate; `key`, `value`; null: headers.
     *
     * <p>Of several instances of one plugin of a task the first has metrics: those of the others would have the same names.
     */
    public AutoCloseable measured(AutoCloseable plugin, String connector, int number, String alias) {
        String kind = plugin instanceof Transformation ? "transformation" : plugin instanceof Predicate ? "predicate" : "converter";
        List<Object> name = Arrays.asList(kind, alias, connector, number);
        if (!measured.add(name)) {
            return plugin;
        }
        try {
            AutoCloseable wrapped = wrapped(plugin, new ConnectorTaskId(connector, number), alias);
            return () -> {
                measured.remove(name);
                wrapped.close();
            };
        } catch (RuntimeException | LinkageError e) { // the plugin's own
            measured.remove(name);
            throw e;
        }
    }

    @SuppressWarnings("unchecked")
    private AutoCloseable wrapped(Object plugin, ConnectorTaskId task, String alias) {
        if (plugin instanceof Transformation) {
            return metrics.wrap((Transformation<SourceRecord>) plugin, task, alias);
        } else if (plugin instanceof Predicate) {
            return metrics.wrap((Predicate<SourceRecord>) plugin, task, alias);
        } else if (alias == null) {
            return metrics.wrap((HeaderConverter) plugin, task);
        }
        return metrics.wrap((Converter) plugin, task, "key".equals(alias));
    }

    public static void close(Closeable metrics) {
        Utils.closeQuietly(metrics, "metrics of a plugin");
    }

    /** The metrics of plugins: `name`, `value` (as a text, which may be `NaN`) and `tags` of each that is a number. */
    public List<Map<String, Object>> ofPlugins() {
        List<Map<String, Object>> found = new ArrayList<>();
        for (Map.Entry<MetricName, KafkaMetric> metric : metrics.metrics().metrics().entrySet()) {
            MetricName name = metric.getKey();
            if (name.group().equals("plugins") && name.tags().containsKey("connector")
                    && measured(metric.getValue()) instanceof Number value) {
                found.add(Map.of("name", name.name(), "value", String.valueOf(value.doubleValue()), "tags", name.tags()));
            }
        }
        return found;
    }

    /** null if the plugin throws: the others are to be seen all the same. */
    private static Object measured(KafkaMetric metric) {
        try {
            return metric.metricValue();
        } catch (RuntimeException | LinkageError e) {
            LOG.debug("The metric {} has no value", metric.metricName(), e);
            return null;
        }
    }

    /** Kafka Connect's metrics of a task, which are there as long as the task is. */
    List<KafkaMetric> ofTask(ConnectorTaskId task, Collection<?> names) {
        List<KafkaMetric> found = new ArrayList<>();
        for (KafkaMetric metric : metrics.metrics().metrics().values()) {
            Map<String, String> tags = metric.metricName().tags();
            if (task.connector().equals(tags.get("connector")) && String.valueOf(task.task()).equals(tags.get("task"))
                    && metric.metricName().group().endsWith("-metrics") && names.contains(metric.metricName().name())) {
                found.add(metric);
            }
        }
        return found;
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
