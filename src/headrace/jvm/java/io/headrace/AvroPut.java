package io.headrace;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** A step of a plan that writes Avro (headrace.avro.writing): one value of a JSON payload. */
abstract class AvroPut implements RegistryWrite.Writer {
    /** The data does not fit its schema. */
    static final class Refused extends RuntimeException {
        Refused(String why) {
            super(why, null, false, false);
        }
    }

    abstract void write(JsonNode value, AvroOutput out) throws IOException;

    @Override
    public boolean takesNull() {
        return false;
    }

    @Override
    public final byte[] toBytes(JsonNode value) throws IOException {
        AvroOutput out = new AvroOutput();
        write(value, out);
        return out.toBytes();
    }

    /** Writes one item of an array. */
    private interface Item<T> {
        void write(T item) throws IOException;
    }

    /** Items as one block, and the empty one that ends them. */
    private static <T> void writeBlock(Iterable<T> items, int size, AvroOutput out, Item<T> item) throws IOException {
        if (size > 0) {
            out.writeLong(size);
        }
        for (T one : items) {
            item.write(one);
        }
        out.writeLong(0);
    }

    static AvroPut of(JsonNode plan) {
        return of(plan, new HashMap<>());
    }

    /** @param records those around the node that are a part of themselves, by their numbers */
    private static AvroPut of(JsonNode node, Map<Integer, RecordOf> records) {
        String type = node.get("t").asText();
        return switch (type) {
            case "raw", "bytes" -> new Bytes("raw".equals(type), -1);
            case "fixed" -> new Bytes(false, node.get("n").asInt());
            case "boolean", "int", "long", "float", "double", "string" -> new Primitive(type);
            case "enum" -> new Symbol(node.get("s"));
            case "array" -> new ArrayOf(of(node.get("i"), records));
            case "map" -> new MapOf(of(node.get("i"), records));
            case "pairs" -> new Pairs(of(node.get("k"), records), of(node.get("v"), records), node.get("o").asBoolean());
            case "record" -> new RecordOf(node, records);
            case "ref" -> records.get(node.get("n").asInt());
            case "refused" -> new Refusing(node.get("n").asText());
            case "optional" -> new Optional(node, records);
            case "union" -> new Union(node, records);
            case "any" -> new Any();
            default -> throw new IllegalArgumentException(type);
        };
    }

    private static void required(JsonNode value, String what) {
        if (value == null || value.isNull()) {
            throw new Refused("null in a required " + what);
        }
    }

    static final class Primitive extends AvroPut {
        private final String type;

        Primitive(String type) {
            this.type = type;
        }

        @Override
        void write(JsonNode value, AvroOutput out) {
            required(value, type);
            switch (type) {
                case "boolean" -> out.writeBoolean(value.asBoolean());
                case "string" -> out.writeBytes(value.asText().getBytes(StandardCharsets.UTF_8));
                case "float" -> out.writeFloat(value.isTextual() ? Float.parseFloat(value.asText()) : value.floatValue());
                case "double" -> out.writeDouble(number(value));
                default -> out.writeLong(value.longValue());
            }
        }

        private static double number(JsonNode value) {
            return value.isTextual() ? Double.parseDouble(value.asText()) : value.doubleValue();
        }
    }

    static final class Bytes extends AvroPut {
        private final boolean isRaw;
        private final int size;

        Bytes(boolean isRaw, int size) {
            this.isRaw = isRaw;
            this.size = size;
        }

        @Override
        void write(JsonNode value, AvroOutput out) throws IOException {
            required(value, "bytes");
            byte[] bytes = value.binaryValue();
            if (isRaw) {
                out.writeFixed(bytes);
            } else if (size < 0) {
                out.writeBytes(bytes);
            } else {
                out.writeFixed(fitted(bytes));
            }
        }

        /** Of a decimal, whose digits may be fewer: the sign goes before them. */
        private byte[] fitted(byte[] bytes) {
            if (bytes.length > size) {
                throw new Refused(bytes.length + " bytes for a fixed type of " + size);
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
            for (JsonNode symbol : symbols) {
                places.put(symbol.asText(), places.size());
            }
        }

        @Override
        void write(JsonNode value, AvroOutput out) {
            required(value, "enum");
            Integer place = places.get(value.asText());
            if (place == null) {
                throw new Refused("'" + value.asText() + "' is no symbol of the enum");
            }
            out.writeLong(place);
        }
    }

    static final class ArrayOf extends AvroPut {
        private final AvroPut item;

        ArrayOf(AvroPut item) {
            this.item = item;
        }

        @Override
        void write(JsonNode value, AvroOutput out) throws IOException {
            required(value, "array");
            writeBlock(value, value.size(), out, one -> item.write(one, out));
        }
    }

    static final class MapOf extends AvroPut {
        private final AvroPut item;

        MapOf(AvroPut item) {
            this.item = item;
        }

        @Override
        void write(JsonNode value, AvroOutput out) throws IOException {
            required(value, "map");
            writeBlock(value.properties(), value.size(), out, entry -> {
                out.writeBytes(entry.getKey().getBytes(StandardCharsets.UTF_8));
                item.write(entry.getValue(), out);
            });
        }
    }

    static final class Pairs extends AvroPut {
        private final AvroPut key;
        private final AvroPut item;
        private final boolean isObject;

