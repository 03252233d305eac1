package io.headrace.connect;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.header.Headers;
import org.apache.kafka.connect.runtime.HostEnvironment;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.predicates.Predicate;
import org.apache.kafka.connect.util.ConnectUtils;

/**
 * What a compiled chain has plugins do with one record: JDK types in and out, one thread at a time.
 *
 * <p>The first of what comes out is a failure, null for none: the step's alias (null: the only one), class, message and cause.
 */
interface ChainCall extends AutoCloseable {
    Object[] call(Object[] parts, Retries retries);

    List<AutoCloseable> measured(HostEnvironment environment, String connector, int task);

    @SuppressWarnings("unchecked")
    static ChainCall of(PluginLoaders plugins, Map<String, Object> request) {
        HeaderConverter header = request.get("header") == null ? null : plugins.headerConverter(request.get("header"));
        boolean key = Boolean.TRUE.equals(request.get("key"));
        switch ((String) request.get("kind")) {
            case "stages":
                List<Map<String, Object>> stages = (List<Map<String, Object>>) request.get("stages");
                return Boolean.TRUE.equals(request.get("sink"))
                    ? new OfStages<SinkRecord>(new TransformationChain<>(plugins, stages), header)
                    : new OfStages<SourceRecord>(new TransformationChain<>(plugins, stages), header);
            case "predicate":
                Predicate<?> predicate = plugins.configured((Map<?, ?>) request.get("predicate"));
                return new OfPredicate(predicate, (String) request.get("alias"), header);
            case "read":
                return new OfReading(plugins.converter(request.get("converter"), key), key);
            case "write":
                return new OfWriting(plugins.converter(request.get("converter"), key), key);
            default:
                return new OfHeader(header);
        }
    }

    /**
     * Parts: topic, partition, offset (null: of a source), timestamp, schema and payload of the key, the same of the value, headers,
     * the topic that the record was read from. read: gets the bytes of each header.
     */
    private static ConnectRecord<?> record(ConnectData data, HeaderConverter converter, Object[] parts, Map<Header, byte[]> read) {
        String topic = (String) parts[0];
        String readFrom = (String) parts[9];
        SchemaAndValue key = data.read((String) parts[4], (byte[]) parts[5]);
        SchemaAndValue value = data.read((String) parts[6], (byte[]) parts[7]);
        Headers headers = new ConnectHeaders();
        try (ContextLoader swapped = ContextLoader.in(converter)) {
            for (Object pair : (Object[]) parts[8]) {
                String name = (String) ((Object[]) pair)[0];
                byte[] bytes = (byte[]) ((Object[]) pair)[1];
                headers.add(name, converter.toConnectHeader(readFrom, name, bytes));
                read.put(headers.lastWithName(name), bytes);
            }
        }
        Integer partition = (Integer) parts[1];
        if (parts[2] == null) {
            return new SourceRecord(Map.of(), Map.of(), topic, partition, key.schema(), key.value(), value.schema(), value.value(),
                (Long) parts[3], headers);
        }
        return new SinkRecord(topic, partition, key.schema(), key.value(), value.schema(), value.value(), (Long) parts[2],
            (Long) parts[3], TimestampType.CREATE_TIME, headers);
    }

    /** Out: failure, whether the record is taken out, topic, partition, timestamp, key and value as JSON, headers. */
    final class OfStages<R extends ConnectRecord<R>> implements ChainCall {
        private final ConnectData data = new ConnectData();
        private final TransformationChain<R> chain;
        private final HeaderConverter header;

        OfStages(TransformationChain<R> chain, HeaderConverter header) {
            this.chain = chain;
            this.header = header;
        }

        @Override
        @SuppressWarnings("unchecked")
        public Object[] call(Object[] parts, Retries retries) {
            try {
                Map<Header, byte[]> read = new IdentityHashMap<>();
                R given = (R) retries.call(() -> record(data, header, parts, read));
                R record = chain.apply(given, retries);
                if (record == null) {
                    return new Object[] {null, true, null, null, null, null, null, null};
                }
                byte[] key = data.write(record.keySchema(), record.key());
                byte[] value = data.write(record.valueSchema(), record.value());
                return new Object[] {null, false, record.topic(), record.kafkaPartition(), timestamp(record), key, value,
                    retries.call(() -> pairs(record, read))};
            } catch (TransformationChain.StageFailure e) {
                return new Object[] {Failure.ofRecord(e.alias, e.getCause()), false, null, null, null, null, null, null};
            } catch (RuntimeException | LinkageError e) {
                return new Object[] {Failure.ofRecord(null, e), false, null, null, null, null, null, null};
            }
        }

        /** As a producer takes that of a source: -1 is none. Raises Kafka Connect's exception for less. */
        private static Long timestamp(ConnectRecord<?> record) {
            return record instanceof SinkRecord ? record.timestamp() : ConnectUtils.checkAndConvertTimestamp(record.timestamp());
        }

        /** A header that no transform has changed keeps its bytes: not every converter writes what it has read. */
        private Object[] pairs(R record, Map<Header, byte[]> read) {
            List<Object> pairs = new ArrayList<>();
            try (ContextLoader swapped = ContextLoader.in(header)) {
                for (Header one : record.headers()) {
                    byte[] bytes = read.containsKey(one) ? read.get(one)
                        : header.fromConnectHeader(record.topic(), one.key(), one.schema(), one.value());
                    pairs.add(new Object[] {one.key(), bytes});
                }
            }
            return pairs.toArray();
        }

