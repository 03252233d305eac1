package io.headrace.connect;

import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.sql.Driver;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.runtime.TaskConfig;
import org.apache.kafka.connect.runtime.isolation.PluginClassLoader;
import org.apache.kafka.connect.runtime.isolation.PluginUtils;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One loader for each location, as Kafka Connect has them, from what a scan has found: nothing is scanned here.
 *
 * <p>This loader itself is the parent of those: it finds the classes of plugins in their locations, the newest version of each,
 * and everything else among Connect's own.
 */
final class PluginLoaders extends URLClassLoader {
    static {
        ClassLoader.registerAsParallelCapable();
    }

    private static final Logger LOG = LoggerFactory.getLogger(PluginLoaders.class);
    private final Map<String, List<String>> urls = new LinkedHashMap<>();
    private final Map<String, String> newest = new LinkedHashMap<>();
    private final Map<String, String> aliases = new ConcurrentHashMap<>();
    private final Map<String, PluginClassLoader> loaders = new ConcurrentHashMap<>();
    private UnaryOperator<String> here = UnaryOperator.identity();

    PluginLoaders(ClassLoader connect) {
        super("plugins", new URL[0], connect);
    }

    /**
     * scan: `locations` (location to URLs), `newest` (class to location), and maybe `aliases` (short name to class). Locations that
     * are there stay as they are.
     */
    @SuppressWarnings("unchecked")
    synchronized void add(Map<String, Object> scan) {
        ((Map<String, List<String>>) scan.get("locations")).forEach(urls::putIfAbsent);
        aliases.putAll((Map<String, String>) scan.getOrDefault("aliases", Map.of()));
        ((Map<String, String>) scan.get("newest")).forEach((name, location) -> {
            if (PluginUtils.shouldLoadInIsolation(name) // else a plugin's loader asks this one first, as it does for Connect's own
                    && getParent().getResource(name.replace('.', '/') + ".class") == null) {
                newest.put(name, location);
            }
        });
    }

    /** finding: the URL on this machine of a file that the scan has found on the worker's. */
    synchronized void findFilesBy(UnaryOperator<String> finding) {
        here = finding;
    }

    /** Raises ConnectException for a location that no scan has named. */
    synchronized PluginClassLoader of(String location) {
        PluginClassLoader loader = loaders.get(location);
        if (loader == null) {
            if (!urls.containsKey(location)) {
                throw new ConnectException("The plugin location " + location + " is not in plugin.path");
            }
            URL[] files = urls.get(location).stream().map(here).map(PluginLoaders::url).toArray(URL[]::new);
            loader = new PluginClassLoader(url(location), files, this);
            loaders.put(location, loader);
            registerDrivers(loader);
        }
        return loader;
    }

    /** As DriverManager does with those on the class path, and Kafka Connect with those of each plugin. */
    private static void registerDrivers(ClassLoader loader) {
        Iterator<Driver> drivers = ServiceLoader.load(Driver.class, loader).iterator();
        try {
            while (drivers.hasNext()) {
                drivers.next();
            }
        } catch (ServiceConfigurationError | LinkageError e) {
            LOG.debug("JDBC drivers of {} were not registered", loader, e);
        }
    }

    /** A new task by its configuration: its class is no plugin, but its connector's loader knows it. */
    Task task(Map<String, String> props, String location) {
        try (ContextLoader swapped = new ContextLoader(loader(location))) {
            return (Task) instance(new TaskConfig(props).getClass(TaskConfig.TASK_CLASS_CONFIG).getName(), location);
        }
    }

    private ClassLoader loader(String location) {
        return location == null ? this : of(location);
    }

    /** A class of this location (null: of Connect's own). */
    Class<?> named(String name, String location) {
        try {
            return Class.forName(name, false, loader(location));
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new ConnectException("Class " + name + " cannot be used: " + PluginScan.reason(e), e);
        }
    }

    /** A new instance of a class of this location (null: of Connect's own). */
    Object instance(String name, String location) {
        ClassLoader loader = loader(location);
        try (ContextLoader swapped = new ContextLoader(loader)) {
            return Class.forName(name, true, loader).getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new ConnectException("Class " + name + " cannot be used: " + PluginScan.reason(e), e);
        }
    }

    /** A converter from its `class`, `location` and `props`. */
    Converter converter(Object settings, boolean key) {
        Map<?, ?> wanted = (Map<?, ?>) settings;
        Converter converter = (Converter) instance((String) wanted.get("class"), (String) wanted.get("location"));
        try (ContextLoader swapped = ContextLoader.in(converter)) {
            converter.configure(Json.texts(wanted.get("props")), key);
        }
        return converter;
    }

    /** The same for header values. */
    HeaderConverter headerConverter(Object settings) {
        Map<?, ?> wanted = (Map<?, ?>) settings;
        HeaderConverter converter = (HeaderConverter) instance((String) wanted.get("class"), (String) wanted.get("location"));
        Map<String, String> props = new LinkedHashMap<>(Json.texts(wanted.get("props")));
        props.put("converter.type", "header");
        try (ContextLoader swapped = ContextLoader.in(converter)) {
            converter.configure(props);
        }
        return converter;
    }

    /** A transformation or predicate from the same. */
    @SuppressWarnings("unchecked")
    <T extends Configurable> T configured(Map<?, ?> described) {
        T plugin = (T) instance((String) described.get("class"), (String) described.get("location"));
        try (ContextLoader swapped = ContextLoader.in(plugin)) {
            plugin.configure(Json.texts(described.get("props")));
        }
        return plugin;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        String fullName = aliases.getOrDefault(name, name);
        String location = newest.get(fullName);
        return location == null ? super.loadClass(fullName, resolve) : of(location).loadClass(fullName);
    }

    private static URL url(String text) {
        try {
            return URI.create(text).toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
