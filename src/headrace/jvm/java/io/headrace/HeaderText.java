package io.headrace;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Values;
import org.apache.spark.unsafe.types.UTF8String;

/** What SimpleHeaderConverter writes for a list, a map or a struct of data with a schema: what `Values` makes of Connect's objects. */
public final class HeaderText {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String LOGICAL = "org.apache.kafka.connect.data.";
    private static final long DAY = 86400000;

    private static final Memo SCHEMAS = new Memo() {
        Object make(String text) {
            try {
                return MAPPER.readValue(text, Map.class);
            } catch (IOException e) {
                throw new IllegalArgumentException(text);
            }
        }
    };

    private HeaderText() {
    }

    /** The text of a payload, both as JsonConverter writes them. */
    public static UTF8String of(UTF8String payload, UTF8String schema) throws IOException {
        Object value = connect(MAPPER.readValue(payload.toString(), Object.class), schema(schema));
        return UTF8String.fromString(Values.convertToString(null, value));
    }

    /** A schema in JsonConverter's form; of those seen lately none is parsed again. */
    static Map schema(UTF8String text) {
        return (Map) SCHEMAS.get(text);
    }

    /** Connect's object, whose text and whose place in a HashMap are those of Connect; of a struct a map in the order of the fields. */
    static Object connect(Object value, Map schema) {
        String type = (String) schema.get("type");
        if (value == null) {
            return null;
        }
        if ("struct".equals(type)) {
            return struct((Map) value, (List) schema.get("fields"));
        }
        if ("array".equals(type)) {
            ArrayList list = new ArrayList();
            for (int i = 0; i < ((List) value).size(); i++) {
                list.add(connect(((List) value).get(i), (Map) schema.get("items")));
            }
            return list;
        }
        if ("map".equals(type)) {
            return map(value, (Map) schema.get("keys"), (Map) schema.get("values"));
        }
        String name = String.valueOf(schema.get("name"));
        return name.startsWith(LOGICAL) ? logical(name.substring(LOGICAL.length()), value, schema) : primitive(type, value);
    }

    private static Object logical(String name, Object value, Map schema) {
        if ("Decimal".equals(name)) {
            if (value instanceof Number) {
                return new BigDecimal(value.toString()); // a default
            }
            int scale = Integer.parseInt((String) ((Map) schema.get("parameters")).get("scale"));
            return new BigDecimal(new BigInteger(Base64.getDecoder().decode((String) value)), scale);
        }
        if ("Date".equals(name)) {
            return new Date(((Number) value).longValue() * DAY);
        }
        return "Time".equals(name) || "Timestamp".equals(name) ? new Date(((Number) value).longValue()) : value;
    }

    private static Object primitive(String type, Object value) {
        boolean number = value instanceof Number;
        if ("float".equals(type)) {
            return number ? Float.valueOf(((Number) value).floatValue()) : Float.valueOf(value.toString());
        }
        if ("double".equals(type)) {
            return number ? Double.valueOf(((Number) value).doubleValue()) : Double.valueOf(value.toString());
        }
        return "int64".equals(type) && number ? Long.valueOf(((Number) value).longValue()) : value;
    }

    private static Object struct(Map value, List fields) {
        LinkedHashMap struct = new LinkedHashMap();
        for (int i = 0; i < fields.size(); i++) {
            Map field = (Map) fields.get(i);
            Object found = value.get(field.get("field"));
            struct.put(field.get("field"), connect(found == null ? field.get("default") : found, field)); // as Struct.get does
        }
        return struct;
    }

    /** Of an object, or of a list of pairs where the keys are no texts. */
    private static Object map(Object value, Map keys, Map values) {
        HashMap map = new HashMap();
        if (value instanceof Map) {
            Object[] entries = ((Map) value).entrySet().toArray();
            for (int i = 0; i < entries.length; i++) {
                map.put(((Map.Entry) entries[i]).getKey(), connect(((Map.Entry) entries[i]).getValue(), values));
            }
        } else {
            for (int i = 0; i < ((List) value).size(); i++) {
                List pair = (List) ((List) value).get(i);
                map.put(connect(pair.get(0), keys), connect(pair.get(1), values));
            }
        }
        return map;
    }
}