        Pairs(AvroPut key, AvroPut item, boolean isObject) {
            this.key = key;
            this.item = item;
            this.isObject = isObject;
        }

        @Override
        void write(JsonNode value, AvroOutput out) throws IOException {
            required(value, "map");
            if (isObject) {
                writeBlock(value.properties(), value.size(), out, entry -> put(TextNode.valueOf(entry.getKey()), entry.getValue(), out));
            } else {
                writeBlock(value, value.size(), out, pair -> put(pair.get(0), pair.get(1), out));
            }
        }

        private void put(JsonNode name, JsonNode one, AvroOutput out) throws IOException {
            key.write(name, out);
            item.write(one, out);
        }
    }

    static final class RecordOf extends AvroPut {
        private final String[] names;
        private final AvroPut[] steps;

        RecordOf(JsonNode node, Map<Integer, RecordOf> records) {
            JsonNode fields = node.get("f");
            if (node.has("n")) {
                records.put(node.get("n").asInt(), this); // before its fields, which refer to it
            }
            names = new String[fields.size()];
            steps = new AvroPut[names.length];
            for (int i = 0; i < names.length; i++) {
                names[i] = fields.get(i).get(0).asText();
                steps[i] = of(fields.get(i).get(1), records);
            }
        }

        @Override
        void write(JsonNode value, AvroOutput out) throws IOException {
            required(value, "record");
            for (int i = 0; i < names.length; i++) {
                try {
                    steps[i].write(value.get(names[i]), out);
                } catch (Refused e) {
                    throw new Refused(e.getMessage() + " (field " + names[i] + ")");
                }
            }
        }
    }

    /** A struct that the schema has no place for: an error of the records that have one. */
    static final class Refusing extends AvroPut {
        private final String why;

        Refusing(String why) {
            this.why = why;
        }

        @Override
        void write(JsonNode value, AvroOutput out) {
            throw new Refused(why);
        }
    }

    /** A union of null and one type, or one branch of a larger one. */
    static final class Optional extends AvroPut {
        private final int nullPlace; // -1: there is none
        private final int place;
        private final AvroPut inner;

        Optional(JsonNode node, Map<Integer, RecordOf> records) {
            nullPlace = node.get("n").asInt();
            place = node.get("x").asInt();
            inner = of(node.get("i"), records);
        }

        @Override
        void write(JsonNode value, AvroOutput out) throws IOException {
            if (value == null || value.isNull()) {
                if (nullPlace < 0) {
                    throw new Refused("null in a union without null");
                }
                out.writeLong(nullPlace);
            } else {
                out.writeLong(place);
                inner.write(value, out);
            }
        }
    }

    /** A struct with a field for each branch, of which one is not null. */
    static final class Union extends AvroPut {
        private final int nullPlace;
        private final String[] names;
        private final int[] places;
        private final AvroPut[] steps;

        Union(JsonNode node, Map<Integer, RecordOf> records) {
            nullPlace = node.get("n").asInt();
            JsonNode fields = node.get("f");
            names = new String[fields.size()];
            places = new int[names.length];
            steps = new AvroPut[names.length];
            for (int i = 0; i < names.length; i++) {
                names[i] = fields.get(i).get(0).asText();
                places[i] = fields.get(i).get(1).asInt();
                steps[i] = of(fields.get(i).get(2), records);
            }
        }

        @Override
        void write(JsonNode value, AvroOutput out) throws IOException {
            for (int i = 0; value != null && i < names.length; i++) {
                if (value.hasNonNull(names[i])) {
                    out.writeLong(places[i]);
                    steps[i].write(value.get(names[i]), out);
                    return;
                }
            }
            if (nullPlace < 0) {
                throw new Refused("null in a union without null");
            }
            out.writeLong(nullPlace);
        }
    }

    /** Data without schema: a record with one field for each kind of data. */
    static final class Any extends AvroPut {
        private static final int DOUBLE = 2;
        private static final int LONG = 5;
        private static final int STRING = 6;
        private static final int ARRAY = 7;
        private static final int MAP = 8;

        private final AvroPut list = new ArrayOf(this);
        private final AvroPut map = new Pairs(this, this, true);

        @Override
        public boolean takesNull() {
            return true;
        }

        @Override
        void write(JsonNode value, AvroOutput out) throws IOException {
            int kind = value.isNull() ? -1 : value.isBoolean() ? 0 : value.isIntegralNumber() ? LONG : value.isNumber() ? DOUBLE
                : value.isTextual() ? STRING : value.isArray() ? ARRAY : MAP;
            if (kind == LONG && !value.canConvertToLong()) {
                throw new Refused("the integer " + value.asText() + " has more than 64 bits");
            }
            for (int i = 0; i <= MAP; i++) {
                out.writeLong(i == kind ? 1 : 0);
                if (i == kind) {
                    put(kind, value, out);
                }
            }
        }

        private void put(int kind, JsonNode value, AvroOutput out) throws IOException {
            switch (kind) {
                case 0 -> out.writeBoolean(value.booleanValue());
                case DOUBLE -> out.writeDouble(value.doubleValue());
                case LONG -> out.writeLong(value.longValue());
                case STRING -> out.writeBytes(value.textValue().getBytes(StandardCharsets.UTF_8));
                case ARRAY -> list.write(value, out);
                default -> map.write(value, out);
            }
        }
    }
}
