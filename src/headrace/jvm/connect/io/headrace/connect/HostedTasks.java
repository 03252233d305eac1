package io.headrace.connect;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.runtime.HostEnvironment;
import org.apache.kafka.connect.runtime.HostedSinkTask;
import org.apache.kafka.connect.runtime.HostedSourceTask;
import org.apache.kafka.connect.runtime.HostedTask;
import org.apache.kafka.connect.runtime.TransformationStage;
import org.apache.kafka.connect.sink.SinkTask;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** The tasks that run here in Kafka Connect's own classes, by the ids that the worker gives them. */
final class HostedTasks {
    private static final int MOST_STOPPED = 1_000;
    private final PluginLoaders plugins;
    private final Supplier<HostEnvironment> environment;
    private final Events events;
    private final Map<String, HostedTask> tasks = new ConcurrentHashMap<>();
    /** Tasks whose plugins are being made, and that nobody has stopped yet: a plugin may never return. */
    private final Set<String> starting = ConcurrentHashMap.newKeySet();
    /** Tasks that were stopped when they were not here, the last ones: the question to start them may still come. */
    private final Set<String> stoppedBefore = Collections.newSetFromMap(new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > MOST_STOPPED;
        }
    });

    HostedTasks(PluginLoaders plugins, Supplier<HostEnvironment> environment, Events events) {
        this.plugins = plugins;
        this.environment = environment;
        this.events = events;
    }

    Object answer(String method, String id, Map<String, Object> request) throws Throwable {
        switch (method) {
            case "hosted.start":
                start(id, request);
                return null;
            case "hosted.awaitStart":
                return task(id).awaitStart(wait(request));
            case "hosted.state":
                return task(id).state(wait(request), ((Number) request.get("idleWait")).longValue(), (List<?>) request.get("figures"));
            case "hosted.stop":
                HostedTask task = taken(id);
                return task == null || task.stop(wait(request));
            case "hosted.abandon":
                abandon(id == null ? all() : Set.of(id));
                return null;
            default:
                throw new IllegalArgumentException(method);
        }
    }

    /** Have tasks end without waiting for them: nothing of them counts any more. All are stopped before anything may wait. */
    private void abandon(Set<String> ids) {
        List<HostedTask> ended = ids.stream().map(this::taken).filter(Objects::nonNull).toList();
        ended.forEach(HostedTask::abandon);
        ended.forEach(task -> task.stop(0));
    }

    /** A task that is to end, which is not here any more then; null if it has not been made: it will not start. */
    private HostedTask taken(String id) {
        synchronized (stoppedBefore) {
            boolean known = starting.remove(id);
            HostedTask task = tasks.remove(id);
            if (!known && task == null) {
                stoppedBefore.add(id);
            }
            return task;
        }
    }

    private Set<String> all() {
        Set<String> ids = new HashSet<>(tasks.keySet());
        ids.addAll(starting);
        return ids;
    }

    private static long wait(Map<String, Object> request) {
        return ((Number) request.get("wait")).longValue();
    }

    private HostedTask task(String id) {
        HostedTask task = tasks.get(id);
        if (task == null) {
            throw new ConnectException("The task " + id + " is not here");
        }
        return task;
    }

    private void start(String id, Map<String, Object> request) {
        synchronized (stoppedBefore) {
            if (stoppedBefore.remove(id)) { // an executor takes several questions at once, each on its own thread
                return;
            }
            starting.add(id);
        }
        try {
            HostedTask task = made(id, request);
            tasks.put(id, task);
            if (!starting.contains(id) && tasks.remove(id, task)) { // it was stopped meanwhile: it closes what it has
                task.abandon();
                task.stop(0);
            }
            task.start();
        } finally {
            starting.remove(id);
        }
    }

    private HostedTask made(String id, Map<String, Object> request) {
        String location = (String) request.get("location");
        Class<?> connector = plugins.named((String) request.get("class"), location);
        Task instance = plugins.task(Json.texts(request.get("props")), location);
        if (instance instanceof SinkTask) {
            return new HostedSinkTask(environment.get(), parts(connector, instance, request));
        }
        StoredOffsets offsets = new StoredOffsets(id, events);
        return new HostedSourceTask(environment.get(), parts(connector, instance, request), offsets, new OffsetsToStore(id, events));
    }

    private <R extends ConnectRecord<R>> HostedTask.Parts<R> parts(Class<?> connector, Task task, Map<String, Object> request) {
        HostedTask.Parts<R> parts = new HostedTask.Parts<>();
        parts.connector = (String) request.get("name");
        parts.number = ((Number) request.get("number")).intValue();
        parts.connectorClass = connector;
        parts.task = task;
        parts.config = Json.texts(request.get("props"));
        parts.settings = Json.texts(request.get("settings"));
        parts.consumer = Json.texts(request.get("consumer"));
        parts.producer = Json.texts(request.get("producer"));
        parts.secrets = (List<?>) request.get("secrets");
        parts.admin = Json.texts(request.get("admin"));
        parts.key = plugins.converter(request.get("key"), true);
        parts.value = plugins.converter(request.get("value"), false);
        parts.header = plugins.headerConverter(request.get("header"));
        parts.stages = stages(parts, (List<?>) request.get("stages"));
        return parts;
    }

    @SuppressWarnings("unchecked")
    private <R extends ConnectRecord<R>> List<TransformationStage<R>> stages(HostedTask.Parts<R> parts, List<?> described) {
        List<TransformationStage<R>> stages = new ArrayList<>();
        for (Object one : described) {
            Map<String, Object> stage = (Map<String, Object>) one;
            Transformation<R> transformation = plugins.configured(stage);
            Predicate<R> predicate = stage.get("predicate") == null ? null : plugins.configured((Map<?, ?>) stage.get("predicate"));
            stages.add(HostedTask.stage(environment.get(), parts.id(), stage, transformation, predicate));
        }
        return stages;
    }
}
