package io.headrace.connect;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.errors.ConnectException;
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
        boolean negate;
    }

    /** tolerant: whether a record that fails is left out. */
    Chain(PluginLoaders plugins, List<Map<String, Object>> described, boolean tolerant) {
        this.tolerant = tolerant;
        for (Map<String, Object> one : described) {
            Stage stage = new Stage();
            stage.alias = (String) one.get("alias");
            stage.transformation = configured(plugins, one);
            stage.predicate = one.get("predicate") == null ? null : configured(plugins, (Map<?, ?>) one.get("predicate"));
            stage.negate = (Boolean) one.get("negate");
            stages.add(stage);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends org.apache.kafka.common.Configurable> T configured(PluginLoaders plugins, Map<?, ?> described) {
        T plugin = (T) plugins.instance((String) described.get("class"), (String) described.get("location"));
        try (Swap swap = Swap.in(plugin)) {
            plugin.configure(Json.texts(described.get("props")));
        }
        return plugin;
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

    void close() {
        for (Stage stage : stages) {
            try (Swap swap = Swap.in(stage.transformation)) {
                stage.transformation.close();
                if (stage.predicate != null) {
                    stage.predicate.close();
                }
            } catch (RuntimeException e) {
                LOG.warn("Transform {} failed to close", stage.alias, e);
            }
        }
    }
}
