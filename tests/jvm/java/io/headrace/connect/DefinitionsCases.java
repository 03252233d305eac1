package io.headrace.connect;

import static io.headrace.Cases.equal;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.Filter;
import org.apache.kafka.connect.transforms.predicates.RecordIsTombstone;

/** Plugins that say nothing about their options. */
final class DefinitionsCases {
    private DefinitionsCases() {
    }

    static void aTransformationWithoutADefinitionIsRefused() {
        refused(new SilentFilter());
    }

    static void aPredicateWithoutADefinitionIsRefused() {
        refused(new SilentPredicate());
    }

    static void aConverterWithoutADefinitionHasNoOptions() {
        equal(Definitions.of(new SilentConverter()).get("options"), List.of());
    }

    private static void refused(Object plugin) {
        String sentence = plugin.getClass().getName() + ".config() must return a ConfigDef that is not null.";
        try {
            Definitions.of(plugin);
            throw new AssertionError("it was accepted");
        } catch (ConnectException e) {
            equal(e.getMessage(), sentence);
        }
        try {
            Definitions.validated(plugin, Map.of());
            throw new AssertionError("it was accepted");
        } catch (ConnectException e) {
            equal(e.getMessage(), sentence);
        }
    }

    static final class SilentFilter extends Filter<SourceRecord> {
        @Override
        public ConfigDef config() {
            return null;
        }
    }

    static final class SilentPredicate extends RecordIsTombstone<SourceRecord> {
        @Override
        public ConfigDef config() {
            return null;
        }
    }

    static final class SilentConverter extends JsonConverter {
        @Override
        public ConfigDef config() {
            return null;
        }
    }
}
