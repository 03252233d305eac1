package io.headrace.connect;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;

/**
 * Kafka's JsonConverter for data on its way to a compiled chain: null in an optional field stays null, whatever its default, and a
 * required field that is not set has its default, as `Struct.get` says.
 *
 * <p>JsonConverter itself either replaces both (`replace.null.with.default`), or refuses the second.
 */
final class NullKeepingJsonConverter extends JsonConverter {
    private static final int MOST = 64; // schemas
    private final Map<Schema, Boolean> defaulted = Collections.synchronizedMap(new IdentityHashMap<>());

    @Override
    public void configure(Map<String, ?> props, boolean isKey) {
        Map<String, Object> all = new HashMap<>(props);
        all.put("replace.null.with.default", "false");
        super.configure(all, isKey);
    }

    @Override
    public byte[] fromConnectData(String topic, Schema schema, Object value) {
        return super.fromConnectData(topic, schema, schema != null && mayBeDefaulted(schema) ? filled(schema, value) : value);
    }

    private boolean mayBeDefaulted(Schema schema) {
        Boolean known = defaulted.get(schema);
        if (known == null) {
            if (defaulted.size() >= MOST) { // a plugin may make a new schema for each record
                defaulted.clear();
            }
            known = hasRequiredDefault(schema);
            defaulted.put(schema, known);
        }
        return known;
    }

    private static boolean hasRequiredDefault(Schema schema) {
        if (schema.defaultValue() != null && !schema.isOptional()) {
            return true;
        }
        return switch (schema.type()) {
            case ARRAY, MAP -> hasRequiredDefault(schema.valueSchema());
            case STRUCT -> schema.fields().stream().anyMatch(field -> hasRequiredDefault(field.schema()));
            default -> false;
        };
    }

    /** The value with defaults; the same object if there are none to be put in. */
    private static Object filled(Schema schema, Object value) {
        if (value == null) {
            return schema.isOptional() || schema.defaultValue() == null ? null : filled(schema, schema.defaultValue());
        }
        if (schema.type() == Schema.Type.STRUCT && value instanceof Struct struct) {
            return filled(struct);
        }
        if (schema.type() == Schema.Type.ARRAY && value instanceof Collection<?> values) {
            List<Object> after = new ArrayList<>(values.size());
            boolean same = true;
            for (Object before : values) {
                after.add(filled(schema.valueSchema(), before));
                same &= after.get(after.size() - 1) == before;
            }
            return same ? value : after;
        }
        if (schema.type() == Schema.Type.MAP && value instanceof Map<?, ?> entries) {
            Map<Object, Object> after = new LinkedHashMap<>();
            boolean same = true;
            for (Map.Entry<?, ?> entry : entries.entrySet()) {
                Object one = filled(schema.valueSchema(), entry.getValue());
                after.put(entry.getKey(), one);
                same &= one == entry.getValue();
            }
            return same ? value : after;
        }
        return value;
    }

    private static Struct filled(Struct struct) {
        Struct after = new Struct(struct.schema());
        boolean same = true;
        for (Field field : struct.schema().fields()) {
            Object before = struct.getWithoutDefault(field.name());
            Object one = filled(field.schema(), before);
            if (one != null) {
                after.put(field, one);
            }
            same &= one == before;
        }
        return same ? struct : after;
    }
}
