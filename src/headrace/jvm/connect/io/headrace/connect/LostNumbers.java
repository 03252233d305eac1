package io.headrace.connect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.Struct;

/**
 * What JsonConverter writes of a float or double, and reads as another one: NaN and the infinities, which are texts, as 0, and a
 * negative zero as a positive one. In maps whose keys are no texts they stay as they were read.
 */
final class LostNumbers {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private LostNumbers() {
    }

    /** The data with these numbers as they stand in the payload. */
    static SchemaAndValue restored(SchemaAndValue read, byte[] payload) {
        if (read.schema() == null || read.value() == null || !mayHave(payload)) {
            return read;
        }
        try {
            return new SchemaAndValue(read.schema(), restored(read.schema(), read.value(), MAPPER.readTree(payload)));
        } catch (IOException e) {
            throw new IllegalArgumentException(e); // it has been read before
        }
    }

    /** Whether there is `-0`, `NaN` or `Inf` anywhere: nearly no payload is read twice. */
    private static boolean mayHave(byte[] payload) {
        for (int i = 1; i < payload.length; i++) {
            byte before = payload[i - 1];
            if (payload[i] == '0' && before == '-' || payload[i] == 'a' && before == 'N' || payload[i] == 'n' && before == 'I') {
                return true;
            }
        }
        return false;
    }

    @SuppressWarnings("unchecked")
    private static Object restored(Schema schema, Object value, JsonNode json) {
        if (value == null) {
            return null;
        }
        switch (schema.type()) {
            case FLOAT32:
                return json.isTextual() ? Float.valueOf(json.textValue()) : (Object) json.floatValue();
            case FLOAT64:
                return json.isTextual() ? Double.valueOf(json.textValue()) : (Object) json.doubleValue();
            case ARRAY:
                List<Object> list = (List<Object>) value;
                for (int i = 0; i < list.size(); i++) {
                    list.set(i, restored(schema.valueSchema(), list.get(i), json.get(i)));
                }
                return list;
            case MAP:
                if (json.isObject()) {
                    ((Map<String, Object>) value).replaceAll((key, one) -> restored(schema.valueSchema(), one, json.get(key)));
                }
                return value;
            case STRUCT:
                Struct struct = (Struct) value;
                for (Field field : schema.fields()) {
                    struct.put(field, restored(field.schema(), struct.getWithoutDefault(field.name()), json.get(field.name())));
                }
                return struct;
            default:
                return value;
        }
    }
}
