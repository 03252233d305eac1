package io.headrace.bench;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.source.SourceConnector;

/**
 * A source connector that reads topics of a Kafka cluster as typed data: `source.bootstrap.servers`, `source.partitions` (a list of
 * topic:partition), `source.value.converter` with what is below it.
 *
 * <p>Apache Kafka brings no such connector: MirrorSourceConnector passes bytes on, on which transforms of fields do nothing.
 */
public final class JsonTopicSource extends SourceConnector {
    private Map props;

    public void start(Map given) {
        props = given;
    }

    /** The partitions are dealt in turns, so that every task gets its share of each topic. */
    public List taskConfigs(int maxTasks) {
        String[] partitions = ((String) props.get(JsonTopicTask.PARTITIONS)).split(",");
        int count = Math.min(maxTasks, partitions.length);
        List configs = new ArrayList();
        for (int task = 0; task < count; task++) {
            StringBuilder own = new StringBuilder();
            for (int i = task; i < partitions.length; i += count) {
                own.append(own.length() == 0 ? "" : ",").append(partitions[i]);
            }
            Map config = new HashMap(props);
            config.put(JsonTopicTask.PARTITIONS, own.toString());
            configs.add(config);
        }
        return configs;
    }

    public Class taskClass() {
        return JsonTopicTask.class;
    }

    public void stop() {
    }

    public ConfigDef config() {
        return new ConfigDef();
    }

    public String version() {
        return "1";
    }
}
