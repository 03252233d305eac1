package io.headrace;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Avro's binary form. */
final class AvroOutput {
    private static final int LONGEST = 10; // bytes of a long

    private byte[] bytes = new byte[256];
    private int size;

    int size() {
        return size;
    }

    /** Forget what was written after so many bytes. */
    void cut(int newSize) {
        size = newSize;
    }

    void writeBoolean(boolean value) {
        reserve(1);
        bytes[size++] = value ? (byte) 1 : 0;
    }

    void writeLong(long value) {
        reserve(LONGEST);
        size = put(value, size);
    }

    void writeFloat(float value) {
        putBits(Float.floatToIntBits(value), Float.BYTES);
    }

    void writeDouble(double value) {
        putBits(Double.doubleToLongBits(value), Double.BYTES);
    }

    void writeBytes(byte[] value) {
        writeLong(value.length);
        writeFixed(value);
    }

    void writeFixed(byte[] value) {
        reserve(value.length);
        System.arraycopy(value, 0, bytes, size, value.length);
        size += value.length;
    }

    /** A string: of ASCII, nearly always, which has as many bytes as characters. */
    void writeText(char[] text, int start, int length) {
        int before = size;
        writeLong(length);
        reserve(length);
        for (int i = start; i < start + length; i++) {
            if (text[i] >= 0x80) {
                size = before;
                writeBytes(new String(text, start, length).getBytes(StandardCharsets.UTF_8));
                return;
            }
            bytes[size++] = (byte) text[i];
        }
    }

    /** What was written after so many bytes is an array or a map: one block of so many items, and the empty one that ends it. */
    void endBlocks(int start, int count) {
        if (count > 0) {
            reserve(LONGEST);
            int length = put(count, size) - size; // behind it all, where there is room
            System.arraycopy(bytes, start, bytes, start + length, size - start);
            put(count, start);
            size += length;
        }
        writeLong(0);
    }

    byte[] toBytes() {
        return Arrays.copyOf(bytes, size);
    }

    private int put(long value, int at) {
        int end = at;
        long rest = (value << 1) ^ (value >> 63);
        while ((rest & ~0x7fL) != 0) {
            bytes[end++] = (byte) ((rest & 0x7f) | 0x80);
            rest >>>= 7;
        }
        bytes[end++] = (byte) rest;
        return end;
    }

    private void putBits(long bits, int count) {
        reserve(count);
        for (int i = 0; i < count; i++) {
            bytes[size++] = (byte) (bits >>> (8 * i));
        }
    }

    private void reserve(int count) {
        if (size + count > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + count));
        }
    }
}
