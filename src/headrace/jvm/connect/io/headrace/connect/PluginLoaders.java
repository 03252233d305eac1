package io.headrace.connect;

import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.runtime.isolation.PluginClassLoader;

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

    private final Map<String, List<String>> urls = new LinkedHashMap<>();
    private final Map<String, String> newest = new LinkedHashMap<>();
    private final Map<String, PluginClassLoader> loaders = new ConcurrentHashMap<>();

    PluginLoaders(ClassLoader connect) {
        super("plugins", new URL[0], connect);
    }

    /** scan: `locations` (location to URLs) and `newest` (class to location). Locations that are there stay as they are. */
    @SuppressWarnings("unchecked")
    synchronized void add(Map<String, Object> scan) {
        ((Map<String, List<String>>) scan.get("locations")).forEach(urls::putIfAbsent);
        ((Map<String, String>) scan.get("newest")).forEach((name, location) -> {
            if (getParent().getResource(name.replace('.', '/') + ".class") == null) { // Connect's own go before those of plugins
                newest.put(name, location);
            }
        });
    }

    /** Raises ConnectException for a location that no scan has named. */
    synchronized PluginClassLoader of(String location) {
        PluginClassLoader loader = loaders.get(location);
        if (loader == null) {
            if (!urls.containsKey(location)) {
                throw new ConnectException("The plugin location " + location + " is not in plugin.path");
            }
            loader = new PluginClassLoader(url(location), urls.get(location).stream().map(PluginLoaders::url).toArray(URL[]::new), this);
            loaders.put(location, loader);
        }
        return loader;
    }

    /** A new instance of a class of this location (null: of Connect's own). */
    Object instance(String name, String location) {
        ClassLoader loader = location == null ? this : of(location);
        try (Swap swap = new Swap(loader)) {
            return Class.forName(name, true, loader).getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new ConnectException("Class " + name + " cannot be used: " + Scan.reason(e), e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        String location = newest.get(name);
        return location == null ? super.loadClass(name, resolve) : of(location).loadClass(name);
    }

    private static URL url(String text) {
        try {
            return URI.create(text).toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
