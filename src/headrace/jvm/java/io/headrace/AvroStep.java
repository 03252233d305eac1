package io.headrace;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.unsafe.types.UTF8String;

/** A step of a plan that reads Avro (headrace.avro.to_connect): one value to JSON. */
abstract class AvroStep {
    /** Read the value and write it as JSON; nothing is written where there is no generator. */
    abstract void write(AvroInput in, JsonGenerator out) throws IOException;

    /** The kind of the JSON, a constant of {@link JsonRead}, of a nested value. */
    byte kind() {
        return JsonRead.MAP;
    }

    static AvroStep of(JsonNode plan) {
        return of(plan, new HashMap<>());
    }

    /** @param records those around the node that are a part of themselves, by their names */
    private static AvroStep of(JsonNode node, Map<String, RecordOf> records) {
        String type = node.get("t").asText();
        return switch (type) {
            case "null" -> new Null();
            case "raw" -> new Raw();
            case "boolean" -> new Bool();
            case "int", "long", "int8", "int16", "time" -> new Whole(type);
            case "float", "double" -> new Fraction("double".equals(type));
            case "string", "bytes", "decimal", "enum" -> new Text(type, node);
            case "array" -> new ArrayOf(of(node.get("i"), records));
            case "map" -> new MapOf(of(node.get("i"), records));
            case "pairs" -> new AvroPairs(of(node.get("k"), records), of(node.get("v"), records), node.get("o").asBoolean());
            case "record" -> new RecordOf(node, records);
            case "ref" -> records.get(node.get("n").asText());
            case "branch" -> new Branch(node.get("n").asText(), of(node.get("i"), records));
            case "union" -> new Union(node, records);
            case "any" -> new AvroAny();
            default -> throw new IllegalArgumentException(type);
        };
    }

    private static AvroStep[] all(JsonNode nodes, Map<String, RecordOf> records) {
        AvroStep[] steps = new AvroStep[nodes.size()];
        for (int i = 0; i < steps.length; i++) {
            steps[i] = of(nodes.get(i), records);
        }
        return steps;
    }

    static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    /** All bytes of the payload, without a length. */
    static final class Raw extends AvroStep {
        @Override
        void write(AvroInput in, JsonGenerator out) {
            throw new IllegalStateException("raw bytes stand alone");
        }
    }

    static final class Null extends AvroStep {
        @Override
        void write(AvroInput in, JsonGenerator out) throws IOException {
            if (out != null) {
                out.writeNull();
            }
        }
    }

    static final class Bool extends AvroStep {
        @Override
        void write(AvroInput in, JsonGenerator out) throws IOException {
            boolean value = in.readBoolean();
            if (out != null) {
                out.writeBoolean(value);
            }
        }
    }

    static final class Whole extends AvroStep {
        private final int bits;
        private final boolean isTime;

        Whole(String type) {
            isTime = "time".equals(type);
            bits = switch (type) {
                case "long" -> Long.SIZE;
                case "int8" -> Byte.SIZE;
                case "int16" -> Short.SIZE;
                default -> Integer.SIZE;
            };
        }

        long read(AvroInput in) throws IOException {
            return switch (bits) {
                case Long.SIZE -> in.readLong();
                case Byte.SIZE -> (byte) in.readInt();
                case Short.SIZE -> (short) in.readInt();
                default -> isTime ? ReadRow.timeOfDay(in.readInt()) : in.readInt();
            };
        }

        @Override
        void write(AvroInput in, JsonGenerator out) throws IOException {
            long value = read(in);
            if (out != null) {
                out.writeNumber(value);
            }
        }
    }

    static final class Fraction extends AvroStep {
        final boolean isDouble;

        Fraction(boolean isDouble) {
            this.isDouble = isDouble;
        }

        @Override
        void write(AvroInput in, JsonGenerator out) throws IOException {
            if (isDouble) {
                double value = in.readDouble();
                if (out != null) {
                    out.writeNumber(value);
                }
            } else {
                float value = in.readFloat();
                if (out != null) {
                    out.writeNumber(value);
                }
            }
        }
    }

    /** What is a text in JSON: strings, enums, and bytes and decimals in base64. */
    static final class Text extends AvroStep {
        private final boolean isString;
        private final boolean isEnum;
        private final boolean isDecimal;
        private final int size; // of a fixed type, else -1
        private final UTF8String[] symbols;

        Text(String type, JsonNode node) {
            this.isString = "string".equals(type);
            this.isEnum = "enum".equals(type);
            this.isDecimal = "decimal".equals(type);
            this.size = node.path("n").asInt(-1);
            this.symbols = new UTF8String[node.path("s").size()];
            for (int i = 0; i < symbols.length; i++) {
                symbols[i] = UTF8String.fromString(node.get("s").get(i).asText());
            }
        }

