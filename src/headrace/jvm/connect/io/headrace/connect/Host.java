package io.headrace.connect;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import org.apache.kafka.connect.connector.Connector;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.runtime.HostEnvironment;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;

/**
 * All that can be asked from outside of Connect's class loader: a method, and arguments of JDK types.
 *
 * <p>`ask` takes and gives JSON: `{"answer": …}`, or `{"error": …}` with what a plugin has thrown. `rows` gives records to Spark,
 * `chain` has plugins change one, after `define`, which throws what is wrong with them. `files` says where files of plugins are on a
 * machine that is not the worker's. `output` has what plugins print in the log from then on.
 */
public final class Host implements BiFunction<String, Object[], Object> {
    private final PluginLoaders plugins = new PluginLoaders(Host.class.getClassLoader());
    private HostEnvironment environment;
    private Map<String, String> worker = Map.of();
    private final Events events = new Events();
    private final Map<String, ConnectorHost> connectors = new ConcurrentHashMap<>();
    private final HostedTasks hosted = new HostedTasks(plugins, this::environment, events);
    private final ConfigProviders providers = new ConfigProviders(plugins);
    private final ChainCalls chains = new ChainCalls(plugins, this::environment);
    private final Map<String, SourceTaskHost> tasks = new ConcurrentHashMap<>();
    private final Map<String, RecordRows.Converters> converters = new ConcurrentHashMap<>();

    /** Close what serves the worker as long as it lives, and has no end of its own: the config providers. */
    void close() {
        providers.close();
    }

    @Override
    @SuppressWarnings("unchecked")
    public Object apply(String method, Object[] arguments) {
        switch (method) {
            case "ask":
                return ask((String) arguments[0], Json.read((String) arguments[1]));
            case "rows":
                String id = (String) arguments[0];
                return new RecordRows(task(id), (Long) arguments[1], (Long) arguments[2], converters.get(id), (Boolean) arguments[3]);
            case "define":
                chains.define(Json.read((String) arguments[0]));
                return null;
            case "files":
                plugins.findFilesBy((UnaryOperator<String>) arguments[0]);
                return null;
            case "output":
                Printed.take();
                return null;
            case "chain":
                return chains.call((String) arguments[0], (Object[]) arguments[1]);
            default:
                throw new IllegalArgumentException(method);
        }
    }

    private String ask(String method, Map<String, Object> request) {
        Map<String, Object> answer = new HashMap<>();
        try {
            answer.put("answer", answer(method, request));
            return Json.write(answer);
        } catch (Throwable e) { // a plugin may throw anything; it must not end the thread of whoever asks
            return Json.write(Map.of("error", Failure.of(e)));
        }
    }

    @SuppressWarnings("unchecked")
    private Object answer(String method, Map<String, Object> request) throws Throwable {
        String id = (String) request.get("id");
        switch (method) {
            case "scan":
                return PluginScan.of((List<String>) request.get("locations"), (String) request.get("discovery"));
            case "plugins":
                plugins.add(request);
                worker = Json.texts(request.get("worker"));
                return null;
            case "level": // as Kafka Connect's own loggers do it: what is below has it, too
                Configurator.setAllLevels((String) request.get("name"), Level.valueOf((String) request.get("level")));
                return null;
            case "metrics":
                return environment().ofPlugins();
            case "definitions":
                return limited(request, plugin -> Definitions.of(plugin));
            case "validate":
                return limited(request, plugin -> Definitions.validated(plugin, Json.texts(request.get("props"))));
            case "exactlyOnce":
                return limited(request, plugin -> ConnectorHost.exactlyOnce((Connector) plugin, Json.texts(request.get("props"))));
            case "definesTransactions":
                return limited(request,
                    plugin -> ConnectorHost.definesTransactions((Connector) plugin, Json.texts(request.get("props"))));
            case "alterOffsets":
                return limited(request, plugin -> ConnectorHost.alterOffsets((Connector) plugin, Json.texts(request.get("props")),
                    (List<List<Object>>) request.get("changes")));
            case "event":
                return events.next(number(request, "wait"));
            case "offsets":
                events.answer(number(request, "number"), (List<String>) request.get("offsets"), (String) request.get("error"));
                return null;
            case "connector.start":
                return startConnector(id, request);
            case "connector.taskConfigs":
                return connectors.get(id).taskConfigs((int) number(request, "most"));
            case "connector.stop":
                ConnectorHost connector = connectors.get(id);
                if (connector != null) {
                    try {
                        connector.stop();
                    } finally {
                        connectors.remove(id);
                    }
                }
                return null;
            case "connector.cancel":
                ConnectorHost left = connectors.remove(id);
                if (left != null) {
                    left.cancel();
                }
                return null;
            default:
                return method.startsWith("hosted.") ? hosted.answer(method, id, request)
                    : method.startsWith("chain.") ? chains.answer(method, id, request)
                    : method.startsWith("provider.") ? providers.answer(method, id, request) : taskAnswer(method, id, request);
        }
    }

