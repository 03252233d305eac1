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
import java.util.HashMap;
import java.util.Map;

/** JSON by a schema of Connect as JsonConverter would write it (headrace.json_schema.plans). */
abstract class JsonSchemaReader {
    private static final JsonNodeFactory NODES = JsonNodeFactory.withExactBigDecimals(true);
    private static final ObjectMapper MAPPER = new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).setNodeFactory(NODES);

    private boolean optional;
    private JsonNode whenNull; // the default, null if there is none
    private String type;

    static PayloadRead.Reader of(JsonNode plan) {
        JsonSchemaReader root = reader(plan);
        return bytes -> {
            if (bytes.length == 0) {
                throw new EOFException();
            }
            return root.read(MAPPER.readTree(bytes));
        };
    }

    private static JsonSchemaReader reader(JsonNode plan) {
        String type = plan.get("t").asText();
        JsonSchemaReader made = switch (type) {
            case "array" -> new ListOf(reader(plan.get("i")));
            case "map" -> new MapOf(reader(plan.get("i")));
            case "pairs" -> new Pairs(plan);
            case "struct" -> new StructOf(plan.get("f"));
            case "union" -> new Union(plan.get("f"));
            case "decimal" -> new Decimal(plan.get("scale").asInt());
            case "Date", "Time", "Timestamp" -> new Logical(type);
            default -> new Plain(type);
        };
        made.type = plan.get("c").asText();
        made.optional = plan.path("o").asBoolean();
        made.whenNull = plan.get("d");
        return made;
    }

    /** @param value null if it is not there */
    final JsonNode read(JsonNode value) throws IOException {
        if (value != null && !value.isNull()) {
            return present(value);
        }
        if (whenNull != null) {
            return whenNull;
        }
        if (value == null || optional) {
            return NODES.nullNode();
        }
        throw new IOException("Invalid null value for required " + type + " field");
    }

    abstract JsonNode present(JsonNode value) throws IOException;

    /** How well a value fits a branch of a union: -1 by its type, else the number of members that are known. */
    int fit(JsonNode value) {
        return switch (type) {
            case "INT8", "INT16", "INT32", "INT64" -> value.isIntegralNumber();
            case "FLOAT32", "FLOAT64" -> value.isNumber();
            case "BOOLEAN" -> value.isBoolean();
            case "STRING" -> value.isTextual();
            case "BYTES" -> value.isBigDecimal();
            case "ARRAY" -> value.isArray();
            case "MAP" -> value.isContainerNode();
            default -> false;
        } ? -1 : 0;
    }

    private static final class Plain extends JsonSchemaReader {
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
                case "float32" -> NODES.numberNode(value.floatValue());
                case "float64" -> NODES.numberNode(value.doubleValue());
                case "string" -> value.isTextual() ? value : NODES.nullNode();
                default -> bytes(value);
            };
        }

        private static JsonNode bytes(JsonNode value) throws IOException {
            byte[] bytes = value.binaryValue(); // fails for a text that is not base64
            if (bytes == null) {
                throw new IOException("Invalid bytes field");
            }
            return value;
        }
    }

    private static final class Decimal extends JsonSchemaReader {
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
            return Plain.bytes(value);
        }
    }

    private static final class Logical extends JsonSchemaReader {
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
            return value;
        }
    }

    private static final class ListOf extends JsonSchemaReader {
        private final JsonSchemaReader item;

        ListOf(JsonSchemaReader item) {
            this.item = item;
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            ArrayNode list = NODES.arrayNode();
            for (JsonNode one : value) {
                list.add(item.read(one));
            }
            return list;
        }
    }

    private static final class MapOf extends JsonSchemaReader {
        private final JsonSchemaReader item;

        MapOf(JsonSchemaReader item) {
            this.item = item;
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            if (!value.isObject()) {
                throw new IOException("Maps with string fields should be encoded as JSON objects, but found " + value.getNodeType());
            }
            ObjectNode map = NODES.objectNode();
            for (Map.Entry<String, JsonNode> entry : value.properties()) {
                map.set(entry.getKey(), item.read(entry.getValue()));
            }
            return map;
        }
    }

    /** A map whose keys are no texts: an array of objects with a key and a value. */
    private static final class Pairs extends JsonSchemaReader {
        private final JsonSchemaReader key;
        private final JsonSchemaReader item;
        private final boolean isObject; // in JsonConverter's form

        Pairs(JsonNode plan) {
            key = reader(plan.get("k"));
            item = reader(plan.get("v"));
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
                JsonNode name = key.read(entry.get("key"));
                JsonNode one = item.read(entry.get("value"));
                if (isObject) {
                    map.set(name.asText(), one);
                } else {
                    pairs.addArray().add(name).add(one);
                }
            }
            return isObject ? map : pairs;
        }
    }

    private static final class StructOf extends JsonSchemaReader {
        private final String[] names;
        private final JsonSchemaReader[] steps;
        private final Map<String, JsonSchemaReader> byName = new HashMap<>();

        StructOf(JsonNode fields) {
            names = new String[fields.size()];
            steps = new JsonSchemaReader[names.length];
            for (int i = 0; i < names.length; i++) {
                names[i] = fields.get(i).get(0).asText();
                steps[i] = reader(fields.get(i).get(1));
                byName.put(names[i], steps[i]);
            }
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            if (!value.isObject()) {
                throw new IOException("Structs should be encoded as JSON objects, but found " + value.getNodeType());
            }
            ObjectNode struct = NODES.objectNode();
            for (int i = 0; i < names.length; i++) {
                struct.set(names[i], steps[i].read(value.get(names[i])));
            }
            return struct;
        }

        @Override
        int fit(JsonNode value) {
            int count = 0;
            for (Map.Entry<String, JsonNode> member : value.properties()) {
                JsonSchemaReader step = byName.get(member.getKey());
                count += step == null ? 0 : 1 + Math.max(0, step.fit(member.getValue()));
            }
            return count;
        }
    }

    /** A struct with a field for each branch, of which one is not null. */
    private static final class Union extends JsonSchemaReader {
        private final String[] names;
        private final JsonSchemaReader[] branches;

        Union(JsonNode fields) {
            names = new String[fields.size()];
            branches = new JsonSchemaReader[names.length];
            for (int i = 0; i < names.length; i++) {
                names[i] = fields.get(i).get(0).asText();
                branches[i] = reader(fields.get(i).get(1));
            }
        }

        private int branch(JsonNode value) throws IOException {
            int best = -1;
            int most = 0;
            for (int i = 0; i < branches.length; i++) {
                int fit = branches[i].fit(value);
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
                struct.set(names[i], i == branch ? branches[i].read(value) : NODES.nullNode());
            }
            return struct;
        }
    }
}
