package org.example;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.source.ConnectorTransactionBoundaries;
import org.apache.kafka.connect.source.ExactlyOnceSupport;
import org.apache.kafka.connect.source.SourceConnector;

/** Counts, in as many tasks as it may; throws in the method that `fail` names, and writes down in `journal` what is called. */
public class CountingSourceConnector extends SourceConnector {
    private Map<String, String> props;
    private int answers; // of taskConfigs

    @Override
    public String version() {
        try (InputStream in = getClass().getResourceAsStream("/version.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef()
            .define("topic", ConfigDef.Type.STRING, ConfigDef.Importance.HIGH, "Where the numbers go.")
            .define("records", ConfigDef.Type.INT, 10, ConfigDef.Range.atLeast(0), ConfigDef.Importance.HIGH, "How many.")
            .define("journal", ConfigDef.Type.STRING, null, ConfigDef.Importance.LOW, "A file.")
            .define("fail", ConfigDef.Type.STRING, "", ConfigDef.Importance.LOW, "A method.")
            .define("secret", ConfigDef.Type.PASSWORD, null, ConfigDef.Importance.LOW, "Not to be seen.");
    }

    @Override
    public org.apache.kafka.common.config.Config validate(Map<String, String> config) {
        CountingSourceTask.failIf(config, "validate");
        return super.validate(config);
    }

    @Override
    public void start(Map<String, String> props) {
        this.props = props;
        CountingSourceTask.failIf(props, "connector.start");
        if (props.containsKey("reconfigure")) {
            context().requestTaskReconfiguration();
        }
        if (props.containsKey("raise")) {
            context().raiseError(new IllegalStateException(props.get("raise")));
        }
    }

    @Override
    public Class<? extends Task> taskClass() {
        CountingSourceTask.failIf(props, "taskClass");
        return CountingSourceTask.class;
    }

    @Override
    public List<Map<String, String>> taskConfigs(int maxTasks) {
        CountingSourceTask.failIf(props, "taskConfigs");
        List<Map<String, String>> configs = new ArrayList<>();
        int most = props.containsKey("reconfigure") && answers++ == 0 ? 1 : maxTasks;
        for (int task = 0; task < most; task++) {
            Map<String, String> config = new HashMap<>(props);
            config.put("counter", String.valueOf(task));
            if (config.containsKey("rename")) { // to what nobody takes for a secret
                config.put("renamed", config.remove("secret"));
            }
            configs.add(config);
        }
        return configs;
    }

    @Override
    public void stop() {
        CountingSourceTask.failIf(props, "connector.stop");
    }

    @Override
    public ExactlyOnceSupport exactlyOnceSupport(Map<String, String> config) {
        CountingSourceTask.failIf(config, "exactlyOnceSupport");
        return ExactlyOnceSupport.SUPPORTED;
    }

    @Override
    public ConnectorTransactionBoundaries canDefineTransactionBoundaries(Map<String, String> config) {
        return config.containsKey("transactions") ? ConnectorTransactionBoundaries.SUPPORTED : ConnectorTransactionBoundaries.UNSUPPORTED;
    }

    @Override
    public boolean alterOffsets(Map<String, String> config, Map<Map<String, ?>, Map<String, ?>> offsets) {
        CountingSourceTask.failIf(config, "alterOffsets");
        CountingSourceTask.note(config, "alterOffsets " + offsets);
        for (Map<String, ?> offset : offsets.values()) {
            if (offset != null && !(offset.get("at") instanceof Long)) {
                throw new org.apache.kafka.connect.errors.ConnectException("Offsets have a whole number 'at'");
            }
        }
        return true;
    }
}
