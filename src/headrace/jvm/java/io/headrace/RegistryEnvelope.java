package io.headrace;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * What a serializer with a schema registry has written: which of the known schemas it is, and the payload.
 *
 * <p>The schema's GUID stands in a header (`__key_schema_id`, `__value_schema_id`), or its id, or GUID, before the payload: a byte 0 and
 * four bytes of the id, or a byte 1 and sixteen bytes of the GUID. In Protobuf, behind that, stand the indexes of the message among
 * those of the schema: zigzag varints, how many there are and each of them; the first message of all is one byte 0.
 */
public final class RegistryEnvelope {
    private static final byte ID = 0;
    private static final byte GUID = 1;
    private static final int ID_SIZE = 5;
    private static final int GUID_SIZE = 17;
    private static final long NO_ID = Long.MIN_VALUE; // an id is an int, of either sign
    private static final String PROBLEM = "org.apache.kafka.common.errors.SerializationException: ";
    private static final String AS_CONFLUENT = " Have what writes it set apicurio.registry.as-confluent=true and "
        + "apicurio.registry.headers.enabled=false.";
    private static final String APICURIO = "The id of the schema is in a header apicurio.…, which is not read." + AS_CONFLUENT;
    private static final String EIGHT_BYTES = "The id of the schema is 0: it may have eight bytes, as Apicurio's serializers can write it, "
        + "which are not read." + AS_CONFLUENT;
    private static final Memo KNOWN = new Memo() {
        @Override
        Object make(String text) {
            return new Known(text);
        }
    };

    private RegistryEnvelope() {
    }

    /** The header that may have the schema, and the texts of the schemas that are known: an id in digits, or a GUID, and indexes. */
    private static final class Known {
        final UTF8String header;
        final Set<String> apicurio; // the headers of Apicurio's serializers that say which schema it is
        final boolean indexed;
        final String[] texts;
        final long[] ids; // NO_ID where the text is a GUID, or has indexes

        Known(String text) {
            String[] parts = text.split("\0", -1);
            header = UTF8String.fromString(parts[0]);
            String prefix = "apicurio." + (parts[0].contains("key") ? "key." : "value.");
            apicurio = Set.of(prefix + "globalId", prefix + "contentId", prefix + "contentHash", prefix + "artifactId");
            indexed = !parts[1].isEmpty();
            texts = Arrays.copyOfRange(parts, 2, parts.length);
            ids = new long[texts.length];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = texts[i].indexOf('-', 1) < 0 && texts[i].indexOf(':') < 0 ? Integer.parseInt(texts[i]) : NO_ID;
            }
        }

        int place(int id) {
            for (int i = 0; i < ids.length; i++) {
                if (ids[i] == id) {
                    return i;
                }
            }
            return -1;
        }
    }

    /**
     * The columns of {@link JsonEnvelope#TYPE}: the place of the schema among the known ones, -1 and its text for another one.
     *
     * @param known the header's name, a text if there are indexes, and the known schemas, joined by the character 0
     */
    public static InternalRow open(byte[] bytes, ArrayData headers, UTF8String known) {
        Known wanted = (Known) KNOWN.get(known);
        Object[] row = new Object[4];
        byte[] header = headers == null ? null : header(headers, wanted.header);
        try {
            if (header != null && header.length >= GUID_SIZE && header[0] == GUID) {
                ByteBuffer rest = ByteBuffer.wrap(header, GUID_SIZE, header.length - GUID_SIZE);
                String text = guid(header) + (wanted.indexed && rest.hasRemaining() ? indexes(rest) : "");
                put(row, Arrays.asList(wanted.texts).indexOf(text), text, ByteBuffer.wrap(bytes));
            } else if (hasName(headers, wanted.apicurio::contains)) { // whatever the data begins with
                row[3] = UTF8String.fromString(PROBLEM + APICURIO);
            } else if (bytes.length >= ID_SIZE && bytes[0] == ID && ByteBuffer.wrap(bytes, 1, Integer.BYTES).getInt() == 0) {
                row[3] = UTF8String.fromString(PROBLEM + EIGHT_BYTES);
            } else if (bytes.length >= ID_SIZE && bytes[0] == ID) {
                int id = ByteBuffer.wrap(bytes, 1, Integer.BYTES).getInt();
                ByteBuffer rest = ByteBuffer.wrap(bytes, ID_SIZE, bytes.length - ID_SIZE);
                String indexes = wanted.indexed ? indexes(rest) : "";
                int place = indexes.isEmpty() ? wanted.place(id) : Arrays.asList(wanted.texts).indexOf(id + indexes);
                put(row, place, place < 0 ? id + indexes : null, rest);
            } else if (bytes.length >= GUID_SIZE && bytes[0] == GUID) {
                ByteBuffer rest = ByteBuffer.wrap(bytes, GUID_SIZE, bytes.length - GUID_SIZE);
                String text = guid(bytes) + (wanted.indexed ? indexes(rest) : "");
                put(row, Arrays.asList(wanted.texts).indexOf(text), text, rest);
            } else {
                row[3] = UTF8String.fromString(PROBLEM + (hasName(headers, name -> name.startsWith("apicurio.")) ? APICURIO : problem(bytes)));
            }
        } catch (IOException e) {
            row[3] = UTF8String.fromString(PROBLEM + "The indexes of the message cannot be read: " + PayloadRead.why(e, bytes));
        }
        return new GenericInternalRow(row);
    }

    /** The indexes of a message as `:1,0`; nothing for the first message. */
    private static String indexes(ByteBuffer bytes) throws IOException {
        int count = index(bytes);
        if (count < 0 || count > bytes.remaining()) {
            throw new IOException("there are " + count + " of them");
        }
        StringBuilder found = new StringBuilder();
        for (int i = 0; i < count; i++) {
            found.append(i == 0 ? ":" : ",").append(index(bytes));
        }
        return ":0".contentEquals(found) ? "" : found.toString();
    }

    private static int index(ByteBuffer bytes) throws IOException {
        int value = 0;
        for (int shift = 0; shift < Integer.SIZE; shift += 7) {
            if (!bytes.hasRemaining()) {
                throw new EOFException();
            }
            byte next = bytes.get();
            value |= (next & 0x7f) << shift;
            if (next >= 0) {
                return (value >>> 1) ^ -(value & 1);
            }
        }
        throw new IOException("a number has more than 32 bits");
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

    private static void put(Object[] row, int place, String text, ByteBuffer payload) {
        row[0] = place;
        row[1] = Arrays.copyOfRange(payload.array(), payload.position(), payload.limit());
        row[2] = place < 0 ? UTF8String.fromString(text) : null;
    }

    private static boolean hasName(ArrayData headers, Predicate<String> matches) {
        for (int i = 0; headers != null && i < headers.numElements(); i++) {
            if (matches.test(headers.getStruct(i, 2).getUTF8String(0).toString())) {
                return true;
            }
        }
        return false;
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
