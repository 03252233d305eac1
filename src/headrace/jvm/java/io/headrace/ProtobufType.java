package io.headrace;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.FloatNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;

/** A type of a Protobuf field: how one value of it is read as JSON, and written. */
abstract class ProtobufType {
    /** How a value is stored, a constant of {@link ProtobufInput}. */
    abstract int wire();

    /** The value; null if it has to be left out, as a closed enum's unknown number is. */
    abstract JsonNode read(ProtobufInput in) throws IOException;

    /** What an absent field is read as. */
    abstract JsonNode zero() throws IOException;

    /** What an absent field is read as that has a default in its schema, as it is in the plan. */
    JsonNode preset(JsonNode value) {
        return value;
    }

    abstract void write(JsonNode value, ProtobufOutput out) throws IOException;

    /** Whether a value is what an absent field is read as. */
    abstract boolean isZero(JsonNode value);

    static ProtobufType of(JsonNode plan) {
        return of(plan, new HashMap<>());
    }

    /** @param messages those around the node that are a part of themselves, by their names or numbers */
    static ProtobufType of(JsonNode node, Map<String, ProtobufMessage> messages) {
        String type = node.get("t").asText();
        return switch (type) {
            case "double", "float" -> new Fraction("double".equals(type));
            case "bool" -> new Bool();
            case "string", "bytes" -> new Text("bytes".equals(type), node.path("loose").asBoolean());
            case "enum" -> new Symbol(node);
            case "message" -> new ProtobufMessage(node, messages);
            case "ref" -> messages.get(node.get("n").asText());
            case "wrapper" -> new ProtobufLogical.Wrapper(of(node.get("i")));
            case "date", "time", "timestamp", "decimal" -> ProtobufLogical.of(type, node);
            default -> new Whole(type, node.path("c").asText());
        };
    }

    /** Integers; the name says how they are stored. */
    static final class Whole extends ProtobufType {
        private final String type;
        private final String connect; // int8, int16, or nothing
        private final int wire;

        Whole(String type, String connect) {
            this.type = type;
            this.connect = connect;
            this.wire = !type.contains("fixed") ? ProtobufInput.VARINT : type.endsWith("64") ? ProtobufInput.FIXED64 : ProtobufInput.FIXED32;
        }

        @Override
        int wire() {
            return wire;
        }

        @Override
        JsonNode read(ProtobufInput in) throws IOException {
            long value = switch (type) {
                case "int32" -> (int) in.readVarint();
                case "sint32" -> zigzag(in.readVarint() & 0xffffffffL);
                case "sint64" -> zigzag(in.readVarint());
                case "uint32" -> in.readVarint() & 0xffffffffL;
                case "fixed32" -> in.readFixed32() & 0xffffffffL;
                case "sfixed32" -> in.readFixed32();
                case "fixed64", "sfixed64" -> in.readFixed64();
                default -> in.readVarint();
            };
            return LongNode.valueOf("int8".equals(connect) ? (byte) value : "int16".equals(connect) ? (short) value : value);
        }

        private static long zigzag(long value) {
            return (value >>> 1) ^ -(value & 1);
        }

        @Override
        JsonNode zero() {
            return IntNode.valueOf(0);
        }

        @Override
        void write(JsonNode value, ProtobufOutput out) {
            long number = value.longValue();
            switch (type) {
                case "sint32", "sint64" -> out.writeVarint((number << 1) ^ (number >> 63));
                case "uint32" -> out.writeVarint(unsigned(number));
                case "int32" -> out.writeVarint((int) number);
                case "fixed32" -> out.writeFixed32((int) unsigned(number));
                case "sfixed32" -> out.writeFixed32((int) number);
                case "fixed64", "sfixed64" -> out.writeFixed64(number);
                default -> out.writeVarint(number);
            }
        }

        /** A number of Connect, which has 64 bits, for a type with 32 of them. */
        private long unsigned(long number) {
            if (number >>> Integer.SIZE != 0) {
                throw new AvroPut.Refused("the integer " + number + " does not fit into " + type);
            }
            return number;
        }

        @Override
        boolean isZero(JsonNode value) {
            return value.longValue() == 0;
        }
    }

    static final class Fraction extends ProtobufType {
        private final boolean isDouble;

        Fraction(boolean isDouble) {
            this.isDouble = isDouble;
        }

        @Override
        int wire() {
            return isDouble ? ProtobufInput.FIXED64 : ProtobufInput.FIXED32;
        }

        @Override
        JsonNode read(ProtobufInput in) throws IOException {
            return isDouble ? DoubleNode.valueOf(Double.longBitsToDouble(in.readFixed64()))
                : FloatNode.valueOf(Float.intBitsToFloat(in.readFixed32()));
        }

        @Override
        JsonNode zero() {
            return isDouble ? DoubleNode.valueOf(0) : FloatNode.valueOf(0);
        }

        @Override
        JsonNode preset(JsonNode value) {
            return isDouble ? DoubleNode.valueOf(number(value)) : FloatNode.valueOf(single(value));
        }

        private static double number(JsonNode value) { // NaN and the infinities are texts in JSON
            return value.isTextual() ? Double.parseDouble(value.textValue()) : value.doubleValue();
        }

        private static float single(JsonNode value) {
            return value.isTextual() ? Float.parseFloat(value.textValue()) : value.floatValue();
        }

