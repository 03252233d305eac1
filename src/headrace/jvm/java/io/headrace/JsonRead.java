package io.headrace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * One pass over a JSON text: its kind and content, the members asked for, and the text of all other members as it stands.
 *
 * <p>A value is four columns: k, its kind (the constants below), l for booleans and integers (the low 64 bits of larger ones, and of
 * the integral part of fractions), d for numbers, s for text, for the source text of lists and objects, and for the digits of integers
 * beyond 64 bits (BigDecimal's text of all numbers, or the text of those that become a float, where asked for). Only the first JSON
 * value is read, as Jackson does; what follows is ignored unless `exact` asks that nothing does.
 */
public final class JsonRead {
    public static final byte ABSENT = 0;
    public static final byte NULL = 1;
    public static final byte BOOLEAN = 2;
    public static final byte INTEGER = 3;
    public static final byte FRACTION = 4;
    public static final byte TEXT = 5;
    public static final byte LIST = 6;
    public static final byte MAP = 7;
    public static final byte HUGE = 8;

    static final String HALF = "Incomplete surrogate pair in a string";
    static final JsonFactory FACTORY = new JsonFactory();
    private static final Byte NOTHING = Byte.valueOf(ABSENT);
    private static final Long NO_INTEGER = Long.valueOf(0L);
    private static final Double NO_NUMBER = Double.valueOf(0.0);
    private static final Memo WANTED = new Memo() {
        Object make(String names) {
            return new Wanted(names);
        }
    };
    private static final double EXACT = 9007199254740992.0; // up to here a double has all integers
    private static final int SURE_LENGTH = 16; // of a number whose text is no longer, a double has all digits
    static final int FIRST = 6; // columns before those of the members: error, k, l, d, s, rest

    private JsonRead() {
    }

    /** The result's type for the names of members, joined by the character 0. */
    public static DataType type(String names) {
        int count = names.isEmpty() ? 0 : wanted(UTF8String.fromString(names)).count;
        StructField[] fields = new StructField[FIRST + 4 * count];
        fields[0] = field("error", DataTypes.StringType);
        value(fields, 1, "");
        fields[5] = field("rest", DataTypes.StringType);
        for (int i = 0; i < count; i++) {
            value(fields, FIRST + 4 * i, String.valueOf(i));
        }
        return new StructType(fields);
    }

    private static void value(StructField[] fields, int at, String suffix) {
        fields[at] = new StructField("k" + suffix, DataTypes.ByteType, false, Metadata.empty());
        fields[at + 1] = new StructField("l" + suffix, DataTypes.LongType, false, Metadata.empty());
        fields[at + 2] = new StructField("d" + suffix, DataTypes.DoubleType, false, Metadata.empty());
        fields[at + 3] = field("s" + suffix, DataTypes.StringType);
    }

    private static StructField field(String name, DataType type) {
        return new StructField(name, type, true, Metadata.empty());
    }

    /** @param names the members, joined by the character 0 (each begins with one)
     *  @param mode "t": digits of all numbers; "f": text of fractions that would be rounded twice if their double became a float;
     *  "e": exact; "z": zeros keep their sign, as where the text is a form of Connect data */
    public static InternalRow read(byte[] json, UTF8String names, UTF8String mode) {
        Wanted wanted = wanted(names);
        byte[] text = Utf8.utf8(json);
        Object[] row = scanned(text, wanted, mode);
        return new GenericInternalRow(row == null ? parsed(text, wanted, mode) : row);
    }

    /** The row of a text in UTF-8 that can be read without a parser; null: it cannot. */
    static Object[] scanned(byte[] text, Wanted wanted, UTF8String mode) {
        Object[] row = row(wanted);
        boolean read = new JsonScan(text, wanted.names, row, has(mode, 't'), has(mode, 'f'), has(mode, 'z')).read(has(mode, 'e'));
        return read ? row : null;
    }

    /** The row of a text in UTF-8. */
    static Object[] parsed(byte[] text, Wanted wanted, UTF8String mode) {
        Object[] row = row(wanted);
        try {
            new Reading(text, wanted, row, mode).run();
        } catch (IOException e) {
            if (LeadingZeros.stopped(e)) {
                return withoutZeros(text, wanted, mode);
            }
            row[0] = UTF8String.fromString(e.getClass().getName() + ": " + e.getMessage());
        }
        return row;
    }

    private static Object[] withoutZeros(byte[] text, Wanted wanted, UTF8String mode) {
        Object[] row = row(wanted);
        try {
            new Reading(LeadingZeros.removed(text), wanted, row, mode).run();
        } catch (IOException e) {
            row[0] = UTF8String.fromString(e.getClass().getName() + ": " + e.getMessage());
        }
        return row;
    }

    private static Object[] row(Wanted wanted) {
        Object[] row = new Object[FIRST + 4 * wanted.count];
        clear(row, 1);
        for (int i = 0; i < wanted.count; i++) {
            clear(row, FIRST + 4 * i);
        }
        return row;
    }

    static void clear(Object[] row, int at) {
        row[at] = NOTHING;
        row[at + 1] = NO_INTEGER;
        row[at + 2] = NO_NUMBER;
        row[at + 3] = null;
    }

    private static boolean has(UTF8String mode, char letter) {
        for (int i = 0; i < mode.numBytes(); i++) {
            if (mode.getByte(i) == letter) {
                return true;
            }
        }
        return false;
    }

    /** Whether the float nearest to a number may be another than that nearest to its double, which lies between two. */
    static boolean roundsTwice(double number) {
        return (Double.doubleToRawLongBits(number) & 0x1fffffffL) == 0x10000000L
            || number != 0.0 && Math.abs(number) < 1.17549435E-38;
    }

    static Wanted wanted(UTF8String names) {
        return (Wanted) WANTED.get(names);
    }

    /** The members that are asked for, by name. */
    static final class Wanted {
        final HashMap index = new HashMap();
        final int count;
        final byte[][] names;

        Wanted(String names) {
            ArrayList texts = new ArrayList();
            int from = 0;
            while (from < names.length()) {
                int to = names.indexOf('\0', from + 1);
                to = to < 0 ? names.length() : to;
                String name = names.substring(from + 1, to);
                index.put(name, Integer.valueOf(texts.size()));
                texts.add(name.getBytes(StandardCharsets.UTF_8));
                from = to;
            }
            count = texts.size();
            this.names = (byte[][]) texts.toArray(new byte[count][]);
        }
    }

    /** The reading of one text. */
    private static final class Reading {
        private final byte[] source;
        private final Wanted wanted;
        private final Object[] row;
        private final boolean texts;
        private final boolean floats;
        private final boolean exact;
        private final boolean signed;
        private final JsonParser parser;

        Reading(byte[] source, Wanted wanted, Object[] row, UTF8String mode) throws IOException {
            this.source = source;
            this.wanted = wanted;
            this.row = row;
            this.texts = has(mode, 't');
            this.floats = has(mode, 'f');
            this.exact = has(mode, 'e');
            this.signed = has(mode, 'z');
            this.parser = FACTORY.createParser(source);
        }

        void run() throws IOException {
            JsonToken first = parser.nextToken();
            if (first == null) {
                row[1] = Byte.valueOf(NULL);
                return;
            }
            if (first == JsonToken.START_OBJECT && wanted.count > 0) {
                int start = offset(true);
                members();
                row[1] = Byte.valueOf(MAP);
                row[4] = UTF8String.fromBytes(source, start, offset(false) - start);
            } else {
                put(1, first);
            }
            if (exact && parser.nextToken() != null) {
                row[0] = UTF8String.fromString("trailing text");
            }
            parser.close(); // gives the names it has seen to the next one
        }

        private void members() throws IOException {
            byte[] rest = new byte[source.length];
            int length = 0;
            int keptFrom = offset(false);
            JsonToken token = parser.nextToken();
            while (token == JsonToken.FIELD_NAME) {
                Integer at = (Integer) wanted.index.get(parser.currentName());
                if (at == null) {
                    parser.nextToken();
                    parser.skipChildren();
                    token = parser.nextToken();
                    continue;
                }
                int name = offset(true);
                System.arraycopy(source, keptFrom, rest, length, name - keptFrom);
                length += name - keptFrom;
                put(FIRST + 4 * at.intValue(), parser.nextToken());
                token = parser.nextToken();
                keptFrom = offset(true);
            }
            int end = offset(true);
            System.arraycopy(source, keptFrom, rest, length, end - keptFrom);
            length += end - keptFrom;
            while (length > 0 && (rest[length - 1] <= ' ' || rest[length - 1] == ',')) {
                length--;
            }
            int begin = 0;
            while (begin < length && rest[begin] <= ' ' && rest[begin] >= 0) {
                begin++;
            }
            row[5] = length > begin ? UTF8String.fromBytes(rest, begin, length - begin) : null;
        }

        private void put(int at, JsonToken token) throws IOException {
            clear(row, at);
            byte kind = NULL;
            if (token == JsonToken.VALUE_STRING) {
                kind = TEXT;
                row[at + 3] = text();
            } else if (token == JsonToken.VALUE_NUMBER_INT) {
                kind = integer(at);
            } else if (token == JsonToken.VALUE_NUMBER_FLOAT) {
                kind = FRACTION;
                double number = parser.getDoubleValue();
                number = signed ? number : number + 0.0; // JsonConverter reads decimals, which have no negative zero
                boolean rounded = number == Math.rint(number) && parser.getTextLength() > SURE_LENGTH; // perhaps up to an integer
                row[at + 1] = Long.valueOf(Math.abs(number) < EXACT && !rounded ? (long) number : integral(parser.getDecimalValue()));
                row[at + 2] = Double.valueOf(number);
                if (floats && roundsTwice(number)) {
                    row[at + 3] = UTF8String.fromString(parser.getText());
                }
            } else if (token == JsonToken.VALUE_TRUE || token == JsonToken.VALUE_FALSE) {
                kind = BOOLEAN;
                row[at + 1] = Long.valueOf(token == JsonToken.VALUE_TRUE ? 1L : 0L);
            } else if (token == JsonToken.START_OBJECT || token == JsonToken.START_ARRAY) {
                kind = token == JsonToken.START_OBJECT ? MAP : LIST;
                int start = offset(true);
                parser.skipChildren();
                row[at + 3] = UTF8String.fromBytes(source, start, offset(false) - start);
            }
            if (texts && (kind == INTEGER || kind == FRACTION)) {
                Object digits = kind == INTEGER ? (Object) Long.valueOf(parser.getLongValue()) : parser.getDecimalValue();
                row[at + 3] = UTF8String.fromString(digits.toString());
            }
            row[at] = Byte.valueOf(kind);
        }

        /** The low 64 bits of the integral part, which are zeros where the power of ten is a multiple of that of two. */
        private static long integral(BigDecimal number) {
            return number.scale() <= -64 ? 0L : number.longValue();
        }

        /** The text of a string: its bytes as they stand, if they are ASCII without escapes. */
        private UTF8String text() throws IOException {
            int start = offset(true) + 1;
            int end = start;
            while (end < source.length && source[end] >= ' ' && source[end] != '"' && source[end] != '\\') {
                end++;
            }
            return end < source.length && source[end] == '"'
                ? UTF8String.fromBytes(source, start, end - start)
                : UTF8String.fromString(whole(parser.getText()));
        }

        /** The text, unless it has half of a surrogate pair, which no UTF-8 can express. */
        private String whole(String text) throws IOException {
            if (!Utf8.isWhole(text)) {
                throw new IOException(HALF);
            }
            return text;
        }

        private byte integer(int at) throws IOException {
            if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
                row[at + 1] = Long.valueOf(parser.getBigIntegerValue().longValue());
                row[at + 2] = Double.valueOf(parser.getBigIntegerValue().doubleValue());
                row[at + 3] = UTF8String.fromString(parser.getText());
                return HUGE;
            }
            long number = parser.getLongValue();
            row[at + 1] = Long.valueOf(number);
            row[at + 2] = Double.valueOf((double) number);
            return INTEGER;
        }

        private int offset(boolean ofToken) {
            return (int) (ofToken ? parser.currentTokenLocation() : parser.currentLocation()).getByteOffset();
        }
    }
}
