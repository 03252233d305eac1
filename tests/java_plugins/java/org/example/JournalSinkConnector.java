package org.example;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.sink.SinkConnector;

/** Writes down in `journal` what is called, and throws in the method that `fail` names; tasks do not get the topics from it. */
public class JournalSinkConnector extends SinkConnector {
    private Map<String, String> props;

    @Override
    public String version() {
        return "1.0";
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef().define("secret", ConfigDef.Type.PASSWORD, null, ConfigDef.Importance.LOW, "Not to be seen.");
    }

    @Override
    public void start(Map<String, String> props) {
        this.props = props;
        CountingSourceTask.failIf(props, "connector.start");
    }

    @Override
    public Class<? extends Task> taskClass() {
        return JournalSinkTask.class;
    }

    @Override
    public List<Map<String, String>> taskConfigs(int maxTasks) {
        List<Map<String, String>> configs = new ArrayList<>();
        for (int task = 0; task < maxTasks; task++) {
            Map<String, String> config = new java.util.HashMap<>(props);
            config.remove("topics");
            configs.add(config);
        }
        return configs;
    }

    @Override
    public void stop() {
        CountingSourceTask.failIf(props, "connector.stop");
    }

    @Override
    public boolean alterOffsets(Map<String, String> config, Map<TopicPartition, Long> offsets) {
        CountingSourceTask.note(config, "alterOffsets " + new TreeMap<>(offsets.entrySet().stream().collect(HashMap::new,
            (map, entry) -> map.put(entry.getKey().toString(), entry.getValue()), Map::putAll)));
        for (Long offset : offsets.values()) {
            if (offset != null && offset % 2 != 0) {
                throw new ConnectException("Offsets are even");
            }
        }
        return true;
    }
}
