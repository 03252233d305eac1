package io.headrace;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A nested payload (array, map, struct) as JsonConverter would write what it reads by a schema: numbers of the schema's width, absent
 * members as null or their default.
 *
 * <p>With "c" or "n" the payload is not read from a record, but is Connect data already: decimals are bytes, and doubles may be what
 * JSON has no number for, NaN as a text and a negative zero.
 */
public final class JsonNormal {
    public static final DataType TYPE = new StructType(new StructField[] {
        new StructField("value", DataTypes.StringType, true, Metadata.empty()),
        new StructField("error", DataTypes.StringType, true, Metadata.empty()),
    });

    private static final ObjectMapper DOUBLES = new ObjectMapper();
    private static final ObjectMapper MAPPER = new ObjectMapper()
        .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
        .setNodeFactory(JsonNodeFactory.withExactBigDecimals(true));
    private static final Memo SCHEMAS = new Memo() {
        Object make(String schema) {
            try {
                JsonNode tree = MAPPER.readTree(schema);
                NormalJson asWritten = NormalJson.of(tree); // before the tree is linked, which may make circles
                return new Wanted(linked(tree, null), asWritten);
            } catch (IOException e) {
                throw new IllegalArgumentException(e);
            }
        }
    };
    private static final JsonNodeFactory NODES = JsonNodeFactory.withExactBigDecimals(true);
    private static final String LOGICAL = "org.apache.kafka.connect.data.";

    private final boolean defaults;
    private final boolean numeric;
    private final boolean connect; // its data is not read from a record

    private JsonNormal(String mode) {
        defaults = mode.indexOf('d') >= 0;
        numeric = mode.indexOf('n') >= 0;
        connect = numeric || mode.indexOf('c') >= 0;
    }

    /** @param schema Connect's JSON form; @param mode "d": defaults replace nulls; "c": of Connect; "n": so, decimals become numbers */
    public static InternalRow normal(UTF8String json, UTF8String schema, UTF8String mode) {
        Object[] row = new Object[2];
        try {
            Wanted wanted = (Wanted) SCHEMAS.get(schema);
            JsonNormal normal = new JsonNormal(mode.toString());
            if (wanted.asWritten.is(json.getBytes(), normal.defaults)) {
                row[0] = json;
                return new GenericInternalRow(row);
            }
            JsonNode value = normal.convert(wanted.schema, (normal.connect ? DOUBLES : MAPPER).readTree(json.toString()));
            String text = value.toString();
            if (!Utf8.isWhole(text)) { // it would become a question mark
                throw new Refused(JsonRead.HALF);
            }
            row[0] = UTF8String.fromString(text);
        } catch (Refused e) {
            row[1] = UTF8String.fromString(e.getMessage());
        } catch (IOException e) {
            row[1] = UTF8String.fromString(e.getMessage());
        }
        return new GenericInternalRow(row);
    }

    /** A schema, for texts that have to be parsed and for those that need not be. */
    private static final class Wanted {
        final JsonNode schema;
        final NormalJson asWritten;

        Wanted(JsonNode schema, NormalJson asWritten) {
            this.schema = schema;
            this.asWritten = asWritten;
        }
    }

    /** A struct, and those that it stands in. */
    private static final class Around {
        final JsonNode struct;
        final Around outer;

        Around(JsonNode struct, Around outer) {
            this.struct = struct;
            this.outer = outer;
        }
    }

    /** The schema with the fields of a struct where it refers to one that it is a part of. */
    private static JsonNode linked(JsonNode schema, Around around) {
        Around target = around;
        for (int level = at(schema, "levels_up").asInt(); level > 1; level--) {
            target = target.outer;
        }
        if (at(schema, "levels_up").asInt() > 0) {
            ((ObjectNode) schema).set("fields", at(target.struct, "fields"));
            return schema;
        }
        Around within = schema.has("fields") ? new Around(schema, around) : around;
        JsonNode fields = at(schema, "fields");
        for (int i = 0; i < fields.size(); i++) {
            linked((JsonNode) fields.get(i), within);
        }
        linkedMember(schema, "items", within);
        linkedMember(schema, "keys", within);
        linkedMember(schema, "values", within);
        return schema;
    }

    private static void linkedMember(JsonNode schema, String name, Around within) {
        if (schema.has(name)) {
            linked(at(schema, name), within);
        }
    }

