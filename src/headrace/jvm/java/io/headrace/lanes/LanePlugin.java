package io.headrace.lanes;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.UncheckedIOException;
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
        return (Message.Reply) read((byte[]) executor.ask(bytes(ask)));
    }

    /** As bytes: Spark's RPC reads no classes of `spark.jars`. */
    private static byte[] bytes(Message message) {
        try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            ObjectOutputStream out = new ObjectOutputStream(bytes);
            out.writeObject(message);
            out.flush();
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Object read(byte[] bytes) {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
            @Override
            protected Class<?> resolveClass(ObjectStreamClass named) throws ClassNotFoundException {
                return Class.forName(named.getName(), false, LanePlugin.class.getClassLoader());
            }
        }) {
            return in.readObject();
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
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
                return bytes(Plane.answer((Message.Ask) read((byte[]) message)));
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
