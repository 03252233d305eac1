package io.headrace.connect;

import static io.headrace.Cases.equal;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.InsertHeader;
import org.apache.kafka.connect.transforms.predicates.HasHeaderKey;

/** Converters of a plugin location find the classes beside them by the context class loader, whatever thread calls them. */
final class ContextLoaderCases {
    private static final String LOCATION = ContextLoaderCases.class.getProtectionDomain().getCodeSource().getLocation().toString();
    private static final Map<String, Object> CAREFUL = Map.of("class", Careful.class.getName(), "location", LOCATION, "props", Map.of());
    private static final PluginLoaders PLUGINS = plugins(LOCATION);
    private static final byte[] READ = "read".getBytes(StandardCharsets.UTF_8);
    private static final Object[] PARTS =
        {"t", null, null, null, null, null, null, null, new Object[] {new Object[] {"trace", READ}}, "t"};
    private static final Retries ONCE = Retries.of(Map.of());

    private ContextLoaderCases() {
    }

    static void ofPolledRecordsWhereTheyBecomeRows() throws Throwable {
        SourceRecord polled = new SourceRecord(Map.of(), Map.of(), "t", Schema.STRING_SCHEMA, "key", Schema.STRING_SCHEMA, "value");
        polled.headers().addString("trace", "1");
        SourceTaskHost host = SourceTaskHostCases.polling(polled);
        host.cut(100, false, 60_000);
        Converter converter = PLUGINS.converter(CAREFUL, false);
        HeaderConverter header = PLUGINS.headerConverter(CAREFUL);
        Object[] row = new RecordRows(host, 0, 1, new RecordRows.Converters(converter, converter, header, ONCE, List.of()), false).next();
        equal(row[8], null);
        equal(text(row[3]), "own");
    }

    static void ofHeadersThatTransformsReadAndMake() {
        Map<String, Object> insert = stage(InsertHeader.class, Map.of("header", "made", "value.literal", "x"));
        Map<String, Object> request = Map.of("kind", "stages", "stages", List.of(insert), "header", CAREFUL);
        Object[] changed = ChainCall.of(PLUGINS, request).call(PARTS, ONCE);
        equal(changed[0], null);
        Object[] headers = (Object[]) changed[7];
        equal(text(((Object[]) headers[0])[1]), "read");
        equal(text(((Object[]) headers[1])[1]), "own");
    }

    static void ofHeadersThatAPredicateReads() {
        Map<String, Object> asked = stage(HasHeaderKey.class, Map.of("name", "trace"));
        Map<String, Object> request = Map.of("kind", "predicate", "predicate", asked, "alias", "has", "header", CAREFUL);
        Object[] answer = ChainCall.of(PLUGINS, request).call(PARTS, ONCE);
        equal(answer, new Object[] {null, true});
    }

    private static PluginLoaders plugins(String location) {
        PluginLoaders plugins = new PluginLoaders(ContextLoaderCases.class.getClassLoader());
        plugins.add(Map.of("locations", Map.of(location, List.of(location)), "newest", Map.of()));
        return plugins;
    }

    private static Map<String, Object> stage(Class<?> plugin, Map<String, String> props) {
        return new HashMap<>(Map.of("alias", "stage", "class", plugin.getName(), "props", props));
    }

    private static String text(Object bytes) {
        return new String((byte[]) bytes, StandardCharsets.UTF_8);
    }

    /** Works only where its own loader is the thread's. */
    public static final class Careful implements Converter, HeaderConverter {
        private static <T> T own(T answer) {
            if (Thread.currentThread().getContextClassLoader() != Careful.class.getClassLoader()) {
                throw new IllegalStateException("no provider found");
            }
            return answer;
        }

        @Override
        public String version() {
            return "1";
        }

        @Override
        public void configure(Map<String, ?> configs, boolean isKey) {
        }

        @Override
        public byte[] fromConnectData(String topic, Schema schema, Object value) {
            return own("own".getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public SchemaAndValue toConnectData(String topic, byte[] value) {
            return own(new SchemaAndValue(Schema.STRING_SCHEMA, "own"));
        }

        @Override
        public SchemaAndValue toConnectHeader(String topic, String headerKey, byte[] value) {
            return toConnectData(topic, value);
        }

        @Override
        public byte[] fromConnectHeader(String topic, String headerKey, Schema schema, Object value) {
            return fromConnectData(topic, schema, value);
        }

        @Override
        public ConfigDef config() {
            return new ConfigDef();
        }

        @Override
        public void configure(Map<String, ?> configs) {
        }

        @Override
        public void close() {
        }
    }
}
