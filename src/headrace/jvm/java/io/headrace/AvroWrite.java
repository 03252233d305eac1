package io.headrace;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A JSON payload with its schema of Connect, written in Avro's binary form behind the id of the schema in the registry.
 *
 * <p>What is known is a constant of the plan: for each schema and topic the id, or why there is none.
 */
public final class AvroWrite {
    /** value: the bytes; wanted: topic and schema, as JSON, that have no id yet; error: why there are no bytes. */
    public static final DataType TYPE = new StructType()
        .add("value", DataTypes.BinaryType).add("wanted", DataTypes.StringType).add("error", DataTypes.StringType);

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String PROBLEM = "org.apache.kafka.common.errors.SerializationException: Error serializing Avro message: ";
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

    private AvroWrite() {
    }

    /** What one schema is written with to one topic; error: why it cannot be. */
    private record Target(int id, AvroPut plan, UTF8String error) { }

    /** The targets of every schema, by topic; under the topic "" where the subject does not depend on it. */
    private static final class Known {
        private final Map<UTF8String, Map<UTF8String, Target>> targets = new HashMap<>();
        private UTF8String recent; // the schema that was asked for last: a constant is the same object for each record
        private Map<UTF8String, Target> recentTargets;

        Known(JsonNode schemas) {
            for (JsonNode schema : schemas) {
                Map<UTF8String, Target> topics = new HashMap<>();
                for (JsonNode topic : schema.get("topics")) {
                    UTF8String error = topic.hasNonNull("error") ? UTF8String.fromString(topic.get("error").asText()) : null;
                    AvroPut plan = error == null ? AvroPut.of(topic.get("plan")) : null;
                    topics.put(UTF8String.fromString(topic.get("topic").asText()), new Target(topic.path("id").asInt(), plan, error));
                }
                targets.put(UTF8String.fromString(schema.get("schema").asText()), topics);
            }
        }

        synchronized Map<UTF8String, Target> topics(UTF8String schema) {
            if (schema != recent) {
                recentTargets = targets.getOrDefault(schema, Map.of());
                recent = schema;
            }
            return recentTargets;
        }
    }

    /** @param json null for no record; @param schema in JsonConverter's form; @param known see headrace.converters.avro */
    public static InternalRow write(UTF8String json, UTF8String schema, UTF8String topic, UTF8String known) {
        Object[] row = new Object[3];
        if (json == null) {
            return new GenericInternalRow(row);
        }
        Map<UTF8String, Target> topics = ((Known) KNOWN.get(known)).topics(schema);
        Target target = topics.get(topic);
        if (target == null) {
            target = topics.get(UTF8String.EMPTY_UTF8);
        }
        if (target == null) {
            row[1] = UTF8String.fromString(MAPPER.createObjectNode().put("topic", topic.toString()).put("schema", schema.toString()).toString());
        } else if (target.error != null) {
            row[2] = target.error;
        } else {
            put(row, json, target);
        }
        return new GenericInternalRow(row);
    }

    private static void put(Object[] row, UTF8String json, Target target) {
        try {
            JsonNode value = MAPPER.readTree(json.toString());
            if (value.isNull() && !target.plan.takesNull()) {
                return;
            }
            AvroOutput out = new AvroOutput();
            out.writeFixed(ByteBuffer.allocate(5).put((byte) 0).putInt(target.id).array());
            target.plan.write(value, out);
            row[0] = out.toBytes();
        } catch (AvroPut.Refused e) {
            row[2] = UTF8String.fromString(PROBLEM + e.getMessage());
        } catch (IOException e) {
            row[2] = UTF8String.fromString(PROBLEM + e.getMessage());
        }
    }
}
