package io.headrace;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;

/** A list or a map that Kafka's `Values` reads, as JsonConverter writes it. */
final class LiteralJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final long DAY = 86400000;

    private LiteralJson() {
    }

    /** Null: a part of it has no schema, because its items are of several types. */
    static ObjectNode schema(Schema schema) {
        if (schema == null) {
            return null;
        }
        ObjectNode json = NODES.objectNode();
        String type = schema.type().getName();
        json.put("type", "float32".equals(type) ? "float" : "float64".equals(type) ? "double" : type);
        if (schema.type() == Schema.Type.ARRAY && !put(json, "items", schema.valueSchema())) {
            return null;
        }
        if (schema.type() == Schema.Type.MAP && !(put(json, "keys", schema.keySchema()) && put(json, "values", schema.valueSchema()))) {
            return null;
        }
        if (schema.name() != null) {
            json.put("name", schema.name()).put("version", schema.version());
        }
        if (schema.parameters() != null) {
            Iterator names = schema.parameters().keySet().iterator();
            ObjectNode parameters = NODES.objectNode();
            while (names.hasNext()) {
                String name = (String) names.next();
                parameters.put(name, (String) schema.parameters().get(name));
            }
            json.set("parameters", parameters);
        }
        return json;
    }

    private static boolean put(ObjectNode json, String name, Schema schema) {
        ObjectNode part = schema(schema);
        if (part != null) {
            json.set(name, part);
        }
        return part != null;
    }

    static JsonNode payload(Schema schema, Object value) {
        if (value instanceof List) {
            ArrayNode list = NODES.arrayNode();
            Iterator items = ((List) value).iterator();
            while (items.hasNext()) {
                list.add(payload(schema == null ? null : schema.valueSchema(), items.next()));
            }
            return list;
        }
        if (value instanceof Map) {
            return map(schema, (Map) value);
        }
        if (value instanceof java.util.Date) {
            long millis = ((java.util.Date) value).getTime();
            String name = schema == null ? null : schema.name();
            return NODES.numberNode(org.apache.kafka.connect.data.Date.LOGICAL_NAME.equals(name) ? millis / DAY : millis);
        }
        if (value instanceof BigDecimal) {
            return NODES.binaryNode(((BigDecimal) value).unscaledValue().toByteArray());
        }
        if (value instanceof Float) {
            return NODES.numberNode(((Float) value).floatValue());
        }
        if (value instanceof Double) {
            return NODES.numberNode(((Double) value).doubleValue());
        }
        if (value instanceof Number) {
            return NODES.numberNode(((Number) value).longValue());
        }
        if (value instanceof Boolean) {
            return NODES.booleanNode(((Boolean) value).booleanValue());
        }
        return value == null ? (JsonNode) NODES.nullNode() : (JsonNode) NODES.textNode(value.toString());
    }

    private static JsonNode map(Schema schema, Map map) {
        Schema keys = schema == null ? null : schema.keySchema();
        Schema values = schema == null ? null : schema.valueSchema();
        boolean names = true;
        Iterator given = map.keySet().iterator();
        while (given.hasNext()) {
            names &= given.next() instanceof String;
        }
        ObjectNode object = NODES.objectNode();
        ArrayNode pairs = NODES.arrayNode();
        Iterator entries = map.entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry entry = (Map.Entry) entries.next();
            JsonNode value = payload(values, entry.getValue());
            if (names) {
                object.set((String) entry.getKey(), value);
            } else {
                pairs.add(NODES.arrayNode().add(payload(keys, entry.getKey())).add(value));
            }
        }
        return names ? (JsonNode) object : (JsonNode) pairs;
    }
}
