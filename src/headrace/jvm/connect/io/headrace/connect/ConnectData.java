package io.headrace.connect;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.json.JsonConverter;

/**
 * Connect data as JSON, in and out, with schemas that are parsed and written once. For one thread at a time.
 *
 * <p>In: the text of a schema and that of a payload; both null: nothing. Out: `{"schema":…,"payload":…}`, null for nothing.
 */
final class ConnectData {
    private static final byte[] SCHEMA = "{\"schema\":".getBytes(StandardCharsets.UTF_8);
    private static final byte[] PAYLOAD = ",\"payload\":".getBytes(StandardCharsets.UTF_8);
    private static final byte[] NONE = "null".getBytes(StandardCharsets.UTF_8);
    private static final int MOST = 64; // schemas; a transform that makes new objects of one all the time fills them
    private final JsonConverter plain = converter(Map.of("schemas.enable", "false"));
    private final Map<String, JsonConverter> reading = new LinkedHashMap<>();
    private final Map<Schema, byte[]> written = new IdentityHashMap<>();

    private static JsonConverter converter(Map<String, String> props) {
        JsonConverter converter = new NullKeepingJsonConverter();
        converter.configure(props, false);
        return converter;
    }

    SchemaAndValue read(String schema, byte[] payload) {
        if (payload == null) {
            return SchemaAndValue.NULL;
        }
        JsonConverter converter = schema == null || schema.equals("null") ? plain : reader(schema);
        return LostNumbers.restored(converter.toConnectData("", payload), payload);
    }

    private JsonConverter reader(String schema) {
        JsonConverter converter = reading.get(schema);
        if (converter == null) {
            if (reading.size() >= MOST) {
                reading.clear();
            }
            converter = converter(Map.of("schemas.enable", "true", "schema.content", schema));
            reading.put(schema, converter);
        }
        return converter;
    }

    byte[] write(Schema schema, Object value) {
        if (schema == null && value == null) {
            return null;
        }
        byte[] text = schema == null ? NONE : text(schema);
        byte[] payload = plain.fromConnectData("", schema, value);
        ByteArrayOutputStream out = new ByteArrayOutputStream(text.length + 64);
        out.writeBytes(SCHEMA);
        out.writeBytes(text);
        out.writeBytes(PAYLOAD);
        out.writeBytes(payload == null ? NONE : payload);
        out.write('}');
        return out.toByteArray();
    }

    private byte[] text(Schema schema) {
        byte[] text = written.get(schema);
        if (text == null) {
            if (written.size() >= MOST) {
                written.clear();
            }
            text = plain.asJsonSchema(schema).toString().getBytes(StandardCharsets.UTF_8);
            written.put(schema, text);
        }
        return text;
    }
}
