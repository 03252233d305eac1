package org.example;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.metrics.Monitorable;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Whether the number is, and how many were; throws with `throw`, and for `passing` calls. */
public class IsOdd<R extends ConnectRecord<R>> implements Predicate<R>, Monitorable {
    private long odd;
    private boolean throwing;
    private boolean closing;
    private Passing passing;

    @Override
    public void configure(Map<String, ?> props) {
        throwing = "yes".equals(props.get("throw"));
        closing = "close".equals(props.get("throw"));
        passing = new Passing(props);
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef();
    }

    @Override
    public boolean test(R record) {
        passing.check();
        if (throwing) {
            throw new IllegalStateException("no luck in test");
        }
        boolean is = ((Number) ((Struct) record.value()).get("n")).longValue() % 2 == 1;
        odd += is ? 1 : 0;
        return is;
    }

    @Override
    public void withPluginMetrics(PluginMetrics metrics) {
        metrics.addMetric(metrics.metricName("odd", "How many were.", new LinkedHashMap<>()), (config, now) -> (double) odd);
    }

    @Override
    public void close() {
        if (closing) {
            throw new IllegalStateException("no luck in close");
        }
    }
}
