package io.headrace;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** The steps of {@link AvroPut} for values that have no parts, and for data without schema. */
final class AvroScalars {
    private AvroScalars() {
    }

    static final class Whole extends AvroPut {
        Whole(String type) {
            super(type);
        }

        @Override
        void write(JsonParser json, AvroOutput out) throws IOException {
            if (json.currentToken() == JsonToken.VALUE_NUMBER_INT && json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
                throw new AvroPut.Refused("the integer " + json.getText() + " has more than 64 bits");
            }
            out.writeLong(json.getLongValue());
        }
    }

    static final class Text extends AvroPut {
        Text() {
            super("string");
        }

        @Override
        void write(JsonParser json, AvroOutput out) throws IOException {
            out.writeText(json.getTextCharacters(), json.getTextOffset(), json.getTextLength());
        }
    }

    static final class Primitive extends AvroPut {
        Primitive(String type) {
            super(type);
        }

        @Override
        void write(JsonParser json, AvroOutput out) throws IOException {
            switch (what) {
                case "boolean" -> out.writeBoolean(json.getValueAsBoolean());
                case "float" -> out.writeFloat(isText(json) ? Float.parseFloat(json.getText()) : (float) json.getDoubleValue());
                case "single" -> out.writeDouble(Float.parseFloat(json.getText())); // of 32 bits in Connect, and a double in Avro
                default -> out.writeDouble(isText(json) ? Double.parseDouble(json.getText()) : json.getDoubleValue());
            }
        }

        /** Infinity, and what is no number. */
        private static boolean isText(JsonParser json) {
            return json.currentToken() == JsonToken.VALUE_STRING;
        }
    }

    static final class Bytes extends AvroPut {
        private final boolean isRaw;
        private final int size; // of a fixed type, else -1
        private final boolean isDecimal; // whose digits may be fewer than those of a fixed type
        private final boolean isRescaled; // a decimal whose data has another scale than the schema
        private final int dataScale;
        private final int scale;

        Bytes(JsonNode node, boolean isRaw) {
            super("bytes");
            this.isRaw = isRaw;
            this.size = node.path("n").asInt(-1);
            this.isDecimal = node.path("decimal").asBoolean();
            this.isRescaled = node.has("to");
            this.dataScale = node.path("from").asInt();
            this.scale = node.path("to").asInt();
        }

        @Override
        void write(JsonParser json, AvroOutput out) throws IOException {
            byte[] bytes = isRescaled ? rescaled(json.getBinaryValue()) : json.getBinaryValue();
            if (isRaw) {
                out.writeFixed(bytes);
            } else if (size < 0) {
                out.writeBytes(bytes);
            } else {
                out.writeFixed(fitted(bytes));
            }
        }

        private byte[] rescaled(byte[] bytes) {
            try {
                BigInteger unscaled = bytes.length == 0 ? BigInteger.ZERO : new BigInteger(bytes);
                return ProtobufLogical.scaled(new BigDecimal(unscaled, dataScale), scale).unscaledValue().toByteArray();
            } catch (IOException e) {
                throw new AvroPut.Refused(e.getMessage());
            }
        }

        /** Before the digits of a decimal, which may be fewer, goes the sign. */
        private byte[] fitted(byte[] bytes) {
            if (isDecimal ? bytes.length > size : bytes.length != size) {
                throw new AvroPut.Refused(bytes.length + " bytes for a fixed type of " + size);
            }
            byte[] whole = new byte[size];
            byte sign = bytes.length > 0 && bytes[0] < 0 ? (byte) -1 : 0;
            Arrays.fill(whole, 0, size - bytes.length, sign);
            System.arraycopy(bytes, 0, whole, size - bytes.length, bytes.length);
            return whole;
        }
    }

    static final class Symbol extends AvroPut {
        private final Map<String, Integer> places = new HashMap<>();

        Symbol(JsonNode symbols) {
            super("enum");
            for (JsonNode symbol : symbols) {
                places.put(symbol.asText(), places.size());
            }
        }

        @Override
        void write(JsonParser json, AvroOutput out) throws IOException {
            Integer place = places.get(json.getText());
            if (place == null) {
                throw new AvroPut.Refused("'" + json.getText() + "' is no symbol of the enum");
            }
            out.writeLong(place);
        }
    }

    /** Data without schema: a record with one field for each kind of data. */
    static final class Any extends AvroPut {
        private static final int DOUBLE = 2;
        private static final int LONG = 5;
        private static final int STRING = 6;
        private static final int ARRAY = 7;
        private static final int MAP = 8;

        private final AvroPut[] steps = new AvroPut[MAP + 1];

        Any() {
            super("value");
            steps[0] = new Primitive("boolean");
            steps[DOUBLE] = new Primitive("double");
            steps[LONG] = new Whole("long");
            steps[STRING] = new Text();
            steps[ARRAY] = new AvroPut.ArrayOf(this);
            steps[MAP] = new AvroPut.Pairs(this, this, true);
        }

        @Override
        void write(JsonParser json, AvroOutput out) throws IOException {
            int kind = switch (json.currentToken()) {
                case VALUE_TRUE, VALUE_FALSE -> 0;
                case VALUE_NUMBER_INT -> LONG;
                case VALUE_NUMBER_FLOAT -> DOUBLE;
                case VALUE_STRING, FIELD_NAME -> STRING;
                case START_ARRAY -> ARRAY;
                default -> MAP;
            };
            for (int i = 0; i <= MAP; i++) {
                out.writeLong(i == kind ? 1 : 0);
                if (i == kind) {
                    steps[i].write(json, out);
                }
            }
        }

        @Override
        void writeNull(AvroOutput out) {
            for (int i = 0; i <= MAP; i++) {
                out.writeLong(0);
            }
        }
    }
}
