package io.headrace;

import org.apache.spark.unsafe.types.UTF8String;

/** Casts of schemaless JSON values, given as the columns of JsonRead: the rules of Connect's Cast for whatever kind a value has. */
public final class JsonCast {
    private JsonCast() {
    }

    /** An integer of 8, 16, 32 or 64 bits; null for text that is none, for lists and maps. */
    public static Long toLong(byte kind, long integer, double number, UTF8String text, int bits) {
        if (kind == JsonRead.TEXT) {
            return Numbers.parseLong(text, bits);
        }
        if (kind == JsonRead.LIST || kind == JsonRead.MAP || kind <= JsonRead.NULL) {
            return null;
        }
        long value = kind == JsonRead.FRACTION ? Numbers.doubleLong(number, bits == 64 ? 64 : 32) : integer;
        int unused = 64 - bits;
        return Long.valueOf(value << unused >> unused);
    }

    /** A floating-point number of 64 bits. */
    public static Double toDouble(byte kind, long integer, double number, UTF8String text) {
        if (kind == JsonRead.TEXT) {
            return Numbers.parseDouble(text);
        }
        if (kind == JsonRead.LIST || kind == JsonRead.MAP || kind <= JsonRead.NULL) {
            return null;
        }
        return Double.valueOf(kind == JsonRead.BOOLEAN ? (double) integer : number);
    }

    /** A floating-point number of 32 bits. */
    public static Float toFloat(byte kind, long integer, double number, UTF8String text) {
        if (kind == JsonRead.TEXT) {
            return Numbers.parseFloat(text);
        }
        if (kind == JsonRead.INTEGER) {
            return Float.valueOf((float) integer);
        }
        Double wide = toDouble(kind, integer, number, text);
        return wide == null ? null : Float.valueOf((float) wide.doubleValue());
    }

    public static Boolean toBoolean(byte kind, long integer, double number, UTF8String text) {
        if (kind == JsonRead.TEXT) {
            return Boolean.valueOf("true".equalsIgnoreCase(text.toString()));
        }
        if (kind == JsonRead.LIST || kind == JsonRead.MAP || kind <= JsonRead.NULL) {
            return null;
        }
        return Boolean.valueOf(kind == JsonRead.FRACTION ? (long) number != 0 : integer != 0);
    }

    public static UTF8String toText(byte kind, long integer, double number, UTF8String text) {
        if (kind == JsonRead.TEXT || kind == JsonRead.HUGE) {
            return text;
        }
        if (kind == JsonRead.LIST || kind == JsonRead.MAP || kind <= JsonRead.NULL) {
            return null;
        }
        if (kind == JsonRead.BOOLEAN) {
            return UTF8String.fromString(integer != 0 ? "true" : "false");
        }
        return UTF8String.fromString(kind == JsonRead.INTEGER ? Long.toString(integer) : Double.toString(number));
    }
}