    private JsonNode convert(JsonNode schema, JsonNode value) throws IOException {
        String type = at(schema, "type").asText();
        if (value == null || value.isNull()) {
            if (schema.hasNonNull("default") && defaults) {
                return at(schema, "default");
            }
            if (at(schema, "optional").asBoolean()) {
                return NODES.nullNode();
            }
            throw new Refused(connect ? "Conversion error: null value for field that is required and has no default value"
                : "Invalid null value for required " + Types.name(type) + " field");
        }
        String name = at(schema, "name").asText();
        if (name.startsWith(LOGICAL)) {
            JsonNode logical = logical(name.substring(LOGICAL.length()), schema, value);
            if (logical != null) {
                return logical;
            }
        }
        if ("array".equals(type)) {
            return array(schema, value);
        }
        if ("map".equals(type)) {
            return map(schema, value);
        }
        return "struct".equals(type) ? struct(schema, value) : primitive(type, schema, value);
    }

    private JsonNode logical(String name, JsonNode schema, JsonNode value) throws IOException {
        if ("Decimal".equals(name)) {
            return decimal(schema, value);
        }
        if ("Date".equals(name) || "Time".equals(name)) {
            if (!value.isInt()) {
                throw new Refused("Invalid type for " + name + ", underlying representation should be integer but was " + value.getNodeType());
            }
            if ("Time".equals(name) && (value.intValue() < 0 || value.intValue() > 86400000)) {
                throw new Refused("Time values must use number of milliseconds greater than 0 and less than 86400000");
            }
            return value;
        }
        if ("Timestamp".equals(name)) {
            if (!value.isIntegralNumber()) {
                throw new Refused("Invalid type for Timestamp, underlying representation should be integral but was " + value.getNodeType());
            }
            return NODES.numberNode(value.longValue());
        }
        return null;
    }

    private JsonNode decimal(JsonNode schema, JsonNode value) throws IOException {
        if (!value.isTextual() && !value.isNumber()) {
            throw new Refused("Invalid type for Decimal, underlying representation should be numeric or bytes but was " + value.getNodeType());
        }
        int scale;
        BigDecimal number;
        try {
            scale = Integer.parseInt(at(at(schema, "parameters"), "scale").asText());
            number = value.isTextual() ? new BigDecimal(new BigInteger(binary(value)), scale) : value.decimalValue();
        } catch (NumberFormatException e) {
            throw new Refused("Invalid bytes for Decimal field");
        }
        if (numeric) {
            return NODES.numberNode(number);
        }
        if (number.scale() != scale) {
            throw new Refused("Decimal value has mismatching scale for given Decimal schema. Schema has scale " + scale
                + ", value has scale " + number.scale() + ".");
        }
        return NODES.binaryNode(number.unscaledValue().toByteArray());
    }

    private static byte[] binary(JsonNode value) {
        try {
            return value.binaryValue();
        } catch (IOException e) {
            throw new Refused("Invalid bytes field");
        }
    }

    /** The member of that name, or a missing node; the cast is for Janino, which sees the inherited method. */
    private static JsonNode at(JsonNode node, String name) {
        return (JsonNode) node.path(name);
    }

    private JsonNode array(JsonNode schema, JsonNode value) throws IOException {
        if (!value.isArray()) {
            throw new Refused("Invalid JSON for ARRAY, found " + value.getNodeType());
        }
        ArrayNode list = NODES.arrayNode();
        for (int i = 0; i < value.size(); i++) {
            list.add(convert(at(schema, "items"), (JsonNode) value.get(i)));
        }
        return list;
    }

