package io.headrace;

import java.io.EOFException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/** Avro's binary form of one value. Lengths are checked against what is there: Avro's own decoder reserves what a length says. */
final class AvroInput {
    private static final VarHandle FLOAT = MethodHandles.byteArrayViewVarHandle(float[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle DOUBLE = MethodHandles.byteArrayViewVarHandle(double[].class, ByteOrder.LITTLE_ENDIAN);

    private static final int MOST_EMPTY_ITEMS = 100_000; // those of a record that have no bytes: nulls, records without fields

    private final byte[] bytes;
    private int position;
    private long items;

    AvroInput(byte[] bytes) {
        this.bytes = bytes;
    }

    boolean readBoolean() throws IOException {
        return bytes[take(1)] != 0;
    }

    int readInt() throws IOException {
        long value = readLong();
        if (value != (int) value) {
            throw new IOException("an int has more than 32 bits");
        }
        return (int) value;
    }

    long readLong() throws IOException {
        if (position < bytes.length && bytes[position] >= 0) { // nearly every length, and small numbers
            int value = bytes[position++];
            return (value >>> 1) ^ -(value & 1);
        }
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            byte next = bytes[take(1)];
            value |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return (value >>> 1) ^ -(value & 1);
            }
        }
        throw new IOException("a number has more than 64 bits");
    }

    float readFloat() throws IOException {
        return (float) FLOAT.get(bytes, take(Float.BYTES));
    }

    double readDouble() throws IOException {
        return (double) DOUBLE.get(bytes, take(Double.BYTES));
    }

    UTF8String readText() throws IOException {
        int length = length();
        return UTF8String.fromBytes(bytes, take(length), length);
    }

    String readString() throws IOException {
        int length = length();
        return new String(bytes, take(length), length, StandardCharsets.UTF_8);
    }

    /** @param size of a fixed type, negative where the length comes before the bytes */
    byte[] readBytes(int size) throws IOException {
        int length = size < 0 ? length() : size;
        int start = take(length);
        return Arrays.copyOfRange(bytes, start, start + length);
    }

    /** How many items the next block of an array or a map has, 0 after the last one. */
    int readBlock() throws IOException {
        long count = readLong();
        if (count < 0) {
            count = -count;
            readLong(); // the size of the block in bytes
        }
        if (count < 0 || count > Integer.MAX_VALUE) {
            throw new IOException("an array has " + count + " items");
        }
        items += count;
        if (items > bytes.length + (long) MOST_EMPTY_ITEMS) {
            throw new IOException("its arrays have " + items + " items, more than its bytes and " + MOST_EMPTY_ITEMS + " items without any");
        }
        return (int) count;
    }

    /** A place in a list of this size: of a union's branches, or an enum's symbols. */
    int readPlace(int count, String what) throws IOException {
        int place = readInt();
        if (place < 0 || place >= count) {
            throw new IOException(what + " has no place " + place);
        }
        return place;
    }

    private int length() throws IOException {
        long length = readLong();
        if (length < 0) {
            throw new IOException("a length is negative");
        }
        if (length > bytes.length - position) {
            throw new EOFException();
        }
        return (int) length;
    }

    /** Take so many bytes; returns where they begin. */
    private int take(int count) throws EOFException {
        int start = position;
        if (count > bytes.length - start) {
            throw new EOFException();
        }
        position = start + count;
        return start;
    }
}
