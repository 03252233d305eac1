package io.headrace.connect;

import io.github.classgraph.ClassGraph;
import io.github.classgraph.ClassInfo;
import io.github.classgraph.ClassInfoList;
import io.github.classgraph.ScanResult;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.ZipFile;
import org.apache.kafka.connect.runtime.isolation.PluginClassLoader;
import org.apache.kafka.connect.runtime.isolation.PluginDesc;
import org.apache.kafka.connect.runtime.isolation.PluginDiscoveryMode;
import org.apache.kafka.connect.runtime.isolation.PluginScanResult;
import org.apache.kafka.connect.runtime.isolation.PluginSource;
import org.apache.kafka.connect.runtime.isolation.PluginType;
import org.apache.kafka.connect.runtime.isolation.PluginUtils;
import org.apache.kafka.connect.runtime.isolation.ReflectionScanner;
import org.apache.kafka.connect.runtime.isolation.ServiceLoaderScanner;

/** Which plugins there are in the locations of a plugin.path, by Kafka's own scanners; and what keeps others from being used. */
final class PluginScan {
    private static final Set<PluginType> KINDS = Set.of(PluginType.SOURCE, PluginType.SINK, PluginType.CONVERTER,
        PluginType.HEADER_CONVERTER, PluginType.TRANSFORMATION, PluginType.PREDICATE, PluginType.CONFIGPROVIDER);
    private final PluginDiscoveryMode mode;
    private final ClassLoader parent;
    private final Map<String, Object> plugins = new TreeMap<>();
    private final Map<String, Object> locations = new LinkedHashMap<>();
    private final List<Object> problems = new ArrayList<>();

    private PluginScan(PluginDiscoveryMode mode, ClassLoader parent) {
        this.mode = mode;
        this.parent = parent;
    }