    private Object taskAnswer(String method, String id, Map<String, Object> request) throws Throwable {
        switch (method) {
            case "task.start":
                startTask(id, request);
                return null;
            case "task.awaitStart":
                return task(id).awaitStart(number(request, "wait"));
            case "task.cut":
                return task(id).cut((int) number(request, "most"), (Boolean) request.get("travels"), number(request, "wait"));
            case "task.acknowledge":
                task(id).acknowledge(number(request, "to"));
                return null;
            case "task.wakeUp":
                task(id).wakeUp();
                return null;
            case "task.retries":
                return task(id).retries();
            case "task.stop":
                SourceTaskHost task = tasks.remove(id);
                converters.remove(id);
                return task == null || task.stop(number(request, "wait"));
            default:
                throw new IllegalArgumentException(method);
        }
    }

    /** Returns the class of its tasks. */
    private String startConnector(String id, Map<String, Object> request) {
        Connector connector = (Connector) plugin(request);
        String name = (String) request.get("name");
        ConnectorHost host = new ConnectorHost(id, name, connector, events, environment().ofConnector(name));
        connectors.put(id, host);
        host.start(Json.texts(request.get("props")));
        return connector.taskClass().getName();
    }

    @SuppressWarnings("unchecked")
    private void startTask(String id, Map<String, Object> request) {
        Map<String, String> props = Json.texts(request.get("props"));
        Task task = plugins.task(props, (String) request.get("location"));
        String name = (String) request.get("name");
        int number = (int) number(request, "number");
        Retries retries = Retries.of(request);
        RecordRows.Converters own = new RecordRows.Converters(plugins.converter(request.get("key"), true),
            plugins.converter(request.get("value"), false), plugins.headerConverter(request.get("header")), retries,
            (List<?>) request.get("secrets"));
        TransformationChain<SourceRecord> chain = new TransformationChain<>(plugins,
            (List<Map<String, Object>>) request.get("stages"));
        converters.put(id, own);
        List<AutoCloseable> ending = new ArrayList<>(own.measured(environment(), name, number));
        ending.addAll(chain.measured(environment(), name, number));
        SourceTaskHost host = new SourceTaskHost(id, (String) request.get("context"), (SourceTask) task, props,
            new StoredOffsets(id, events), chain, retries, (Boolean) request.get("transactional"), environment().ofTask(name, number), ending);
        tasks.put(id, host);
        host.start();
    }

    private SourceTaskHost task(String id) {
        SourceTaskHost task = tasks.get(id);
        if (task == null) {
            throw new ConnectException("The task " + id + " is not here");
        }
        return task;
    }

    private Object plugin(Map<String, Object> request) {
        return plugins.instance((String) request.get("class"), (String) request.get("location"));
    }

    private synchronized HostEnvironment environment() {
        if (environment == null) {
            environment = new HostEnvironment(worker);
        }
        return environment;
    }

    private static long number(Map<String, Object> request, String key) {
        return ((Number) request.get(key)).longValue();
    }

    /** What a new instance of a plugin answers: on a thread of its own, since it may wait for another system for ever. */
    private Object limited(Map<String, Object> request, Question question) throws Throwable {
        long limit = number(request, "limit");
        FutureTask<Object> task = new FutureTask<>(() -> {
            Object plugin = plugin(request);
            try (ContextLoader swapped = ContextLoader.in(plugin)) {
                return question.of(plugin);
            }
        });
        Thread thread = new Thread(task, "plugin-" + request.get("class"));
        thread.setDaemon(true);
        thread.start();
        try {
            return task.get(limit, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            thread.interrupt();
            throw new ConnectException("Class " + request.get("class") + " has not answered within " + limit / 1000 + " s");
        } catch (java.util.concurrent.ExecutionException e) {
            throw e.getCause();
        }
    }

    private interface Question {
        Object of(Object plugin);
    }
}
