package io.headrace;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;

/** Messages that stand for one value in Connect: google.type.Date, google.protobuf.Timestamp, confluent.type.Decimal and so on. */
abstract class ProtobufLogical extends ProtobufType.Nested {
    private static final int MILLI = 1_000_000; // in nanoseconds
    private static final int MOST_ZEROS = 10_000;
    private static final int MOST_SHOWN = 100; // digits in a message

    static ProtobufLogical of(String type, JsonNode node) {
        return switch (type) {
            case "date" -> new Day();
            case "time" -> new TimeOfDay();
            case "timestamp" -> new Instant();
            default -> new Decimal(node.get("scale").asInt());
        };
    }

    /** The numbers of a message's fields, each a varint. */
    private static Map<Integer, Long> numbers(byte[] bytes) throws IOException {
        Map<Integer, Long> found = new HashMap<>();
        ProtobufInput in = new ProtobufInput(bytes);
        while (in.hasMore()) {
            int tag = in.readTag();
            if ((tag & 7) == ProtobufInput.VARINT) {
                found.put(tag >>> 3, in.readVarint());
            } else {
                in.skip(tag);
            }
        }
        return found;
    }

    private static long number(Map<Integer, Long> numbers, int field) {
        return numbers.getOrDefault(field, 0L);
    }

    /** A message whose fields 1, 2 and so on are these numbers; zeros are left out. */
    private static byte[] message(long... numbers) {
        ProtobufOutput out = new ProtobufOutput();
        for (int i = 0; i < numbers.length; i++) {
            if (numbers[i] != 0) {
                out.writeTag(i + 1, ProtobufInput.VARINT);
                out.writeVarint(numbers[i]);
            }
        }
        return out.toBytes();
    }

    /** google.protobuf.Int32Value and so on. */
    static final class Wrapper extends ProtobufType.Nested {
        private final ProtobufType inner;

        Wrapper(ProtobufType inner) {
            this.inner = inner;
        }

        @Override
        JsonNode parse(byte[] bytes) throws IOException {
            JsonNode found = inner.zero();
            ProtobufInput in = new ProtobufInput(bytes);
            while (in.hasMore()) {
                int tag = in.readTag();
                if (tag == (1 << 3 | inner.wire())) {
                    found = inner.read(in);
                } else {
                    in.skip(tag);
                }
            }
            return found;
        }

        @Override
        byte[] toBytes(JsonNode value) throws IOException {
            ProtobufOutput out = new ProtobufOutput();
            if (!inner.isZero(value)) {
                out.writeTag(1, inner.wire());
                inner.write(value, out);
            }
            return out.toBytes();
        }
    }

    private static final class Day extends ProtobufLogical {
        @Override
        JsonNode parse(byte[] bytes) throws IOException {
            Map<Integer, Long> parts = numbers(bytes);
            try {
                return LongNode.valueOf(LocalDate.of((int) number(parts, 1), (int) number(parts, 2), (int) number(parts, 3)).toEpochDay());
            } catch (DateTimeException e) {
                throw new IOException("a google.type.Date is no day: " + e.getMessage(), e);
            }
        }

        @Override
        byte[] toBytes(JsonNode value) {
            LocalDate day = LocalDate.ofEpochDay(value.longValue());
            return message(day.getYear(), day.getMonthValue(), day.getDayOfMonth());
        }
    }

    private static final class TimeOfDay extends ProtobufLogical {
        private static final long DAY = 86_400_000;

        @Override
        JsonNode parse(byte[] bytes) throws IOException {
            Map<Integer, Long> parts = numbers(bytes);
            long seconds = (number(parts, 1) * 60 + number(parts, 2)) * 60 + number(parts, 3);
            long millis = seconds * 1000 + number(parts, 4) / MILLI;
            if (millis < 0 || millis >= DAY) {
                throw new IOException("a google.type.TimeOfDay is no time of a day");
            }
            return LongNode.valueOf(millis);
        }

        @Override
        byte[] toBytes(JsonNode value) {
            long millis = value.longValue();
            if (millis < 0 || millis > DAY) {
                throw new AvroPut.Refused("Time values must use number of millis greater than 0 and less than 86400000");
            }
            return message(millis / 3_600_000 % 24, millis / 60_000 % 60, millis / 1000 % 60, millis % 1000 * MILLI);
        }
    }

    private static final class Instant extends ProtobufLogical {
        @Override
        JsonNode parse(byte[] bytes) throws IOException {
            Map<Integer, Long> parts = numbers(bytes);
            return LongNode.valueOf(number(parts, 1) * 1000 + number(parts, 2) / MILLI);
        }

        @Override
        byte[] toBytes(JsonNode value) {
            long millis = value.longValue();
            return message(Math.floorDiv(millis, 1000L), Math.floorMod(millis, 1000L) * MILLI);
        }
    }

    private static final class Decimal extends ProtobufLogical {
        private final int scale;

        Decimal(int scale) {
            this.scale = scale;
        }

        @Override
        JsonNode parse(byte[] bytes) throws IOException {
            byte[] digits = {0};
            ProtobufInput in = new ProtobufInput(bytes);
            Map<Integer, Long> parts = numbers(bytes);
            while (in.hasMore()) {
                int tag = in.readTag();
                if (tag == (1 << 3 | ProtobufInput.BYTES)) {
                    digits = in.readBytes();
                } else {
                    in.skip(tag);
                }
            }
            BigInteger unscaled = digits.length == 0 ? BigInteger.ZERO : new BigInteger(digits);
            BigDecimal value = new BigDecimal(unscaled, (int) number(parts, 3), new MathContext((int) number(parts, 2)));
            return TextNode.valueOf(Base64.getEncoder().encodeToString(scaled(value, scale).unscaledValue().toByteArray()));
        }

        @Override
        byte[] toBytes(JsonNode value) throws IOException {
            BigDecimal decimal = new BigDecimal(new BigInteger(value.binaryValue()), scale);
            ProtobufOutput out = new ProtobufOutput();
            out.writeTag(1, ProtobufInput.BYTES);
            out.writeBytes(decimal.unscaledValue().toByteArray());
            out.writeTag(2, ProtobufInput.VARINT);
            out.writeVarint(decimal.precision());
            if (scale != 0) {
                out.writeTag(3, ProtobufInput.VARINT);
                out.writeVarint(scale);
            }
            return out.toBytes();
        }
    }

    /** A decimal with the scale that its schema has. An exponent of a few characters may stand for more zeros than fit into memory. */
    static BigDecimal scaled(BigDecimal value, int scale) throws IOException {
        if (value.signum() == 0) {
            return new BigDecimal(BigInteger.ZERO, scale);
        }
        long zeros = (long) scale - value.scale(); // that are added; negative: digits that are left out
        if (zeros > MOST_ZEROS) {
            throw new IOException("the decimal " + shown(value) + " would have more than " + MOST_ZEROS + " zeros with the scale " + scale
                + " of its schema");
        }
        try {
            if (-zeros < value.precision()) {
                return value.setScale(scale);
            }
        } catch (ArithmeticException e) {
            // digits would be lost
        }
        throw new IOException("the decimal " + shown(value) + " does not fit the scale " + scale + " of its schema");
    }

    private static String shown(BigDecimal value) {
        return value.precision() > MOST_SHOWN ? "of " + value.precision() + " digits" : value.toString();
    }
}
