package io.headrace;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Connect's {"schema": …, "payload": …}: which of the known schema texts it carries, and where its payload stands. */
public final class JsonEnvelope {
    /** id: the schema's place among the known ones, -1 for another one, whose text is `schema`; error: why it cannot be opened. */
    public static final DataType TYPE = new StructType(new StructField[] {
        new StructField("id", DataTypes.IntegerType, true, Metadata.empty()),
        new StructField("payload", DataTypes.BinaryType, true, Metadata.empty()),
        new StructField("schema", DataTypes.StringType, true, Metadata.empty()),
        new StructField("error", DataTypes.StringType, true, Metadata.empty()),
    });
    /** In `error`: the text is JSON, but no envelope. */
    public static final String NO_ENVELOPE = "no envelope";

    private static final byte[] BEFORE = "{\"schema\":".getBytes(StandardCharsets.UTF_8);
    private static final byte[] BETWEEN = ",\"payload\":".getBytes(StandardCharsets.UTF_8);
    private static final Memo KNOWN = new Memo() {
        Object make(String schemas) {
            String[] parts = schemas.isEmpty() ? new String[0] : schemas.substring(1).split("\0", -1);
            byte[][] found = new byte[parts.length][];
            for (int i = 0; i < parts.length; i++) {
                found[i] = parts[i].getBytes(StandardCharsets.UTF_8);
            }
            return found;
        }
    };

    private static final int RECENT = 8;
    /** Schemas that no caller knew: those of records that are dropped stay unknown. Replaced as a whole. */
    private static volatile byte[][] recent = new byte[0][];

    private JsonEnvelope() {
    }

    /** @param schemas the known schema texts, joined by the character 0 (each begins with one) */
    public static InternalRow open(byte[] json, UTF8String schemas) {
        byte[][] known = known(schemas);
        for (int id = 0; id < known.length; id++) {
            byte[] payload = payload(json, known[id]);
            if (payload != null) {
                return row(Integer.valueOf(id), payload, null, null);
            }
        }
        byte[][] unknown = recent;
        for (int i = 0; i < unknown.length; i++) {
            byte[] payload = payload(json, unknown[i]);
            if (payload != null) {
                return row(Integer.valueOf(-1), payload, UTF8String.fromBytes(unknown[i]), null);
            }
        }
        return parsed(json, known);
    }

    /** The payload, if the text is the schema and a payload as JsonConverter writes them; null if that has to be parsed. */
    private static byte[] payload(byte[] json, byte[] schema) {
        int from = after(json, schema);
        if (from < 0) {
            return null;
        }
        int end = json.length - 1;
        while (end > from && json[end] <= ' ' && json[end] >= 0) {
            end--;
        }
        return json[end] == '}' && isOnlyMember(json, from, end) ? slice(json, from, end) : null;
    }

    /** Whether the bytes are one JSON value, looked at without parsing it: the brackets say it, outside of strings. */
    private static boolean isOnlyMember(byte[] json, int from, int to) {
        int depth = 0;
        boolean text = false;
        boolean blank = true; // JsonRead would take no value at all for null
        for (int i = from; i < to; i++) {
            byte c = json[i];
            blank &= c <= ' ' && c >= 0;
            if (text) {
                if (c == '\\') {
                    i++;
                } else if (c == '"') {
                    text = false;
                }
            } else if (c == '"') {
                text = true;
            } else if (c == '{' || c == '[') {
                depth++;
            } else if (c == '}' || c == ']') {
                depth--;
                if (depth < 0) {
                    return false;
                }
            } else if (c == ',' && depth == 0) {
                return false;
            }
        }
        return depth == 0 && !text && !blank;
    }

    private static int after(byte[] json, byte[] schema) {
        int end = BEFORE.length + schema.length + BETWEEN.length;
        if (json.length <= end || !at(json, 0, BEFORE) || !at(json, BEFORE.length, schema)) {
            return -1;
        }
        return at(json, BEFORE.length + schema.length, BETWEEN) ? end : -1;
    }

    private static boolean at(byte[] json, int from, byte[] part) {
        return Arrays.equals(json, from, from + part.length, part, 0, part.length);
    }

    private static InternalRow parsed(byte[] given, byte[][] known) {
        try {
            return parsedText(Utf8.utf8(given), known);
        } catch (IOException e) {
            return LeadingZeros.stopped(e) ? parsedWithoutZeros(given, known) : failed(e);
        }
    }

    private static InternalRow parsedWithoutZeros(byte[] given, byte[][] known) {
        try {
            return parsedText(LeadingZeros.removed(Utf8.utf8(given)), known);
        } catch (IOException e) {
            return failed(e);
        }
    }

    private static InternalRow failed(IOException e) {
        return row(null, null, null, e.getClass().getName() + ": " + e.getMessage());
    }

    private static InternalRow parsedText(byte[] json, byte[][] known) throws IOException {
        JsonParser parser = JsonRead.FACTORY.createParser(json);
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            parser.skipChildren();
            return row(null, null, null, NO_ENVELOPE);
        }
        byte[] schema = null;
        byte[] payload = null;
        int members = 0;
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            int start = (int) parser.currentTokenLocation().getByteOffset();
            parser.skipChildren();
            parser.finishToken();
            byte[] value = slice(json, start, (int) parser.currentLocation().getByteOffset());
            members += "schema".equals(name) && schema != null || "payload".equals(name) && payload != null ? 0 : 1;
            schema = "schema".equals(name) ? value : schema;
            payload = "payload".equals(name) ? value : payload;
        }
        if (members != 2 || schema == null || payload == null) {
            return row(null, null, null, NO_ENVELOPE);
        }
        int id = place(schema, known);
        if (id >= 0) {
            return row(Integer.valueOf(id), payload, null, null);
        }
        if (place(schema, recent) < 0) {
            remember(schema);
        }
        return row(Integer.valueOf(-1), payload, UTF8String.fromBytes(schema), null);
    }

    /** The place of a schema among some, -1 if it is not there. */
    private static int place(byte[] schema, byte[][] schemas) {
        for (int i = 0; i < schemas.length; i++) {
            if (Arrays.equals(schemas[i], schema)) {
                return i;
            }
        }
        return -1;
    }

    private static synchronized void remember(byte[] schema) {
        byte[][] last = recent;
        int kept = Math.min(last.length, RECENT - 1);
        byte[][] next = new byte[kept + 1][];
        System.arraycopy(last, 0, next, 1, kept);
        next[0] = schema;
        recent = next;
    }

    private static byte[] slice(byte[] json, int from, int to) {
        byte[] part = new byte[to - from];
        System.arraycopy(json, from, part, 0, part.length);
        return part;
    }

    private static InternalRow row(Integer id, byte[] payload, UTF8String schema, String error) {
        return new GenericInternalRow(new Object[] {id, payload, schema, error == null ? null : UTF8String.fromString(error)});
    }

    private static byte[][] known(UTF8String schemas) {
        return (byte[][]) KNOWN.get(schemas);
    }
}
