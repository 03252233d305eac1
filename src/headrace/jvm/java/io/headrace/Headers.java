package io.headrace;

import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ValueNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.Values;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Header values whose type is inferred from their text: Kafka Connect's own `Values`. */
public final class Headers {
    private static final ObjectMapper MAPPER = new ObjectMapper()
        .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
        .enable(JsonReadFeature.ALLOW_LEADING_ZEROS_FOR_NUMBERS.mappedFeature())
        .setNodeFactory(new JsonNodeFactory(true) {
            /** A number with a fraction or an exponent stays one: 1.5e1 would be written as 15. */
            public ValueNode numberNode(BigDecimal number) {
                return super.numberNode(number.scale() == 0 ? number.setScale(1) : number);
            }
        });
    private static final ObjectMapper PLAIN = new ObjectMapper();

    /** type: Connect's schema type, null for the value null; name: that of a logical type; text: the value written again;
     *  java: toString; payload: of a list or a map, as JsonConverter writes it; schema: its schema in JsonConverter's form, null where
     *  a part of it has none. */
    public static final DataType TYPE = new StructType(new StructField[] {
        new StructField("type", DataTypes.StringType, true, Metadata.empty()),
        new StructField("name", DataTypes.StringType, true, Metadata.empty()),
        new StructField("text", DataTypes.StringType, true, Metadata.empty()),
        new StructField("java", DataTypes.StringType, true, Metadata.empty()),
        new StructField("millis", DataTypes.LongType, true, Metadata.empty()),
        new StructField("payload", DataTypes.StringType, true, Metadata.empty()),
        new StructField("schema", DataTypes.StringType, true, Metadata.empty()),
    });

    public static final DataType ARRAY = DataTypes.createArrayType(new StructType(new StructField[] {
        new StructField("key", DataTypes.StringType, true, Metadata.empty()),
        new StructField("value", DataTypes.BinaryType, true, Metadata.empty()),
    }));
    /** headers: those given, with values as the converter writes what it reads; error: of the first value that it cannot read. */
    public static final DataType NORMAL = new StructType(new StructField[] {
        new StructField("headers", ARRAY, true, Metadata.empty()),
        new StructField("error", DataTypes.StringType, true, Metadata.empty()),
    });

    private Headers() {
    }

    /** @param mode simple, json, envelope, string and a character set, or content, the mode of {@link JsonNormal} and a schema */
    public static InternalRow normal(ArrayData headers, UTF8String mode) {
        String how = mode.toString();
        Object[] found = new Object[headers.numElements()];
        try {
            for (int i = 0; i < found.length; i++) {
                InternalRow header = headers.getStruct(i, 2);
                byte[] value = header.isNullAt(1) ? null : normal(header.getBinary(1), how);
                UTF8String key = header.isNullAt(0) ? null : header.getUTF8String(0).copy();
                found[i] = new GenericInternalRow(new Object[] {key, value});
            }
        } catch (IOException e) {
            return new GenericInternalRow(new Object[] {headers, UTF8String.fromString(e.getClass().getName() + ": " + e.getMessage())});
        }
        return new GenericInternalRow(new Object[] {new GenericArrayData(found), null});
    }

    /** @param names each begins with the character 0 */
    public static ArrayData without(ArrayData headers, UTF8String names) {
        String given = names.toString() + "\0";
        ArrayList kept = new ArrayList();
        for (int i = 0; i < headers.numElements(); i++) {
            InternalRow header = headers.getStruct(i, 2);
            if (header.isNullAt(0) || given.indexOf("\0" + header.getUTF8String(0).toString() + "\0") < 0) {
                kept.add(header.copy());
            }
        }
        return new GenericArrayData(kept.toArray());
    }

    private static byte[] normal(byte[] value, String how) throws IOException {
        if ("simple".equals(how)) {
            UTF8String text = text(value);
            return text == null ? null : text.getBytes();
        }
        if (how.startsWith("string ")) {
            Charset charset = Charset.forName(how.substring(7));
            return new String(value, charset).getBytes(charset);
        }
        if (how.startsWith("content ")) {
            int end = how.indexOf(' ', 8);
            return ofSchema(value, how.substring(end + 1), how.substring(8, end));
        }
        JsonNode json = (JsonNode) MAPPER.readTree(value);
        if ("json".equals(how)) {
            return json.isNull() || json.isMissingNode() ? null : MAPPER.writeValueAsBytes(json);
        }
        if (!json.isObject() || json.size() != 2 || !json.has("schema") || !json.has("payload")) {
            throw new IOException("JsonConverter with schemas.enable requires \"schema\" and \"payload\" fields");
        }
        return MAPPER.writeValueAsBytes(json);
    }

    /** The envelope that JsonConverter writes for what it reads by its `schema.content`. */
    private static byte[] ofSchema(byte[] value, String schema, String mode) throws IOException {
        UTF8String json = UTF8String.fromBytes(LeadingZeros.removed(Utf8.utf8(value)));
        InternalRow payload = JsonNormal.normal(json, UTF8String.fromString(schema), UTF8String.fromString(mode));
        if (!payload.isNullAt(1)) {
            throw new IOException(payload.getUTF8String(1).toString());
        }
        String envelope = "{\"schema\":" + schema + ",\"payload\":" + payload.getUTF8String(0) + "}";
        return envelope.getBytes(StandardCharsets.UTF_8);
    }

    /** What SimpleHeaderConverter writes for what it reads. Null: the value null. */
    public static UTF8String text(byte[] value) {
        String given = new String(value, StandardCharsets.UTF_8);
        if (given.isEmpty()) {
            return UTF8String.fromString("");
        }
        SchemaAndValue parsed = parse(given);
        return parsed.value() == null ? null : UTF8String.fromString(Values.convertToString(parsed.schema(), parsed.value()));
    }

    /** What SimpleHeaderConverter writes for a list or a map, given as JSON. */
    public static UTF8String ofNested(UTF8String json) throws IOException {
        return UTF8String.fromString(Values.convertToString(null, PLAIN.readValue(json.toString(), Object.class)));
    }

    /** The type that Connect gives to a literal. */
    public static InternalRow literal(UTF8String value) {
        SchemaAndValue parsed = parse(value.toString());
        Object found = parsed.value();
        Schema schema = parsed.schema();
        Object[] row = new Object[7];
        if (found != null && schema != null) {
            row[0] = UTF8String.fromString(schema.type().getName());
            row[1] = schema.name() == null ? null : UTF8String.fromString(schema.name());
        }
        if (found != null) {
            row[2] = UTF8String.fromString(Values.convertToString(schema, found));
            row[3] = UTF8String.fromString(found.toString());
            row[4] = found instanceof java.util.Date ? Long.valueOf(((java.util.Date) found).getTime()) : null;
        }
        if (found instanceof List || found instanceof Map) {
            row[5] = UTF8String.fromString(LiteralJson.payload(schema, found).toString());
            JsonNode described = LiteralJson.schema(schema);
            row[6] = described == null ? null : UTF8String.fromString(described.toString());
        }
        return new GenericInternalRow(row);
    }

    private static SchemaAndValue parse(String text) {
        try {
            SchemaAndValue parsed = Values.parseString(text);
            return parsed == null ? SchemaAndValue.NULL : parsed;
        } catch (RuntimeException e) {
            return new SchemaAndValue(Schema.STRING_SCHEMA, text);
        }
    }
}
