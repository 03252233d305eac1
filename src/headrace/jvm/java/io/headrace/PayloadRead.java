package io.headrace;

import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.EOFException;
import java.io.IOException;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/** Data of JSON Schema or Protobuf, read by a plan (headrace.json_schema, headrace.protobuf) as the columns of {@link JsonRead}. */
public final class PayloadRead {
    /** Reads one value as JsonConverter would write it. */
    interface Reader {
        JsonNode read(byte[] bytes) throws IOException;
    }

    private record Plan(String format, Reader reader) { }

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Memo PLANS = new Memo() {
        @Override
        Object make(String text) {
            try {
                JsonNode node = MAPPER.readTree(text);
                String format = node.get("format").asText();
                JsonNode plan = node.get("plan");
                return new Plan(format, "Protobuf".equals(format) ? ProtobufReader.of(plan) : JsonSchemaReader.of(plan));
            } catch (IOException e) {
                throw new IllegalArgumentException(e);
            }
        }
    };

    private PayloadRead() {
    }

    /** @param names the fields, joined by the character 0 (each begins with one); @param text the plan, as JSON */
    public static InternalRow read(byte[] bytes, UTF8String names, UTF8String text) {
        Map<String, Integer> wanted = ReadRow.wanted(names);
        Object[] row = ReadRow.empty(wanted.size());
        Plan plan = (Plan) PLANS.get(text);
        try {
            JsonNode value = plan.reader.read(bytes);
            if (wanted.isEmpty() || value == null || !value.isObject()) {
                ReadRow.put(row, 1, value);
            } else {
                for (Map.Entry<String, Integer> member : wanted.entrySet()) {
                    ReadRow.put(row, ReadRow.FIRST + 4 * member.getValue(), value.get(member.getKey()));
                }
                row[1] = JsonRead.MAP;
            }
        } catch (IOException | RuntimeException | StackOverflowError e) {
            row = ReadRow.empty(wanted.size());
            row[0] = UTF8String.fromString("org.apache.kafka.common.errors.SerializationException: Error deserializing " + plan.format
                + " message: " + why(e, bytes));
        }
        return new GenericInternalRow(row);
    }

    /** Why bytes cannot be read, in a sentence. */
    static String why(Throwable e, byte[] bytes) {
        return e instanceof EOFException ? "the data ends before the record does (" + bytes.length + " bytes of payload)"
            : e instanceof StackOverflowError || e instanceof StreamConstraintsException ? "the data is nested too deep"
            : e instanceof com.fasterxml.jackson.core.JsonProcessingException json ? "it is no JSON: " + json.getOriginalMessage()
            : e.getMessage();
    }
}
