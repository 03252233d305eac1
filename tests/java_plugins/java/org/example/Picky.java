package org.example;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.Config;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.metrics.Gauge;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.slf4j.LoggerFactory;

/** Recommends and refuses values, and defines `topics`, which it does not pass on to its tasks. */
public class Picky extends CountingSourceConnector {
    /** Recommends two values of an option that is not to be seen. */
    static final class Two implements ConfigDef.Recommender {
        @Override
        public List<Object> validValues(String name, Map<String, Object> parsedConfig) {
            return List.of("a", "b");
        }

        @Override
        public boolean visible(String name, Map<String, Object> parsedConfig) {
            return false;
        }
    }

    @Override
    public void start(Map<String, String> props) {
        super.start(props);
        LoggerFactory.getLogger(Picky.class).debug("it starts\nwith {}", props.get("topic"));
        System.out.write(0xff); // no UTF-8
        System.out.println(" printed");
        PluginMetrics metrics = context().pluginMetrics();
        metrics.addMetric(metrics.metricName("average", "Of nothing.", new LinkedHashMap<>()), (config, now) -> Double.NaN);
        metrics.addMetric(metrics.metricName("broken", "Throws.", new LinkedHashMap<>()), (Gauge<Long>) (config, now) -> {
            throw new IllegalStateException("no luck in a gauge");
        });
        metrics.addMetric(metrics.metricName("tables", "Tables.", new LinkedHashMap<>()), (Gauge<Long>) (config, now) -> 2L);
    }

    @Override
    public List<Map<String, String>> taskConfigs(int maxTasks) {
        return List.of(Map.of("own", "yes"));
    }

    @Override
    public Config validate(Map<String, String> config) {
        return "nothing".equals(config.get("validate")) ? null : super.validate(config);
    }

    @Override
    public boolean alterOffsets(Map<String, String> config, Map<Map<String, ?>, Map<String, ?>> offsets) {
        if ("never".equals(config.get("alter"))) {
            throw new UnsupportedOperationException();
        }
        return super.alterOffsets(config, offsets);
    }

    @Override
    public ConfigDef config() {
        return super.config().define("tables", ConfigDef.Type.LIST, "", ConfigDef.Importance.HIGH, "Which.", "Tables", 1,
            ConfigDef.Width.LONG, "Tables", new Two())
            .define("delegate", ConfigDef.Type.CLASS, null, ConfigDef.Importance.LOW, "A class, by its name or alias.");
    }
}
