package io.headrace.connect;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.runtime.HostEnvironment;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Transforms of a connector with their predicates, applied to one record after the other as in Kafka Connect. */
final class Chain {
    private static final Logger LOG = LoggerFactory.getLogger(Chain.class);
    private final List<Stage> stages = new ArrayList<>();
    private final boolean tolerant;

    /** A transform, applied where there is no predicate, or where it holds (`negate`: where it does not). */
    private static final class Stage {
        String alias;
        Transformation<SourceRecord> transformation;
        Predicate<SourceRecord> predicate;
        String predicateAlias;
        boolean negate;
    }

    /** tolerant: whether a record that fails is left out. */
    Chain(PluginLoaders plugins, List<Map<String, Object>> described, boolean tolerant) {
        this.tolerant = tolerant;
        for (Map<String, Object> one : described) {
            Stage stage = new Stage();
            stage.alias = (String) one.get("alias");
            stage.transformation = plugins.configured(one);
            stage.predicate = one.get("predicate") == null ? null : plugins.configured((Map<?, ?>) one.get("predicate"));
            stage.predicateAlias = (String) one.get("predicate_alias");
            stage.negate = (Boolean) one.get("negate");
            stages.add(stage);
        }
    }

    /** The record after all stages; null if it was taken out. */
    SourceRecord apply(SourceRecord record) {
        SourceRecord changed = record;
        for (Stage stage : stages) {
            try (Swap swap = Swap.in(stage.transformation)) {
                if (stage.predicate == null || stage.negate != stage.predicate.test(changed)) {
                    changed = stage.transformation.apply(changed);
                }
            } catch (RuntimeException e) {
                String where = "Transform " + stage.alias + " failed for the record at source offset " + record.sourceOffset();
                if (!tolerant) {
                    throw new ConnectException("Tolerance exceeded in error handler: " + where, e);
                }
                LOG.error("{} of {}; it is left out", where, record.sourcePartition(), e);
                return null;
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
        for (Stage stage : stages) {
            measured.add(environment.measured(stage.transformation, connector, task, stage.alias));
            if (stage.predicate != null) {
                measured.add(environment.measured(stage.predicate, connector, task, stage.predicateAlias));
            }
        }
        return measured;
    }
}
