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
final class JsonSchemaWriter {
    private static final JsonNodeFactory NODES = JsonSchemaStep.NODES;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private JsonSchemaWriter() {
    }

    static RegistryWrite.Writer of(JsonNode plan) {
        JsonSchemaStep root = new Steps().of(plan);
        return json -> {
            JsonNode found = root.convert(MAPPER.readTree(json));
            return found == null ? null : MAPPER.writeValueAsBytes(found);
        };
    }

    private static final class Steps extends JsonSchemaStep.Maker {
        Steps() {
            super(false);
        }

        @Override
        JsonSchemaStep make(JsonNode plan) {
            return switch (plan.get("t").asText()) {
                case "array" -> new JsonSchemaStep.ListOf(plan, this);
                case "map" -> new JsonSchemaStep.MapOf(plan, this);
                case "pairs" -> new Pairs(plan, this);
                case "struct" -> new JsonSchemaStep.StructOf(plan, this);
                case "union" -> new Union(plan, this);
                case "decimal" -> plan.path("numeric").asBoolean() ? new Decimal(plan.get("scale").asInt()) : new Plain();
                case "float32" -> new Single();
                default -> new Plain();
            };
        }
    }

    private static final class Plain extends JsonSchemaStep {
        @Override
        JsonNode present(JsonNode value) {
            return value;
        }
    }

    private static final class Single extends JsonSchemaStep {
        @Override
        JsonNode present(JsonNode value) {
            return value.isTextual() ? value : NODES.numberNode(value.floatValue());
        }
    }

    private static final class Decimal extends JsonSchemaStep {
        private final int scale;

        Decimal(int scale) {
            this.scale = scale;
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            return NODES.numberNode(new BigDecimal(new BigInteger(value.binaryValue()), scale));
        }
    }

    private static final class Pairs extends JsonSchemaStep {
        private final JsonSchemaStep key;
        private final JsonSchemaStep item;

        Pairs(JsonNode plan, JsonSchemaStep.Maker steps) {
            key = steps.of(plan.get("k"));
            item = steps.of(plan.get("v"));
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
            list.addObject().<ObjectNode>set("key", key.convert(name)).set("value", item.convert(one));
        }
    }

    /** The one branch of a union that is there. */
    private static final class Union extends JsonSchemaStep.Members {
        Union(JsonNode plan, JsonSchemaStep.Maker steps) {
            super(plan, steps);
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            for (int i = 0; i < names.length; i++) {
                JsonNode found = value.hasNonNull(names[i]) ? steps[i].convert(value.get(names[i])) : null;
                if (found != null) {
                    return found;
                }
            }
            return convert(null);
        }
    }
}
