package io.headrace;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.EOFException;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.Base64;
import java.util.Set;

/** JSON by a schema of Connect as JsonConverter would write it (headrace.json_schema.plans). */
final class JsonSchemaReader {
    private static final JsonNodeFactory NODES = JsonSchemaStep.NODES;
    private static final ObjectMapper MAPPER = new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).setNodeFactory(NODES);

    private static final Set<String> ODD = Set.of("NaN", "Infinity", "-Infinity");

    private JsonSchemaReader() {
    }

    static PayloadRead.Reader of(JsonNode plan) {
        JsonSchemaStep root = new Steps().of(plan);
        return bytes -> {
            if (bytes.length == 0) {
                throw new EOFException();
            }
            return root.convert(MAPPER.readTree(bytes));
        };
    }

    private static final class Steps extends JsonSchemaStep.Maker {
        Steps() {
            super(true);
        }

        @Override
        JsonSchemaStep make(JsonNode plan) {
            String type = plan.get("t").asText();
            return switch (type) {
                case "array" -> new JsonSchemaStep.ListOf(plan, this);
                case "map" -> new JsonSchemaStep.MapOf(plan, this);
                case "pairs" -> new Pairs(plan, this);
                case "struct" -> new JsonSchemaStep.StructOf(plan, this);
                case "union" -> new Union(plan, this);
                case "decimal" -> new Decimal(plan.get("scale").asInt());
                case "Date", "Time", "Timestamp" -> new Logical(type);
                default -> new Plain(type);
            };
        }
    }

    private static final class Plain extends JsonSchemaStep {
        private final String kind;

        Plain(String kind) {
            this.kind = kind;
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            return switch (kind) {
                case "boolean" -> NODES.booleanNode(value.booleanValue());
                case "int8" -> NODES.numberNode((byte) value.shortValue());
                case "int16" -> NODES.numberNode(value.shortValue());
                case "int32" -> NODES.numberNode(value.intValue());
                case "int64" -> NODES.numberNode(value.longValue());
                case "float32" -> NODES.numberNode(isNoNumber(value) ? Float.parseFloat(value.textValue()) : value.floatValue());
                case "float64" -> NODES.numberNode(isNoNumber(value) ? Double.parseDouble(value.textValue()) : value.doubleValue());
                case "string" -> value.isTextual() ? value : NODES.nullNode();
                default -> bytes(value);
            };
        }

        /** What JSON has no number for is written as a text. */
        private static boolean isNoNumber(JsonNode value) {
            return value.isTextual() && ODD.contains(value.textValue());
        }

        private static JsonNode bytes(JsonNode value) throws IOException {
            byte[] bytes = value.binaryValue(); // fails for a text that is not base64
            if (bytes == null) {
                throw new IOException("Invalid bytes field");
            }
            return value;
        }
    }

    private static final class Decimal extends JsonSchemaStep {
        private final int scale;

        Decimal(int scale) {
            this.scale = scale;
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            if (value.isNumber()) {
                BigDecimal number = ProtobufLogical.scaled(value.decimalValue(), scale);
                return NODES.textNode(Base64.getEncoder().encodeToString(number.unscaledValue().toByteArray()));
            }
            if (!value.isTextual()) {
                throw new IOException("Invalid type for Decimal, underlying representation should be numeric or bytes but was "
                    + value.getNodeType());
            }
            if (Plain.bytes(value).binaryValue().length == 0) {
                throw new IOException("Invalid bytes for Decimal field");
            }
            return value;
        }
    }

    private static final class Logical extends JsonSchemaStep {
        private final String name;

        Logical(String name) {
            this.name = name;
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            boolean isLong = "Timestamp".equals(name);
            if (isLong ? !value.isIntegralNumber() : !value.isInt()) {
                throw new IOException("Invalid type for " + name + ", underlying representation should be "
                    + (isLong ? "integral" : "integer") + " but was " + value.getNodeType());
            }
            if ("Time".equals(name)) {
                ReadRow.timeOfDay(value.intValue());
            }
            return value;
        }
    }

    /** A map whose keys are no texts: an array of objects with a key and a value. */
    private static final class Pairs extends JsonSchemaStep {
        private final JsonSchemaStep key;
        private final JsonSchemaStep item;
        private final boolean isObject; // in JsonConverter's form

        Pairs(JsonNode plan, JsonSchemaStep.Maker steps) {
            key = steps.of(plan.get("k"));
            item = steps.of(plan.get("v"));
            isObject = plan.get("object").asBoolean();
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            if (!value.isArray()) {
                throw new IOException("Maps with non-string fields should be encoded as JSON array of objects, but found "
                    + value.getNodeType());
            }
            ObjectNode map = NODES.objectNode();
            ArrayNode pairs = NODES.arrayNode();
            for (JsonNode entry : value) {
                if (!entry.isObject() || entry.size() != 2) {
                    throw new IOException("Found invalid map entry, expected an object with key and value but found " + entry.getNodeType());
                }
                JsonNode name = key.convert(entry.get("key"));
                JsonNode one = item.convert(entry.get("value"));
                if (isObject && name.isNull()) {
                    throw new IOException("null is the key of an entry of a map");
                } else if (isObject) {
                    map.set(name.asText(), one);
                } else {
                    pairs.addArray().add(name).add(one);
                }
            }
            return isObject ? map : pairs;
        }
    }

    /** A struct with a field for each branch, of which one is not null. */
    private static final class Union extends JsonSchemaStep.Members {
        Union(JsonNode plan, JsonSchemaStep.Maker steps) {
            super(plan, steps);
        }

        private int branch(JsonNode value) throws IOException {
            int best = -1;
            int most = 0;
            for (int i = 0; i < steps.length; i++) {
                int fit = steps[i].fit(value);
                if (fit < 0) {
                    return i;
                }
                if (fit > most) {
                    best = i;
                    most = fit;
                }
            }
            if (best < 0) {
                throw new IOException("Did not find matching oneof field for data");
            }
            return best;
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            int branch = branch(value);
            ObjectNode struct = NODES.objectNode();
            for (int i = 0; i < names.length; i++) {
                struct.set(names[i], i == branch ? steps[i].convert(value) : NODES.nullNode());
            }
            return struct;
        }
    }
}
