package io.headrace;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.unsafe.types.UTF8String;

/** What Java's toString gives for a list or a map of data with a schema, in which structs differ from maps. */
public final class JavaText {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final UTF8String DATE = UTF8String.fromString("EEE MMM dd HH:mm:ss zzz yyyy"); // of Date.toString

    private JavaText() {
    }

    /** The text of a payload, both as JsonConverter writes them. */
    public static UTF8String of(UTF8String payload, UTF8String schema) throws IOException {
        return UTF8String.fromString(text(MAPPER.readValue(payload.toString(), Object.class), HeaderText.schema(schema)));
    }

    private static String text(Object value, Map schema) {
        Object type = schema.get("type");
        if (value == null) {
            return "null";
        }
        if ("struct".equals(type)) {
            return struct((Map) value, (List) schema.get("fields"));
        }
        if ("array".equals(type)) {
            return list((List) value, (Map) schema.get("items"));
        }
        if ("map".equals(type)) {
            return map(value, (Map) schema.get("keys"), (Map) schema.get("values"));
        }
        if ("float".equals(type) && value instanceof Number) {
            return String.valueOf(((Number) value).floatValue());
        }
        if ("double".equals(type) && value instanceof Number) {
            return String.valueOf(((Number) value).doubleValue());
        }
        Object connect = HeaderText.connect(value, schema);
        if (connect instanceof Date) {
            return Dates.format(((Date) connect).getTime(), DATE).toString();
        }
        return String.valueOf(connect);
    }

    private static String struct(Map value, List fields) {
        StringBuilder text = new StringBuilder("Struct{");
        for (int i = 0; i < fields.size(); i++) {
            Map field = (Map) fields.get(i);
            Object found = value.get(field.get("field"));
            if (found != null) {
                text.append(text.length() > 7 ? "," : "").append(field.get("field")).append('=').append(text(found, field));
            }
        }
        return text.append('}').toString();
    }

    private static String list(List value, Map items) {
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < value.size(); i++) {
            text.append(i == 0 ? "" : ", ").append(text(value.get(i), items));
        }
        return text.append(']').toString();
    }

    /** Of an object, or of a list of pairs where the keys are no texts; in the order of Java's HashMap. */
    private static String map(Object value, Map keys, Map values) {
        HashMap unordered = new HashMap();
        if (value instanceof Map) {
            Object[] entries = ((Map) value).entrySet().toArray();
            for (int i = 0; i < entries.length; i++) {
                Map.Entry entry = (Map.Entry) entries[i];
                unordered.put(entry.getKey(), text(entry.getValue(), values));
            }
        } else {
            for (int i = 0; i < ((List) value).size(); i++) {
                List pair = (List) ((List) value).get(i);
                unordered.put(HeaderText.connect(pair.get(0), keys), text(pair.get(1), values)); // the place is that of the key's class
            }
        }
        return unordered.toString();
    }
}
