package io.headrace;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A JSON payload with its schema of Connect, written in the format of a schema of the registry behind that schema's id.
 *
 * <p>What is known is a constant of the plan: for each schema and topic the id, or why there is none.
 */
public final class RegistryWrite {
    /** value: the bytes; wanted: topic and schema, as JSON, that have no id yet; error: why there are no bytes. */
    public static final DataType TYPE = new StructType()
        .add("value", DataTypes.BinaryType).add("wanted", DataTypes.StringType).add("error", DataTypes.StringType);

    /** Writes the payload of one schema. */
    interface Writer {
        /** The bytes of a payload in JSON, null for no record. */
        byte[] toBytes(byte[] json) throws IOException;
    }

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String PROBLEM = "org.apache.kafka.common.errors.SerializationException: Error serializing %s message: %s";
    private static final Memo KNOWN = new Memo() {
        @Override
        Object make(String text) {
            try {
                return new Known(MAPPER.readTree(text));
            } catch (IOException e) {
                throw new IllegalArgumentException(e);
            }
        }
    };

    private RegistryWrite() {
    }

    /** What one schema is written with to one topic; error: why it cannot be. */
    private record Target(int id, byte[] prefix, Writer writer, UTF8String error) { }

    private record OfSchema(UTF8String schema, Map<UTF8String, Target> topics) { }

    /** The targets of every schema, by topic; under the topic "" where the subject does not depend on it. */
    private static final class Known {
        private final Map<UTF8String, Map<UTF8String, Target>> targets = new HashMap<>();
        private volatile OfSchema recent = new OfSchema(null, Map.of()); // the schema of the last record: nearly always of this one, too

        private final String format;

        Known(JsonNode known) {
            format = known.get("format").asText();
            for (JsonNode schema : known.get("schemas")) {
                Map<UTF8String, Target> topics = new HashMap<>();
                for (JsonNode topic : schema.get("topics")) {
                    UTF8String error = topic.hasNonNull("error") ? UTF8String.fromString(topic.get("error").asText()) : null;
                    Writer writer = error == null ? writer(format, topic.get("plan")) : null;
                    byte[] prefix = Base64.getDecoder().decode(topic.path("prefix").asText());
                    topics.put(UTF8String.fromString(topic.get("topic").asText()), new Target(topic.path("id").asInt(), prefix, writer, error));
                }
                targets.put(UTF8String.fromString(schema.get("schema").asText()), topics);
            }
        }

        private static Writer writer(String format, JsonNode plan) {
            return switch (format) {
                case "Avro" -> AvroPut.of(plan);
                case "Protobuf" -> new ProtobufWriter((ProtobufType.Nested) ProtobufType.of(plan));
                default -> JsonSchemaWriter.of(plan);
            };
        }

        /** The targets of a schema by topic. Schemas are long: to compare two costs less than to hash one. */
        Map<UTF8String, Target> topics(UTF8String schema) {
            OfSchema found = recent;
            if (schema != found.schema && !schema.equals(found.schema)) {
                found = new OfSchema(schema.copy(), targets.getOrDefault(schema, Map.of()));
                recent = found;
            }
            return found.topics;
        }
    }

    /** @param json null for no record; @param schema in JsonConverter's form; @param known see headrace.converters.registered */
    public static InternalRow write(UTF8String json, UTF8String schema, UTF8String topic, UTF8String known) {
        Object[] row = new Object[3];
        if (json == null) {
            return new GenericInternalRow(row);
        }
        Known targets = (Known) KNOWN.get(known);
        Map<UTF8String, Target> topics = targets.topics(schema);
        Target target = topics.get(topic);
        if (target == null) {
            target = topics.get(UTF8String.EMPTY_UTF8);
        }
        if (target == null) {
            row[1] = UTF8String.fromString(MAPPER.createObjectNode().put("topic", topic.toString()).put("schema", schema.toString()).toString());
        } else if (target.error != null) {
            row[2] = target.error;
        } else {
            put(row, json, target, targets.format);
        }
        return new GenericInternalRow(row);
    }

    /** The payload's bytes; a string that was read may be no UTF-8. */
    private static byte[] bytes(Writer writer, UTF8String json) throws IOException {
        try {
            return writer.toBytes(json.getBytes());
        } catch (JsonProcessingException e) {
            if (json.isValid()) {
                throw e;
            }
            return writer.toBytes(json.makeValid().getBytes());
        }
    }

    private static void put(Object[] row, UTF8String json, Target target, String format) {
        try {
            byte[] payload = bytes(target.writer, json);
            if (payload != null) {
                ByteBuffer whole = ByteBuffer.allocate(1 + Integer.BYTES + target.prefix.length + payload.length);
                row[0] = whole.put((byte) 0).putInt(target.id).put(target.prefix).put(payload).array();
            }
        } catch (IOException | RuntimeException | StackOverflowError e) {
            row[2] = UTF8String.fromString(String.format(PROBLEM, format, PayloadRead.why(e, null)));
        }
    }
}
