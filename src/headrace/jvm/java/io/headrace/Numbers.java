package io.headrace;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.unsafe.types.UTF8String;

/** Numbers as Java's own parsers read them; null where they refuse. */
public final class Numbers {
    private Numbers() {
    }

    /** @param bits 8, 16, 32 or 64: the width that the number must fit */
    public static Long parseLong(UTF8String text, int bits) {
        long digits = bits < 32 ? -1L : digits(text);
        if (digits >= 0) {
            return Long.valueOf(digits);
        }
        try {
            String given = text.toString();
            if (bits == 8) {
                return Long.valueOf(Byte.parseByte(given));
            }
            if (bits == 16) {
                return Long.valueOf(Short.parseShort(given));
            }
            return bits == 32 ? Long.valueOf(Integer.parseInt(given)) : Long.valueOf(Long.parseLong(given));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /** The number of one to nine ASCII digits, which any int can hold and most texts are; -1 for all else. */
    private static long digits(UTF8String text) {
        int length = text.numBytes();
        if (length == 0 || length > 9) {
            return -1L;
        }
        long number = 0L;
        for (int i = 0; i < length; i++) {
            int digit = text.getByte(i) - '0';
            if (digit < 0 || digit > 9) {
                return -1L;
            }
            number = 10L * number + digit;
        }
        return number;
    }

    public static Double parseDouble(UTF8String text) {
        try {
            return Double.valueOf(Double.parseDouble(text.toString()));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    public static Float parseFloat(UTF8String text) {
        try {
            return Float.valueOf(Float.parseFloat(text.toString()));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /** Decimal text, which keeps the scale, from the bytes of its unscaled value, big-endian (Connect's Decimal). */
    public static UTF8String decimalRead(byte[] unscaled, int scale) {
        if (unscaled.length == 0) {
            return null;
        }
        return UTF8String.fromString(new BigDecimal(new BigInteger(unscaled), scale).toString());
    }

    /** The bytes of the unscaled value of decimal text; null if it is no number or its scale is another one. */
    public static byte[] decimalBytes(UTF8String text, int scale) {
        try {
            BigDecimal number = new BigDecimal(text.toString());
            return number.scale() == scale ? number.unscaledValue().toByteArray() : null;
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /** The low 64 bits of the integral part of decimal text. */
    public static Long decimalLong(UTF8String text) {
        try {
            return Long.valueOf(new BigDecimal(text.toString()).longValue());
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /** The integer of big-endian bytes. */
    public static long bytesLong(byte[] bytes) {
        return new BigInteger(bytes).longValue();
    }

    /** @param width how many bytes, big-endian; higher ones are cut off */
    public static byte[] longBytes(long number, int width) {
        byte[] bytes = new byte[width];
        for (int i = width - 1; i >= 0; i--) {
            bytes[i] = (byte) number;
            number >>= 8;
        }
        return bytes;
    }

    /** The floating-point number of 4 or 8 big-endian bytes. */
    public static double bytesDouble(byte[] bytes) {
        long bits = bytesLong(bytes);
        return bytes.length == 4 ? (double) Float.intBitsToFloat((int) bits) : Double.longBitsToDouble(bits);
    }

    /** The same of 4 bytes as a float: by way of a double a signaling NaN would become a quiet one. */
    public static float bytesFloat(byte[] bytes) {
        return Float.intBitsToFloat((int) bytesLong(bytes));
    }

    public static byte[] floatBytes(float number) {
        return longBytes((long) Float.floatToRawIntBits(number), 4);
    }

    public static byte[] doubleBytes(double number, int width) {
        return longBytes(width == 4 ? (long) Float.floatToRawIntBits((float) number) : Double.doubleToLongBits(number), width);
    }

    /** Java's cast to an integer of 32 or 64 bits: towards zero, the nearest one for what is out of range. */
    public static long doubleLong(double number, int bits) {
        return bits == 32 ? (long) (int) number : (long) number;
    }
}
