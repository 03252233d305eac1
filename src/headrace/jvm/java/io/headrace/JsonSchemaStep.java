package io.headrace;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * A step of a plan of headrace.json_schema.plans: one value from JSON of a JSON Schema to JsonConverter's form ({@link
 * JsonSchemaReader}), or back ({@link JsonSchemaWriter}).
 */
abstract class JsonSchemaStep {
    static final JsonNodeFactory NODES = JsonNodeFactory.withExactBigDecimals(true);

    String type; // Connect's
    private boolean reads;
    private boolean optional;
    private JsonNode whenNull; // the default, null if there is none

    /** Makes the steps of one direction. */
    abstract static class Maker {
        private final boolean reads;
        private final Map<Integer, JsonSchemaStep> structs = new HashMap<>(); // those around, that are a part of themselves

        Maker(boolean reads) {
            this.reads = reads;
        }

        final JsonSchemaStep of(JsonNode plan) {
            boolean refers = "ref".equals(plan.get("t").asText());
            return (refers ? new Reference(structs.get(plan.get("n").asInt())) : make(plan)).of(plan, reads);
        }

        abstract JsonSchemaStep make(JsonNode plan);
    }

    /** What all steps have of their plan. */
    final JsonSchemaStep of(JsonNode plan, boolean toConnect) {
        type = plan.get("c").asText();
        reads = toConnect;
        optional = plan.path("o").asBoolean();
        whenNull = !toConnect && plan.path("keep").asBoolean() ? null : plan.get("d");
        return this;
    }

    /** @param value null if it is not there; @return null if there is nothing to write */
    final JsonNode convert(JsonNode value) throws IOException {
        if (value != null && !value.isNull()) {
            return present(value);
        }
        if (whenNull != null) {
            return reads ? whenNull : present(whenNull);
        }
        if (optional || (reads && value == null)) {
            return NODES.nullNode();
        }
        if (reads) {
            throw new IOException("Invalid null value for required " + type + " field");
        }
        return null;
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

    static final class ListOf extends JsonSchemaStep {
        private final JsonSchemaStep item;

        ListOf(JsonNode plan, Maker steps) {
            item = steps.of(plan.get("i"));
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            ArrayNode list = NODES.arrayNode();
            for (JsonNode one : value) {
                list.add(item.convert(one));
            }
            return list;
        }
    }

    static final class MapOf extends JsonSchemaStep {
        private final JsonSchemaStep item;

        MapOf(JsonNode plan, Maker steps) {
            item = steps.of(plan.get("i"));
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            if (!value.isObject()) {
                throw new IOException("Maps with string fields should be encoded as JSON objects, but found " + value.getNodeType());
            }
            ObjectNode map = NODES.objectNode();
            for (Map.Entry<String, JsonNode> entry : value.properties()) {
                map.set(entry.getKey(), item.convert(entry.getValue()));
            }
            return map;
        }
    }

    /** What has named members: a struct, or a union, which is a struct with a field for each branch. */
    abstract static class Members extends JsonSchemaStep {
        final String[] names;
        final JsonSchemaStep[] steps;

        Members(JsonNode plan, Maker maker) {
            JsonNode fields = plan.get("f");
            if (plan.has("n")) {
                maker.structs.put(plan.get("n").asInt(), this); // before its fields, which refer to it
            }
            names = new String[fields.size()];
            steps = new JsonSchemaStep[names.length];
            for (int i = 0; i < names.length; i++) {
                names[i] = fields.get(i).get(0).asText();
                steps[i] = maker.of(fields.get(i).get(1));
            }
        }
    }

    /** A struct as one around it is read and written. */
    private static final class Reference extends JsonSchemaStep {
        private final JsonSchemaStep struct;

        Reference(JsonSchemaStep struct) {
            this.struct = struct;
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            return struct.present(value);
        }

        @Override
        int fit(JsonNode value) {
            return struct.fit(value);
        }
    }

    static final class StructOf extends Members {
        StructOf(JsonNode plan, Maker maker) {
            super(plan, maker);
        }

        @Override
        JsonNode present(JsonNode value) throws IOException {
            if (!value.isObject()) {
                throw new IOException("Structs should be encoded as JSON objects, but found " + value.getNodeType());
            }
            ObjectNode struct = NODES.objectNode();
            for (int i = 0; i < names.length; i++) {
                JsonNode found = steps[i].convert(value.get(names[i]));
                if (found != null) {
                    struct.set(names[i], found);
                }
            }
            return struct;
        }

        @Override
        int fit(JsonNode value) {
            int count = 0;
            for (int i = 0; i < names.length; i++) {
                JsonNode member = value.get(names[i]);
                count += member == null ? 0 : 1 + Math.max(0, steps[i].fit(member));
            }
            return count;
        }
    }
}
