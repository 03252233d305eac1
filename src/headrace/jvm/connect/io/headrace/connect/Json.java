package io.headrace.connect;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.json.JsonConverter;

/** JSON in and out; offsets as Connect itself reads them back (whole numbers are Long). */
final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final ThreadLocal<JsonConverter> PLAIN = ThreadLocal.withInitial(() -> converter(false, false));

    private Json() {
    }

    static JsonConverter converter(boolean schemas, boolean key) {
        JsonConverter converter = new JsonConverter();
        converter.configure(Map.of("schemas.enable", Boolean.toString(schemas)), key);
        return converter;
    }

    static Map<String, Object> read(String json) {
        try {
            return MAPPER.readValue(json, new TypeReference<Map<String, Object>>() { });
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** A configuration: texts, or null. */
    static Map<String, String> texts(Object object) {
        Map<String, String> texts = new LinkedHashMap<>();
        ((Map<?, ?>) object).forEach((key, value) -> texts.put((String) key, value == null ? null : value.toString()));
        return texts;
    }

    static String write(Object object) {
        try {
            return MAPPER.writeValueAsString(object);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** An offset, or a partition, from Connect's JSON. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> offset(String json) {
        return json == null ? null : (Map<String, Object>) PLAIN.get().toConnectData("", json.getBytes(StandardCharsets.UTF_8)).value();
    }

    /** A partition or an offset as Connect would write it into its topic. Raises DataException, in Kafka's words, for what it refuses. */
    static String text(Map<String, ?> map) {
        if (map == null) {
            return "null";
        }
        map.forEach((key, value) -> {
            if (value != null && !(value instanceof String || value instanceof Number || value instanceof Boolean || value instanceof byte[])) {
                throw new DataException("Offsets may only contain primitive types as values, but field " + key + " contains "
                    + value.getClass().getName());
            }
        });
        return new String(PLAIN.get().fromConnectData("", null, map), StandardCharsets.UTF_8);
    }
}
