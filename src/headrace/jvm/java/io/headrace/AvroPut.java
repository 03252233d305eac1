package io.headrace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.io.SerializedString;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * A step of a plan that writes Avro (headrace.avro.writing): one value of a JSON payload, as it is parsed. The parser is at the first token
 * of the value, and at its last one after that.
 */
abstract class AvroPut implements RegistryWrite.Writer {
    private static final JsonFactory FACTORY = JsonFactory.builder().enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER).build();

    /** The data does not fit its schema. */
    static final class Refused extends RuntimeException {
        Refused(String why) {
            super(why, null, false, false);
        }
    }

    /** What it writes, in a message. */
    final String what;

    AvroPut(String what) {
        this.what = what;
    }

    /** Write a value that is not null. */
    abstract void write(JsonParser json, AvroOutput out) throws IOException;

    /** Write null, or a field that is not there. */
    void writeNull(AvroOutput out) {
        throw new Refused("null in a required " + what);
    }

    final void writeAny(JsonParser json, AvroOutput out) throws IOException {
        if (json.currentToken() == JsonToken.VALUE_NULL) {
            writeNull(out);
        } else {
            write(json, out);
        }
    }

    @Override
    public final byte[] toBytes(byte[] text) throws IOException {
        AvroOutput out = new AvroOutput();
        try (JsonParser json = FACTORY.createParser(text)) {
            if (json.nextToken() == JsonToken.VALUE_NULL && !(this instanceof AvroScalars.Any)) {
                return null;
            }
            writeAny(json, out);
        }
        return out.toBytes();
    }

    static AvroPut of(JsonNode plan) {
        return of(plan, new HashMap<>());
    }

    /** @param records those around the node that are a part of themselves, by their numbers */
    private static AvroPut of(JsonNode node, Map<Integer, RecordOf> records) {
        String type = node.get("t").asText();
        return switch (type) {
            case "raw", "bytes" -> new AvroScalars.Bytes(node, "raw".equals(type));
            case "fixed" -> new AvroScalars.Bytes(node, false);
            case "boolean", "float", "double", "single" -> new AvroScalars.Primitive(type);
            case "int", "long" -> new AvroScalars.Whole(type);
            case "string" -> new AvroScalars.Text();
            case "enum" -> new AvroScalars.Symbol(node.get("s"));
            case "array" -> new ArrayOf(of(node.get("i"), records));
            case "map" -> new Pairs(new AvroScalars.Text(), of(node.get("i"), records), true);
            case "pairs" -> new Pairs(of(node.get("k"), records), of(node.get("v"), records), node.get("o").asBoolean());
            case "record" -> new RecordOf(node, records);
            case "ref" -> records.get(node.get("n").asInt());
            case "refused" -> new Refusing(node.get("n").asText());
            case "optional" -> new Optional(node, records);
            case "union" -> new Union(node, records);
            case "any" -> new AvroScalars.Any();
            default -> throw new IllegalArgumentException(type);
        };
    }

    static final class ArrayOf extends AvroPut {
        private final AvroPut item;

        ArrayOf(AvroPut item) {
            super("array");
            this.item = item;
        }

        @Override
        void write(JsonParser json, AvroOutput out) throws IOException {
            int start = out.size();
            int count = 0;
            while (json.nextToken() != JsonToken.END_ARRAY) {
                item.writeAny(json, out);
                count++;
            }
            out.endBlocks(start, count);
        }
    }

    /** A map: an object, or an array of pairs. */
    static final class Pairs extends AvroPut {
        private final AvroPut key;
        private final AvroPut item;
        private final boolean isObject;

        Pairs(AvroPut key, AvroPut item, boolean isObject) {
            super("map");
            this.key = key;
            this.item = item;
            this.isObject = isObject;
        }

        @Override
        void write(JsonParser json, AvroOutput out) throws IOException {
            int start = out.size();
            int count = 0;
            while (!json.nextToken().isStructEnd()) {
                if (!isObject) {
                    json.nextToken();
                }
                key.writeAny(json, out); // the name of a member is its text
                json.nextToken();
                item.writeAny(json, out);
                if (!isObject) {
                    json.nextToken();
                }
                count++;
            }
            out.endBlocks(start, count);
        }
    }

    /** A record, whose fields stand in JSON as Avro has them; those that come before their turn wait for it. */
    static final class RecordOf extends AvroPut {
        private final SerializedString[] names; // null for a field that JSON does not have
        private final AvroPut[] steps;
        private final Map<String, Integer> places = new HashMap<>();

        RecordOf(JsonNode node, Map<Integer, RecordOf> records) {
            super("record");
            JsonNode fields = node.get("f");
            if (node.has("n")) {
                records.put(node.get("n").asInt(), this); // before its fields, which refer to it
            }
            names = new SerializedString[fields.size()];
            steps = new AvroPut[names.length];
            for (int i = 0; i < names.length; i++) {
                String name = fields.get(i).get(0).textValue();
                names[i] = name == null ? null : new SerializedString(name);
                steps[i] = of(fields.get(i).get(1), records);
                places.put(name, i);
            }
        }

        @Override
        void write(JsonParser json, AvroOutput out) throws IOException {
            byte[][] early = null;
            int next = 0;
            while (true) {
                while (next < names.length && names[next] == null) {
                    writeField(next++, null, out);
                }
                if (next < names.length && json.nextFieldName(names[next])) {
                    json.nextToken();
                    writeField(next++, json, out);
                    continue;
                }
                if (next == names.length) {
                    json.nextToken();
                }
                if (json.currentToken() == JsonToken.END_OBJECT) {
                    break;
                }
                Integer place = places.get(json.currentName());
                json.nextToken();
                if (place == null) {
                    json.skipChildren();
                } else {
                    AvroOutput own = new AvroOutput();
                    writeField(place, json, own);
                    early = early == null ? new byte[names.length][] : early;
                    early[place] = own.toBytes();
                    next = writeEarly(early, next, out);
                }
            }
            while (next < names.length) {
                int now = next;
                next = early == null ? next : writeEarly(early, next, out);
                if (next == now) {
                    writeField(next++, null, out);
                }
            }
        }

        /** Write the fields whose turn has come; returns the one that is next. */
        private static int writeEarly(byte[][] early, int first, AvroOutput out) {
            int next = first;
            while (next < early.length && early[next] != null) {
                out.writeFixed(early[next++]);
            }
            return next;
        }

        /** @param json null for a field that is not there */
        private void writeField(int place, JsonParser json, AvroOutput out) throws IOException {
            try {
                if (json == null) {
                    steps[place].writeNull(out);
                } else {
                    steps[place].writeAny(json, out);
                }
            } catch (Refused e) {
                throw new Refused(e.getMessage() + " (field " + names[place] + ")");
            }
        }
    }

    /** A struct that the schema has no place for: an error of the records that have one. */
    static final class Refusing extends AvroPut {
        private final String why;

        Refusing(String why) {
            super("struct");
            this.why = why;
        }

        @Override
        void write(JsonParser json, AvroOutput out) {
            throw new Refused(why);
        }

        @Override
        void writeNull(AvroOutput out) {
            throw new Refused(why);
        }
    }

    /** Writes null as a branch of a union. */
    private static void writeNullBranch(int place, AvroOutput out) {
        if (place < 0) {
            throw new Refused("null in a union without null");
        }
        out.writeLong(place);
    }

    /** A union of null and one type, or one branch of a larger one. */
    static final class Optional extends AvroPut {
        private final int nullPlace; // -1: there is none
        private final int place;
        private final AvroPut inner;

        Optional(JsonNode node, Map<Integer, RecordOf> records) {
            super("union");
            nullPlace = node.get("n").asInt();
            place = node.get("x").asInt();
            inner = of(node.get("i"), records);
        }

        @Override
        void write(JsonParser json, AvroOutput out) throws IOException {
            out.writeLong(place);
            inner.write(json, out);
        }

        @Override
        void writeNull(AvroOutput out) {
            writeNullBranch(nullPlace, out);
        }
    }

    /** A struct with a field for each branch, of which one is not null. */
    static final class Union extends AvroPut {
        private final int nullPlace;
        private final String[] names;
        private final int[] places;
        private final AvroPut[] steps;

        Union(JsonNode node, Map<Integer, RecordOf> records) {
            super("union");
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
        void write(JsonParser json, AvroOutput out) throws IOException {
            int start = out.size();
            int best = names.length; // the first branch that is there
            for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
                JsonToken token = json.nextToken();
                int branch = Arrays.asList(names).indexOf(name);
                if (token != JsonToken.VALUE_NULL && branch >= 0 && branch < best) {
                    best = branch;
                    out.cut(start);
                    out.writeLong(places[branch]);
                    steps[branch].write(json, out);
                } else {
                    json.skipChildren();
                }
            }
            if (best == names.length) {
                writeNull(out);
            }
        }

        @Override
        void writeNull(AvroOutput out) {
            writeNullBranch(nullPlace, out);
        }
    }
}
