package io.headrace;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;

/** A payload in JsonConverter's form as JSON of a JSON Schema (headrace.json_schema.plans). */
abstract class JsonSchemaWriter {
    private static final JsonNodeFactory NODES = JsonNodeFactory.withExactBigDecimals(true);
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private boolean optional;
    private JsonNode whenNull; // the default, null if there is none

    static RegistryWrite.Writer of(JsonNode plan) {
        JsonSchemaWriter root = writer(plan);
        return new RegistryWrite.Writer() {
            @Override
            public byte[] toBytes(JsonNode value) throws IOException {
                JsonNode found = root.write(value);
                return found == null ? null : MAPPER.writeValueAsBytes(found);
            }

            @Override
            public boolean takesNull() {
                return true;
            }
        };
    }

    private static JsonSchemaWriter writer(JsonNode plan) {
        JsonSchemaWriter made = switch (plan.get("t").asText()) {
            case "array" -> new ListOf(writer(plan.get("i")));
            case "map" -> new MapOf(writer(plan.get("i")));
            case "pairs" -> new Pairs(plan);
            case "struct" -> new StructOf(plan.get("f"), false);
            case "union" -> new StructOf(plan.get("f"), true);
            case "decimal" -> plan.path("numeric").asBoolean() ? new Decimal(plan.get("scale").asInt()) : new Plain();
            case "float32" -> new Single();
            default -> new Plain();
        };
        made.optional = plan.path("o").asBoolean();
        made.whenNull = plan.path("keep").asBoolean() ? null : plan.get("d");
        return made;
    }

    /** @return null if there is nothing to write */
    final JsonNode write(JsonNode value) throws IOException {
        if (value != null && !value.isNull()) {
            return present(value);
        }
        return whenNull != null ? present(whenNull) : optional ? NODES.nullNode() : null;
    }

    abstract JsonNode present(JsonNode value) throws IOException;

    private static final class Plain extends JsonSchemaWriter {
        @Override
        JsonNode present(JsonNode value) {
            return value;
        }
    }

    private static final class Single extends JsonSchemaWriter {
        @Override
        JsonNode present(JsonNode value) {
            return value.isTextual() ? value : NODES.numberNode(value.floatValue());
        }
    }

    private static final class Decimal extends JsonSchemaWriter {
        private final int scale;

        Decimal(int scale) {
            this.scale = scale;
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            return NODES.numberNode(new BigDecimal(new BigInteger(value.binaryValue()), scale));
        }
    }

    private static final class ListOf extends JsonSchemaWriter {
        private final JsonSchemaWriter item;

        ListOf(JsonSchemaWriter item) {
            this.item = item;
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            ArrayNode list = NODES.arrayNode();
            for (JsonNode one : value) {
                list.add(item.write(one));
            }
            return list;
        }
    }

    private static final class MapOf extends JsonSchemaWriter {
        private final JsonSchemaWriter item;

        MapOf(JsonSchemaWriter item) {
            this.item = item;
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            ObjectNode map = NODES.objectNode();
            for (Map.Entry<String, JsonNode> entry : value.properties()) {
                map.set(entry.getKey(), item.write(entry.getValue()));
            }
            return map;
        }
    }

    private static final class Pairs extends JsonSchemaWriter {
        private final JsonSchemaWriter key;
        private final JsonSchemaWriter item;

        Pairs(JsonNode plan) {
            key = writer(plan.get("k"));
            item = writer(plan.get("v"));
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            ArrayNode list = NODES.arrayNode();
            for (Map.Entry<String, JsonNode> entry : value.properties()) { // of an object
                put(list, NODES.textNode(entry.getKey()), entry.getValue());
            }
            for (JsonNode pair : value.isArray() ? value : NODES.arrayNode()) {
                put(list, pair.get(0), pair.get(1));
            }
            return list;
        }

        private void put(ArrayNode list, JsonNode name, JsonNode one) throws IOException {
            list.addObject().<ObjectNode>set("key", key.write(name)).set("value", item.write(one));
        }
    }

    private static final class StructOf extends JsonSchemaWriter {
        private final String[] names;
        private final JsonSchemaWriter[] steps;
        private final boolean isUnion;

        StructOf(JsonNode fields, boolean isUnion) {
            this.isUnion = isUnion;
            names = new String[fields.size()];
            steps = new JsonSchemaWriter[names.length];
            for (int i = 0; i < names.length; i++) {
                names[i] = fields.get(i).get(0).asText();
                steps[i] = writer(fields.get(i).get(1));
            }
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            ObjectNode struct = NODES.objectNode();
            for (int i = 0; i < names.length; i++) {
                JsonNode found = isUnion && !value.hasNonNull(names[i]) ? null : steps[i].write(value.get(names[i]));
                if (isUnion && found != null) {
                    return found;
                }
                if (found != null) {
                    struct.set(names[i], found);
                }
            }
            return isUnion ? write(null) : struct;
        }
    }
}