    /** Take locations one by one: one that is broken must not hide the others. */
    static Map<String, Object> of(List<String> locations, String discovery) {
        PluginScan scan = new PluginScan(PluginDiscoveryMode.valueOf(discovery.toUpperCase(java.util.Locale.ROOT)),
            PluginScan.class.getClassLoader());
        for (String location : locations) {
            try {
                scan.take(Path.of(location));
            } catch (Exception | LinkageError e) {
                scan.problem(location, null, "the location cannot be read: " + reason(e));
            }
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("plugins", new ArrayList<>(scan.plugins.values()));
        answer.put("locations", scan.locations);
        answer.put("problems", scan.problems);
        return answer;
    }

    private void take(Path location) throws Exception {
        for (Path archive : PluginUtils.pluginUrls(location)) {
            if (PluginUtils.isArchive(archive)) {
                try (ZipFile file = new ZipFile(archive.toFile())) {
                    file.size();
                } catch (java.io.IOException e) {
                    problem(location.toString(), null, "the archive " + archive.getFileName() + " is broken: " + e.getMessage());
                }
            }
        }
        PluginSource source = PluginUtils.isolatedPluginSource(location, parent, PluginClassLoader::new);
        Set<String> declared = new LinkedHashSet<>();
        if (mode.serviceLoad()) {
            declared.addAll(add(new ServiceLoaderScanner().discoverPlugins(Collections.singleton(source)), source, true));
        }
        if (mode.reflectivelyScan()) {
            declared.addAll(add(new ReflectionScanner().discoverPlugins(Collections.singleton(source)), source, false));
        }
        List<String> urls = new ArrayList<>();
        for (URL url : source.urls()) {
            urls.add(url.toString());
        }
        locations.put(source.location().toUri().toURL().toString(), urls);
        for (PluginType kind : KINDS) {
            checkManifest(kind, source, declared);
        }
        if (mode.reflectivelyScan()) {
            checkClasses(source, declared);
        }
    }

    private Set<String> add(PluginScanResult found, PluginSource source, boolean manifest) {
        Set<String> names = new LinkedHashSet<>();
        found.forEach(plugin -> {
            names.add(plugin.className());
            String id = plugin.className() + ' ' + plugin.typeName() + ' ' + plugin.location();
            boolean ofClients = plugin.className().startsWith("org.apache.kafka.common."); // config providers of the clients' jar
            if (KINDS.contains(plugin.type()) && !ofClients && !plugins.containsKey(id)) {
                plugins.put(id, described(plugin, source, manifest));
            }
        });
        return names;
    }

    private static Map<String, Object> described(PluginDesc<?> plugin, PluginSource source, boolean manifest) {
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("class", plugin.className());
        described.put("type", plugin.type() == PluginType.CONFIGPROVIDER ? "config_provider" : plugin.typeName());
        described.put("version", plugin.version());
        described.put("location", plugin.location());
        described.put("path", source.location().toString());
        described.put("aliases", List.of(PluginUtils.simpleName(plugin), PluginUtils.prunedName(plugin)));
        described.put("manifest", manifest);
        return described;
    }

    /** Kafka's scanners log what a manifest names and cannot be loaded, and pass over it; here each such class is a sentence. */
    private void checkManifest(PluginType kind, PluginSource source, Set<String> declared) throws Exception {
        for (URL manifest : Collections.list(((PluginClassLoader) source.loader()).findResources(
                "META-INF/services/" + kind.superClass().getName()))) {
            for (String name : names(manifest)) {
                check(name, source, declared);
            }
        }
    }

    /** The same of classes that no manifest names: of these, Kafka's scanner does not even log those that cannot be loaded. */
    private void checkClasses(PluginSource source, Set<String> declared) {
        try (ScanResult scanned = new ClassGraph().overrideClassLoaders(source.loader()).ignoreParentClassLoaders()
                .enableExternalClasses().enableClassInfo().scan()) {
            for (PluginType kind : KINDS) {
                String name = kind.superClass().getName();
                ClassInfoList found = kind == PluginType.CONFIGPROVIDER ? ClassInfoList.emptyList() // they need a manifest
                    : kind.superClass().isInterface() ? scanned.getClassesImplementing(name) : scanned.getSubclasses(name);
                for (ClassInfo plugin : found.getStandardClasses()) {
                    if (!plugin.isAbstract() && !plugin.isExternalClass() && isOwn(plugin.getName(), source.loader())) {
                        check(plugin.getName(), source, declared);
                    }
                }
            }
        }
    }

    /** Whether the location's own class of this name would be used: Kafka's are those of the worker, also where an archive has them. */
    private static boolean isOwn(String name, ClassLoader loader) {
        try {
            return Class.forName(name, false, loader).getClassLoader() == loader;
        } catch (ClassNotFoundException | LinkageError e) {
            return true;
        }
    }

    private void check(String name, PluginSource source, Set<String> known) {
        String why = known.add(name) ? failure(name, source.loader()) : null;
        if (why != null) {
            problem(source.location().toString(), name, "class " + name + " cannot be used: " + why);
        }
    }

    private static List<String> names(URL manifest) throws Exception {
        List<String> names = new ArrayList<>();
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(manifest.openStream(), StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                String name = line.replaceAll("#.*", "").trim();
                if (!name.isEmpty()) {
                    names.add(name);
                }
            }
        }
        return names;
    }

    private static String failure(String name, ClassLoader loader) {
        try (ContextLoader swapped = new ContextLoader(loader)) {
            Class.forName(name, true, loader).getDeclaredConstructor().newInstance();
            return null;
        } catch (Exception | LinkageError e) {
            return reason(e);
        }
    }

    /** The innermost cause in words. */
    static String reason(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        String text = String.valueOf(cause.getMessage());
        if (cause instanceof ClassNotFoundException || cause instanceof NoClassDefFoundError) {
            return "it needs class " + text.replace('/', '.') + ", which is not there";
        }
        if (cause instanceof NoSuchMethodException) {
            return "it has no public constructor without parameters";
        }
        return cause.getClass().getName() + ": " + text;
    }

    private void problem(String location, String name, String text) {
        Map<String, Object> problem = new LinkedHashMap<>();
        problem.put("location", location);
        problem.put("class", name);
        problem.put("text", text);
        problems.add(problem);
    }
}
