package io.headrace.lanes;

import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/** The way from the tasks that drive lanes to the driver: Spark's own RPC, where they are processes of their own. */
public final class LanePlugin implements SparkPlugin {
    private static volatile PluginContext executor;

    /** Whether this is the driver's process, in which tasks with a local master run, too. */
    static boolean isDriver() {
        return org.apache.spark.SparkContext$.MODULE$.DRIVER_IDENTIFIER().equals(SparkEnv.get().executorId());
    }

    static Message.Reply ask(Message.Ask ask) throws Exception {
        if (isDriver()) {
            return Plane.answer(ask);
        }
        if (executor == null) {
            throw new IllegalStateException("The session has no spark.plugins=" + LanePlugin.class.getName());
        }
        return (Message.Reply) executor.ask(ask);
    }

    @Override
    public DriverPlugin driverPlugin() {
        return new DriverPlugin() {
            @Override
            public Map<String, String> init(SparkContext context, PluginContext plugin) {
                return Map.of();
            }

            @Override
            public Object receive(Object message) {
                return Plane.answer((Message.Ask) message);
            }
        };
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new ExecutorPlugin() {
            @Override
            public void init(PluginContext plugin, Map<String, String> extra) {
                executor = plugin;
            }
        };
    }
}