        @Override
        void write(JsonNode value, ProtobufOutput out) {
            if (isDouble) {
                out.writeFixed64(Double.doubleToRawLongBits(number(value)));
            } else {
                out.writeFixed32(Float.floatToRawIntBits(single(value)));
            }
        }

        @Override
        boolean isZero(JsonNode value) { // a negative zero is none
            return isDouble ? Double.doubleToRawLongBits(number(value)) == 0 : Float.floatToRawIntBits(single(value)) == 0;
        }
    }

    static final class Bool extends ProtobufType {
        @Override
        int wire() {
            return ProtobufInput.VARINT;
        }

        @Override
        JsonNode read(ProtobufInput in) throws IOException {
            return BooleanNode.valueOf(in.readVarint() != 0);
        }

        @Override
        JsonNode zero() {
            return BooleanNode.FALSE;
        }

        @Override
        void write(JsonNode value, ProtobufOutput out) {
            out.writeVarint(value.booleanValue() ? 1 : 0);
        }

        @Override
        boolean isZero(JsonNode value) {
            return !value.booleanValue();
        }
    }

    /** What is a text in JSON: strings, and bytes in base64. */
    static final class Text extends ProtobufType {
        private static final char REPLACEMENT = '\uFFFD'; // of bytes that are no UTF-8

        private final boolean isBytes;
        private final boolean isLoose; // bytes that are no UTF-8 are replaced, as in proto2

        Text(boolean isBytes, boolean isLoose) {
            this.isBytes = isBytes;
            this.isLoose = isLoose;
        }

        @Override
        int wire() {
            return ProtobufInput.BYTES;
        }

        @Override
        JsonNode read(ProtobufInput in) throws IOException {
            byte[] bytes = in.readBytes();
            return TextNode.valueOf(isBytes ? Base64.getEncoder().encodeToString(bytes) : text(bytes));
        }

        private String text(byte[] bytes) throws IOException {
            String text = new String(bytes, StandardCharsets.UTF_8);
            if (!isLoose && text.indexOf(REPLACEMENT) >= 0 && !Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes)) {
                throw new IOException("Protocol message had invalid UTF-8");
            }
            return text;
        }

        @Override
        JsonNode zero() {
            return TextNode.valueOf("");
        }

        @Override
        void write(JsonNode value, ProtobufOutput out) throws IOException {
            out.writeBytes(isBytes ? value.binaryValue() : value.asText().getBytes(StandardCharsets.UTF_8));
        }

        @Override
        boolean isZero(JsonNode value) {
            return value.asText().isEmpty();
        }
    }

    /** An enum: a text in JSON, or its number. */
    static final class Symbol extends ProtobufType {
        private final String name;
        private final boolean isNumber; // in JSON
        private final boolean isClosed;
        private final int first;
        private final Map<Integer, String> symbols = new HashMap<>();
        private final Map<String, Integer> numbers = new HashMap<>();

        Symbol(JsonNode node) {
            name = node.get("n").asText();
            isNumber = node.path("i").asBoolean();
            isClosed = node.path("closed").asBoolean();
            first = node.get("s").get(0).get(1).asInt();
            for (JsonNode symbol : node.get("s")) {
                symbols.putIfAbsent(symbol.get(1).asInt(), symbol.get(0).asText()); // an alias is read as the first name
                numbers.put(symbol.get(0).asText(), symbol.get(1).asInt());
            }
        }

        @Override
        int wire() {
            return ProtobufInput.VARINT;
        }

        @Override
        JsonNode read(ProtobufInput in) throws IOException {
            int number = (int) in.readVarint();
            return isClosed && !symbols.containsKey(number) ? null : shown(number);
        }

        private JsonNode shown(int number) {
            String symbol = symbols.get(number);
            return isNumber ? IntNode.valueOf(number) : TextNode.valueOf(symbol == null ? "UNKNOWN_ENUM_VALUE_" + name + "_" + number : symbol);
        }

        @Override
        JsonNode zero() {
            return shown(first);
        }

        @Override
        JsonNode preset(JsonNode value) {
            return shown(number(value));
        }

        private int number(JsonNode value) {
            Integer number = value.isNumber() ? Integer.valueOf(value.intValue()) : numbers.get(value.asText());
            if (number == null) {
                throw new AvroPut.Refused("'" + value.asText() + "' is no symbol of the enum " + name);
            }
            return number;
        }

        @Override
        void write(JsonNode value, ProtobufOutput out) {
            out.writeVarint(number(value));
        }

        @Override
        boolean isZero(JsonNode value) {
            return number(value) == first;
        }
    }

    /** Types that are messages: a value is the bytes between two places. */
    abstract static class Nested extends ProtobufType {
        abstract JsonNode parse(byte[] bytes) throws IOException;

        /** The message without fields, as which an absent one is read. */
        JsonNode empty() throws IOException {
            return parse(new byte[0]);
        }

        abstract byte[] toBytes(JsonNode value) throws IOException;

        @Override
        final int wire() {
            return ProtobufInput.BYTES;
        }

        @Override
        final JsonNode read(ProtobufInput in) throws IOException {
            return parse(in.readBytes());
        }

        @Override
        JsonNode zero() throws IOException {
            return NullNode.getInstance();
        }

        @Override
        final void write(JsonNode value, ProtobufOutput out) throws IOException {
            out.writeBytes(toBytes(value));
        }

        @Override
        final boolean isZero(JsonNode value) {
            return false;
        }
    }
}
