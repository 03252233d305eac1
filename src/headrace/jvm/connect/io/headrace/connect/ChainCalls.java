package io.headrace.connect;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.runtime.HostEnvironment;

/**
 * Transforms, predicates and converters that a compiled chain calls, by the ids that the worker gives them.
 *
 * <p>Plugins are not made for several threads: each that calls at the same time has instances of its own.
 */
final class ChainCalls {
    private final PluginLoaders plugins;
    private final Supplier<HostEnvironment> environment;
    private final Map<String, Calls> defined = new ConcurrentHashMap<>();

    ChainCalls(PluginLoaders plugins, Supplier<HostEnvironment> environment) {
        this.plugins = plugins;
        this.environment = environment;
    }

    Object answer(String method, String id, Map<String, Object> request) {
        switch (method) {
            case "chain.define":
                if (!defined.containsKey(id)) { // no lock of the map's is held while plugins are made: one may never return
                    defined.put(id, new Calls(request));
                }
                return null;
            case "chain.close":
                Calls calls = defined.remove(id);
                if (calls != null) {
                    calls.close();
                }
                return null;
            case "chain.retries":
                Calls called = defined.get(id);
                return called == null ? 0 : called.retries.count();
            default:
                throw new IllegalArgumentException(method);
        }
    }

    /** `chain.define` where Spark's task asks for it, in an executor. */
    void define(Map<String, Object> request) {
        forSpark(request, () -> answer("chain.define", (String) request.get("id"), request));
    }

    /** Throws what a plugin throws, without secrets: Spark and its logs have it as it is. */
    private static <T> T forSpark(Map<String, Object> request, Supplier<T> plugin) {
        try {
            return plugin.get();
        } catch (RuntimeException | LinkageError e) {
            String trace = Failure.trace(e);
            String shown = Failure.hidden(trace, secrets(request));
            if (shown.equals(trace)) {
                throw e;
            }
            throw new ConnectException(shown);
        }
    }

    private static List<?> secrets(Map<String, Object> request) {
        return (List<?>) request.getOrDefault("secrets", List.of());
    }

    /** What the plugins of this id make of the parts of a record (see the classes of ChainCall). */
    Object[] call(String id, Object[] parts) {
        Calls calls = defined.get(id);
        if (calls == null) {
            throw new ConnectException("The plugins " + id + " of a chain are not here");
        }
        return calls.call(parts);
    }

    private final class Calls {
        private final Map<String, Object> request;
        private final ConcurrentLinkedDeque<ChainCall> idle = new ConcurrentLinkedDeque<>();
        private final List<AutoCloseable> measured = Collections.synchronizedList(new ArrayList<>());
        private final Retries retries;
        private final ChainCall first;
        private volatile boolean closed;

        Calls(Map<String, Object> request) {
            this.request = request;
            this.retries = Retries.of(request);
            this.first = ChainCall.of(plugins, request);
            String connector = (String) request.get("name");
            if (connector != null) { // metrics of the first instance: those of others would have the same names
                measured.addAll(first.measured(environment.get(), connector, ((Number) request.get("number")).intValue()));
            }
            idle.add(first);
        }

        Object[] call(Object[] parts) {
            ChainCall one = idle.pollFirst();
            ChainCall used = one == null ? forSpark(request, () -> ChainCall.of(plugins, request)) : one;
            try {
                Object[] answer = used.call(parts, retries);
                if (answer[0] != null) {
                    Failure.masked((Object[]) answer[0], secrets(request));
                }
                return answer;
            } finally {
                idle.addFirst(used);
                if (closed) {
                    close();
                }
            }
        }

        void close() {
            closed = true;
            retries.end();
            for (ChainCall one = idle.pollFirst(); one != null; one = idle.pollFirst()) {
                if (one == first && !measured.isEmpty()) {
                    measured.forEach(plugin -> Utils.closeQuietly(plugin, "plugin of a chain")); // with its metrics
                } else {
                    Utils.closeQuietly(one, "plugins of a chain");
                }
            }
        }
    }
}