        UTF8String read(AvroInput in) throws IOException {
            if (isString) {
                return in.readText();
            }
            if (isEnum) {
                return symbols[in.readPlace(symbols.length, "an enum")];
            }
            byte[] bytes = in.readBytes(size);
            if (isDecimal) {
                bytes = bytes.length == 0 ? new byte[] {0} : new BigInteger(bytes).toByteArray();
            }
            return UTF8String.fromString(base64(bytes));
        }

        @Override
        void write(AvroInput in, JsonGenerator out) throws IOException {
            if (out == null) {
                read(in);
            } else {
                out.writeString(isString ? in.readString() : read(in).toString());
            }
        }
    }

    static final class ArrayOf extends AvroStep {
        private final AvroStep item;

        ArrayOf(AvroStep item) {
            this.item = item;
        }

        @Override
        byte kind() {
            return JsonRead.LIST;
        }

        @Override
        void write(AvroInput in, JsonGenerator out) throws IOException {
            if (out != null) {
                out.writeStartArray();
            }
            for (int n = in.readBlock(); n != 0; n = in.readBlock()) {
                for (int i = 0; i < n; i++) {
                    item.write(in, out);
                }
            }
            if (out != null) {
                out.writeEndArray();
            }
        }
    }

    static final class MapOf extends AvroStep {
        private final AvroStep item;

        MapOf(AvroStep item) {
            this.item = item;
        }

        @Override
        void write(AvroInput in, JsonGenerator out) throws IOException {
            if (out != null) {
                out.writeStartObject();
            }
            for (int n = in.readBlock(); n != 0; n = in.readBlock()) {
                for (int i = 0; i < n; i++) {
                    String key = in.readString();
                    if (out != null) {
                        out.writeFieldName(key);
                    }
                    item.write(in, out);
                }
            }
            if (out != null) {
                out.writeEndObject();
            }
        }
    }

    static final class RecordOf extends AvroStep {
        final String[] names;
        final AvroStep[] steps;
        private volatile Places recent = new Places(null, null);

        private record Places(Map<String, Integer> wanted, int[] places) { }

        RecordOf(JsonNode node, Map<String, RecordOf> records) {
            JsonNode fields = node.get("f");
            if (node.has("n")) {
                records.put(node.get("n").asText(), this); // before its fields, which refer to it
            }
            names = new String[fields.size()];
            steps = new AvroStep[names.length];
            for (int i = 0; i < names.length; i++) {
                names[i] = fields.get(i).get(0).asText();
                steps[i] = of(fields.get(i).get(1), records);
            }
        }

        /** Where each field stands among those that are asked for, -1 for one that is not. */
        int[] places(Map<String, Integer> wanted) {
            Places found = recent;
            if (found.wanted != wanted) {
                int[] places = new int[names.length];
                for (int i = 0; i < names.length; i++) {
                    places[i] = wanted.getOrDefault(names[i], -1);
                }
                found = new Places(wanted, places);
                recent = found;
            }
            return found.places;
        }

        @Override
        void write(AvroInput in, JsonGenerator out) throws IOException {
            if (out != null) {
                out.writeStartObject();
            }
            for (int i = 0; i < steps.length; i++) {
                if (out != null) {
                    out.writeFieldName(names[i]);
                }
                steps[i].write(in, out);
            }
            if (out != null) {
                out.writeEndObject();
            }
        }
    }

    /** A branch of a union that is a struct in Connect, with a field for each branch. */
    static final class Branch extends AvroStep {
        private final String name;
        private final AvroStep step;

        Branch(String name, AvroStep step) {
            this.name = name;
            this.step = step;
        }

        @Override
        void write(AvroInput in, JsonGenerator out) throws IOException {
            step.write(in, out);
        }
    }

    static final class Union extends AvroStep {
        final String[] fields; // of the struct, null if the union is an optional value
        private final AvroStep[] branches;

        Union(JsonNode node, Map<String, RecordOf> records) {
            branches = all(node.get("b"), records);
            JsonNode names = node.get("f");
            fields = names == null ? null : new String[names.size()];
            for (int i = 0; fields != null && i < fields.length; i++) {
                fields[i] = names.get(i).asText();
            }
        }

        AvroStep branch(AvroInput in) throws IOException {
            return branches[in.readPlace(branches.length, "a union")];
        }

        @Override
        void write(AvroInput in, JsonGenerator out) throws IOException {
            AvroStep branch = branch(in);
            if (out == null || !(branch instanceof Branch named) || fields == null) {
                branch.write(in, out);
                return;
            }
            out.writeStartObject();
            for (String field : fields) {
                out.writeFieldName(field);
                if (field.equals(named.name)) {
                    named.step.write(in, out);
                } else {
                    out.writeNull();
                }
            }
            out.writeEndObject();
        }
    }
}