    private JsonNode map(JsonNode schema, JsonNode value) throws IOException {
        JsonNode values = at(schema, "values");
        if ("string".equals(at(at(schema, "keys"), "type").asText())) {
            if (!value.isObject()) {
                throw new Refused("Maps with string fields should be encoded as JSON objects, but found " + value.getNodeType());
            }
            ObjectNode map = NODES.objectNode();
            Iterator entries = value.fields();
            while (entries.hasNext()) {
                Map.Entry entry = (Map.Entry) entries.next();
                map.set((String) entry.getKey(), convert(values, (JsonNode) entry.getValue()));
            }
            return map;
        }
        if (!value.isArray()) {
            throw new Refused("Maps with non-string fields should be encoded as JSON array of tuples, but found " + value.getNodeType());
        }
        JsonNode keys = at(schema, "keys");
        Map byKey = new HashMap(); // in the order in which Connect writes them; of equal keys it has the last, here all are kept
        for (int i = 0; i < value.size(); i++) {
            JsonNode pair = (JsonNode) value.get(i);
            if (!pair.isArray()) {
                throw new Refused("Found invalid map entry instead of array tuple: " + pair.getNodeType());
            }
            if (pair.size() != 2) {
                throw new Refused("Found invalid map entry, expected length 2 but found :" + pair.size());
            }
            JsonNode key = convert(keys, (JsonNode) pair.get(0));
            Object javaKey = javaKey(keys, key, i);
            ArrayNode pairs = byKey.containsKey(javaKey) ? (ArrayNode) byKey.get(javaKey) : NODES.arrayNode();
            byKey.put(javaKey, pairs.add(NODES.arrayNode().add(key).add(convert(values, (JsonNode) pair.get(1)))));
        }
        ArrayNode list = NODES.arrayNode();
        Iterator ofKeys = byKey.values().iterator();
        while (ofKeys.hasNext()) {
            list.addAll((ArrayNode) ofKeys.next());
        }
        return list;
    }

    /** A key with the hash that it has in Connect, where two arrays of bytes are never equal. */
    private static Object javaKey(JsonNode schema, JsonNode key, int number) {
        String type = at(schema, "type").asText();
        if (key.isNull()) {
            return null;
        }
        if ("bytes".equals(type) && !schema.hasNonNull("name")) {
            return Integer.valueOf(number);
        }
        if ("int64".equals(type)) {
            return Long.valueOf(key.longValue());
        }
        if ("float".equals(type)) {
            return Float.valueOf(key.floatValue());
        }
        if ("double".equals(type)) {
            return Double.valueOf(key.doubleValue());
        }
        if ("boolean".equals(type)) {
            return Boolean.valueOf(key.booleanValue());
        }
        return key.isInt() || key.isShort() ? (Object) Integer.valueOf(key.intValue()) : key;
    }

    private JsonNode struct(JsonNode schema, JsonNode value) throws IOException {
        if (!value.isObject()) {
            throw new Refused("Structs should be encoded as JSON objects, but found " + value.getNodeType());
        }
        ObjectNode struct = NODES.objectNode();
        JsonNode fields = at(schema, "fields");
        for (int i = 0; i < fields.size(); i++) {
            String name = at((JsonNode) fields.get(i), "field").asText();
            struct.set(name, convert((JsonNode) fields.get(i), (JsonNode) value.get(name)));
        }
        return struct;
    }

    private JsonNode primitive(String type, JsonNode schema, JsonNode value) throws IOException {
        if (connect && value.isTextual() && ("float".equals(type) || "double".equals(type))) {
            return value;
        }
        if ("int8".equals(type)) {
            return NODES.numberNode((int) (byte) value.intValue());
        }
        if ("int16".equals(type)) {
            return NODES.numberNode((int) (short) value.intValue());
        }
        if ("int32".equals(type)) {
            return NODES.numberNode(value.intValue());
        }
        if ("int64".equals(type)) {
            return NODES.numberNode(value.longValue());
        }
        if ("float".equals(type)) {
            return NODES.numberNode(value.floatValue());
        }
        if ("double".equals(type)) {
            return NODES.numberNode(value.doubleValue());
        }
        if ("boolean".equals(type)) {
            return NODES.booleanNode(value.booleanValue());
        }
        JsonNode written = "bytes".equals(type) ? (value.isTextual() ? NODES.binaryNode(binary(value)) : null)
            : (value.isTextual() ? value : null);
        if (written != null) {
            return written;
        }
        if (!at(schema, "optional").asBoolean()) { // Kafka refuses it only where a struct is around it, and else writes the default
            throw new Refused("Invalid value: null used for required field: \"null\", schema type: " + Types.name(type));
        }
        return convert(schema, null);
    }

    /** Connect's names of types. */
    private static final class Types {
        static String name(String type) {
            return "float".equals(type) ? "FLOAT32" : "double".equals(type) ? "FLOAT64" : type.toUpperCase();
        }
    }

    /** The payload does not fit its schema. */
    private static final class Refused extends RuntimeException {
        Refused(String why) {
            super(why, null, false, false);
        }
    }
}
