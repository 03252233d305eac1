package io.headrace.connect;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.kafka.connect.connector.Connector;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.runtime.HostEnvironment;
import org.apache.kafka.connect.runtime.HostedSinkTask;
import org.apache.kafka.connect.runtime.TransformationStage;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;
import org.apache.kafka.connect.util.ConnectorTaskId;

/** The sink tasks that run here, by the ids that the worker gives them. */
final class SinkTasks {
    private final PluginLoaders plugins;
    private final Supplier<HostEnvironment> environment;
    private final Map<String, HostedSinkTask> tasks = new ConcurrentHashMap<>();

    SinkTasks(PluginLoaders plugins, Supplier<HostEnvironment> environment) {
        this.plugins = plugins;
        this.environment = environment;
    }

    Object answer(String method, String id, Map<String, Object> request) throws Throwable {
        switch (method) {
            case "sink.start":
                start(id, request);
                return null;
            case "sink.awaitStart":
                return task(id).awaitStart(wait(request));
            case "sink.look":
                return task(id).look(wait(request));
            case "sink.stop":
                HostedSinkTask task = tasks.remove(id);
                return task == null || task.stop(wait(request));
            default:
                throw new IllegalArgumentException(method);
        }
    }

    private static long wait(Map<String, Object> request) {
        return ((Number) request.get("wait")).longValue();
    }

    private HostedSinkTask task(String id) {
        HostedSinkTask task = tasks.get(id);
        if (task == null) {
            throw new ConnectException("The task " + id + " is not here");
        }
        return task;
    }

    private void start(String id, Map<String, Object> request) {
        HostedSinkTask.Parts parts = new HostedSinkTask.Parts();
        parts.connector = (String) request.get("name");
        parts.number = ((Number) request.get("number")).intValue();
        String location = (String) request.get("location");
        parts.instance = (Connector) plugins.instance((String) request.get("class"), location);
        parts.task = (SinkTask) plugins.instance(parts.instance.taskClass().getName(), location);
        parts.config = Json.texts(request.get("props"));
        parts.errors = Json.texts(request.get("errors"));
        parts.consumer = Json.texts(request.get("consumer"));
        parts.producer = Json.texts(request.get("producer"));
        parts.admin = Json.texts(request.get("admin"));
        parts.key = plugins.converter(request.get("key"), true);
        parts.value = plugins.converter(request.get("value"), false);
        parts.header = plugins.headerConverter(request.get("header"));
        parts.stages = stages(new ConnectorTaskId(parts.connector, parts.number), (List<?>) request.get("stages"));
        HostedSinkTask task = new HostedSinkTask(environment.get(), parts);
        tasks.put(id, task);
        task.start();
    }

    @SuppressWarnings("unchecked")
    private List<TransformationStage<SinkRecord>> stages(ConnectorTaskId id, List<?> described) {
        List<TransformationStage<SinkRecord>> stages = new ArrayList<>();
        for (Object one : described) {
            Map<String, Object> stage = (Map<String, Object>) one;
            Transformation<SinkRecord> transformation = plugins.configured(stage);
            Predicate<SinkRecord> predicate =
                stage.get("predicate") == null ? null : plugins.configured((Map<?, ?>) stage.get("predicate"));
            stages.add(HostedSinkTask.stage(environment.get(), id, stage, transformation, predicate));
        }
        return stages;
    }
}
