package io.headrace.connect;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.runtime.HostEnvironment;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Transforms of a connector with their predicates, applied to one record after the other as in Kafka Connect. */
final class TransformationChain<R extends ConnectRecord<R>> implements AutoCloseable {
    private final List<Stage<R>> stages = new ArrayList<>();

    /** A transform, applied where there is no predicate, or where it holds (`negate`: where it does not). */
    private static final class Stage<R extends ConnectRecord<R>> {
        String alias;
        Transformation<R> transformation;
        Predicate<R> predicate;
        String predicateAlias;
        boolean negate;

        R apply(R record) {
            if (predicate != null && negate == holds(record)) {
                return record;
            }
            try (ContextLoader swapped = ContextLoader.in(transformation)) {
                return transformation.apply(record);
            }
        }

        private boolean holds(R record) {
            try (ContextLoader swapped = ContextLoader.in(predicate)) {
                return predicate.test(record);
            }
        }
    }

    /** What a transform, or its predicate, has thrown. */
    static final class StageFailure extends Exception {
        private static final long serialVersionUID = 1L;
        final String alias;

        StageFailure(String alias, Throwable cause) {
            super(cause);
            this.alias = alias;
        }
    }

    TransformationChain(PluginLoaders plugins, List<Map<String, Object>> described) {
        for (Map<String, Object> one : described) {
            Stage<R> stage = new Stage<>();
            stage.alias = (String) one.get("alias");
            stage.transformation = plugins.configured(one);
            stage.predicate = one.get("predicate") == null ? null : plugins.configured((Map<?, ?>) one.get("predicate"));
            stage.predicateAlias = (String) one.get("predicate_alias");
            stage.negate = Boolean.TRUE.equals(one.get("negate"));
            stages.add(stage);
        }
    }

    /** The record after all stages; null if it was taken out. */
    R apply(R record, Retries retries) throws StageFailure {
        R changed = record;
        for (Stage<R> stage : stages) {
            R given = changed;
            try {
                changed = retries.call(() -> stage.apply(given));
            } catch (RuntimeException | LinkageError e) {
                throw new StageFailure(stage.alias, e);
            }
            if (changed == null) {
                return null;
            }
        }
        return changed;
    }

    /** Give the stages their metrics; what is returned ends both. */
    List<AutoCloseable> measured(HostEnvironment environment, String connector, int task) {
        List<AutoCloseable> measured = new ArrayList<>();
        for (Stage<R> stage : stages) {
            measured.add(environment.measured(stage.transformation, connector, task, stage.alias));
            if (stage.predicate != null) {
                measured.add(environment.measured(stage.predicate, connector, task, stage.predicateAlias));
            }
        }
        return measured;
    }

    @Override
    public void close() {
        for (Stage<R> stage : stages) {
            Utils.closeQuietly(stage.transformation, "transform " + stage.alias);
            if (stage.predicate != null) {
                Utils.closeQuietly(stage.predicate, "predicate " + stage.predicateAlias);
            }
        }
    }
}
