package org.apache.kafka.connect.runtime;

import io.headrace.connect.SecretsInterceptor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.connect.runtime.errors.DeadLetterQueueReporter;
import org.apache.kafka.connect.runtime.errors.ErrorHandlingMetrics;
import org.apache.kafka.connect.runtime.errors.ErrorReporter;
import org.apache.kafka.connect.runtime.errors.LogReporter;
import org.apache.kafka.connect.runtime.errors.RetryWithToleranceOperator;
import org.apache.kafka.connect.runtime.errors.WorkerErrantRecordReporter;
import org.apache.kafka.connect.runtime.isolation.LoaderSwap;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;

/** Kafka Connect's WorkerSinkTask, with a consumer of its own. */
public final class HostedSinkTask extends HostedTask {
    public HostedSinkTask(HostEnvironment environment, Parts<SinkRecord> parts) {
        super(environment, parts.id());
        try (LoaderSwap swap = SWAP.apply(parts.loader())) {
            prepare(made(parts), parts.config, parts.loader());
        }
    }

    private WorkerSinkTask made(Parts<SinkRecord> parts) {
        ConnectMetrics metrics = environment.metrics;
        SinkConnectorConfig settings = new SinkConnectorConfig(environment.plugins, parts.settings);
        ErrorHandlingMetrics errors = new ErrorHandlingMetrics(id, metrics);
        RetryWithToleranceOperator<ConsumerRecord<byte[], byte[]>> retries = new RetryWithToleranceOperator<>(
            settings.errorRetryTimeout(), settings.errorMaxDelayInMillis(), settings.errorToleranceType(), Time.SYSTEM, errors);
        TransformationChain<ConsumerRecord<byte[], byte[]>, SinkRecord> chain = new TransformationChain<>(parts.stages, retries);
        boolean reports = !Utils.isBlank(settings.dlqTopicName()) || settings.enableErrorLog();
        WorkerErrantRecordReporter reporter = reports
            ? new WorkerErrantRecordReporter(retries, parts.key, parts.value, parts.header) : null;
        return new WorkerSinkTask(id, (SinkTask) parts.task, this, TargetState.STARTED, environment.config, parts.state(), metrics,
            metrics.wrap(parts.key, id, true), metrics.wrap(parts.value, id, false), errors, metrics.wrap(parts.header, id), chain,
            consumer(parts.consumer), parts.loader(), Time.SYSTEM, retries, reporter, statuses,
            () -> reporters(parts, settings, errors), parts.metadata(chain, environment.plugins), SWAP);
    }

    private static KafkaConsumer<byte[], byte[]> consumer(Map<String, String> settings) {
        Map<String, Object> all = new HashMap<>(settings);
        all.put("key.deserializer", ByteArrayDeserializer.class);
        all.put("value.deserializer", ByteArrayDeserializer.class);
        try {
            return new KafkaConsumer<>(all);
        } catch (KafkaException e) { // its own message says nothing
            throw e.getCause() instanceof RuntimeException ? (RuntimeException) e.getCause() : e;
        }
    }

    private List<ErrorReporter<ConsumerRecord<byte[], byte[]>>> reporters(Parts<SinkRecord> parts, SinkConnectorConfig settings,
            ErrorHandlingMetrics errors) {
        List<ErrorReporter<ConsumerRecord<byte[], byte[]>>> reporters = new ArrayList<>();
        reporters.add(new LogReporter.Sink(id, settings, errors));
        if (!Utils.isBlank(settings.dlqTopicName())) {
            Map<String, Object> producer = new HashMap<>(parts.producer);
            producer.put("key.serializer", ByteArraySerializer.class.getName());
            producer.put("value.serializer", ByteArraySerializer.class.getName());
            SecretsInterceptor.addTo(producer, parts.secrets);
            reporters.add(DeadLetterQueueReporter.createAndSetup(new HashMap<>(parts.admin), id, settings, producer, errors));
        }
        return reporters;
    }
}
