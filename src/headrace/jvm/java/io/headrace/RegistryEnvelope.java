package io.headrace;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.UUID;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * What a serializer with a schema registry has written: which of the known schemas it is, and the payload.
 *
 * <p>The schema's GUID stands in a header (`__key_schema_id`, `__value_schema_id`), or its id, or GUID, before the payload: a byte 0 and
 * four bytes of the id, or a byte 1 and sixteen bytes of the GUID.
 */
public final class RegistryEnvelope {
    private static final byte ID = 0;
    private static final byte GUID = 1;
    private static final int ID_SIZE = 5;
    private static final int GUID_SIZE = 17;
    private static final String PROBLEM = "org.apache.kafka.common.errors.SerializationException: ";
    private static final Memo KNOWN = new Memo() {
        @Override
        Object make(String text) {
            return new Known(text);
        }
    };

    private RegistryEnvelope() {
    }

    /** The header that may have the schema, and the texts of the schemas that are known: an id in digits, or a GUID. */
    private static final class Known {
        final UTF8String header;
        final String[] texts;
        final long[] ids; // -1 where the text is a GUID

        Known(String text) {
            String[] parts = text.split("\0");
            header = UTF8String.fromString(parts[0]);
            texts = Arrays.copyOfRange(parts, 1, parts.length);
            ids = new long[texts.length];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = texts[i].indexOf('-') < 0 ? Long.parseLong(texts[i]) : -1;
            }
        }
    }

    /**
     * The columns of {@link JsonEnvelope#TYPE}: the place of the schema among the known ones, -1 and its text for another one.
     *
     * @param known the header's name and the known schemas, joined by the character 0
     */
    public static InternalRow open(byte[] bytes, ArrayData headers, UTF8String known) {
        Known wanted = (Known) KNOWN.get(known);
        Object[] row = new Object[4];
        byte[] header = headers == null ? null : header(headers, wanted.header);
        if (header != null && header.length >= GUID_SIZE && header[0] == GUID) {
            put(row, wanted, guid(header), bytes);
        } else if (bytes.length >= ID_SIZE && bytes[0] == ID) {
            put(row, wanted, ByteBuffer.wrap(bytes, 1, Integer.BYTES).getInt(), bytes);
        } else if (bytes.length >= GUID_SIZE && bytes[0] == GUID) {
            put(row, wanted, guid(bytes), Arrays.copyOfRange(bytes, GUID_SIZE, bytes.length));
        } else {
            row[3] = UTF8String.fromString(PROBLEM + problem(bytes));
        }
        return new GenericInternalRow(row);
    }

    private static String problem(byte[] bytes) {
        if (bytes.length > 0 && bytes[0] != ID && bytes[0] != GUID) {
            return String.format("Unknown magic byte! The data begins with 0x%02x instead of 0x00 and the id of a schema: what wrote it has no "
                + "schema registry.", bytes[0]);
        }
        return "The data has " + bytes.length + " bytes: that is too short for the id of a schema.";
    }

    private static String guid(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes, 1, 2 * Long.BYTES);
        return new UUID(buffer.getLong(), buffer.getLong()).toString();
    }

    private static void put(Object[] row, Known known, int id, byte[] bytes) {
        int place = -1;
        for (int i = 0; i < known.ids.length && place < 0; i++) {
            place = known.ids[i] == id ? i : -1;
        }
        put(row, place, String.valueOf(id), Arrays.copyOfRange(bytes, ID_SIZE, bytes.length));
    }

    private static void put(Object[] row, Known known, String guid, byte[] payload) {
        put(row, Arrays.asList(known.texts).indexOf(guid), guid, payload);
    }

    private static void put(Object[] row, int place, String text, byte[] payload) {
        row[0] = place;
        row[1] = payload;
        row[2] = place < 0 ? UTF8String.fromString(text) : null;
    }

    private static byte[] header(ArrayData headers, UTF8String name) {
        for (int i = headers.numElements() - 1; i >= 0; i--) {
            InternalRow header = headers.getStruct(i, 2);
            if (name.equals(header.getUTF8String(0))) {
                return header.isNullAt(1) ? null : header.getBinary(1);
            }
        }
        return null;
    }
}