        @Override
        public List<AutoCloseable> measured(HostEnvironment environment, String connector, int task) {
            List<AutoCloseable> measured = new ArrayList<>(chain.measured(environment, connector, task));
            measured.add(environment.measured(header, connector, task, null));
            return measured;
        }

        @Override
        public void close() {
            chain.close();
            Utils.closeQuietly(header, "header converter");
        }
    }

    /** Asks one plugin. Out: failure, and what {@link #answer} says: a value, or for a converter of keys or values two. */
    abstract class OfPlugin<T> implements ChainCall {
        final ConnectData data = new ConnectData();
        final T plugin;
        private final String name; // of what kind it is, for the log

        OfPlugin(T plugin, String name) {
            this.plugin = plugin;
            this.name = name;
        }

        abstract Object[] answer(Object[] parts);

        /** What comes out in place of an answer. */
        Object[] refused(Object[] failure) {
            return new Object[] {failure, null};
        }

        @Override
        public final Object[] call(Object[] parts, Retries retries) {
            try (ContextLoader swapped = ContextLoader.in(plugin)) {
                return retries.call(() -> answer(parts));
            } catch (RuntimeException | LinkageError e) {
                return refused(Failure.ofRecord(null, e));
            }
        }

        @Override
        public void close() {
            Utils.closeQuietly((AutoCloseable) plugin, name);
        }
    }

    /** In: a record; out: whether the predicate holds. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    final class OfPredicate extends OfPlugin<Predicate> {
        private final String alias;
        private final HeaderConverter header;

        OfPredicate(Predicate<?> predicate, String alias, HeaderConverter header) {
            super(predicate, "predicate");
            this.alias = alias;
            this.header = header;
        }

        @Override
        Object[] answer(Object[] parts) {
            return new Object[] {null, plugin.test(record(data, header, parts, new IdentityHashMap<>()))};
        }

        @Override
        public List<AutoCloseable> measured(HostEnvironment environment, String connector, int task) {
            return List.of(environment.measured(plugin, connector, task, alias),
                environment.measured(header, connector, task, null));
        }

        @Override
        public void close() {
            super.close();
            Utils.closeQuietly(header, "header converter");
        }
    }

    /** A converter of keys or values. Out: failure, bytes, headers (null: as they were; KIP-440). */
    abstract class OfConverter extends OfPlugin<Converter> {
        private final boolean key;

        OfConverter(Converter converter, boolean key) {
            super(converter, "converter");
            this.key = key;
        }

        @Override
        public final List<AutoCloseable> measured(HostEnvironment environment, String connector, int task) {
            return List.of(environment.measured(plugin, connector, task, key ? "key" : "value"));
        }

        @Override
        final Object[] refused(Object[] failure) {
            return new Object[] {failure, null, null};
        }

        static RecordHeaders headers(Object given) {
            RecordHeaders headers = new RecordHeaders();
            for (Object pair : (Object[]) given) {
                headers.add((String) ((Object[]) pair)[0], (byte[]) ((Object[]) pair)[1]);
            }
            return headers;
        }

        static Object[] converted(byte[] bytes, RecordHeaders headers, org.apache.kafka.common.header.Header[] before) {
            return new Object[] {null, bytes, Arrays.equals(before, headers.toArray()) ? null : RecordRows.pairs(headers)};
        }
    }

    /** In: topic, bytes, headers; out: JSON in place of bytes. */
    final class OfReading extends OfConverter {
        OfReading(Converter converter, boolean key) {
            super(converter, key);
        }

        @Override
        Object[] answer(Object[] parts) {
            RecordHeaders headers = headers(parts[2]);
            org.apache.kafka.common.header.Header[] before = headers.toArray();
            SchemaAndValue read = plugin.toConnectData((String) parts[0], headers, (byte[]) parts[1]);
            return converted(data.write(read.schema(), read.value()), headers, before);
        }
    }

    /** In: topic, schema, payload, headers. */
    final class OfWriting extends OfConverter {
        OfWriting(Converter converter, boolean key) {
            super(converter, key);
        }

        @Override
        Object[] answer(Object[] parts) {
            SchemaAndValue value = data.read((String) parts[1], (byte[]) parts[2]);
            RecordHeaders headers = headers(parts[3]);
            org.apache.kafka.common.header.Header[] before = headers.toArray();
            return converted(plugin.fromConnectData((String) parts[0], headers, value.schema(), value.value()), headers, before);
        }
    }

    /** In: topic, name, schema, payload; out: bytes. */
    final class OfHeader extends OfPlugin<HeaderConverter> {
        OfHeader(HeaderConverter converter) {
            super(converter, "header converter");
        }

        @Override
        Object[] answer(Object[] parts) {
            SchemaAndValue value = data.read((String) parts[2], (byte[]) parts[3]);
            return new Object[] {null, plugin.fromConnectHeader((String) parts[0], (String) parts[1], value.schema(), value.value())};
        }

        @Override
        public List<AutoCloseable> measured(HostEnvironment environment, String connector, int task) {
            return List.of(environment.measured(plugin, connector, task, null));
        }
    }
}
