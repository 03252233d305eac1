package io.headrace;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Protobuf's binary form of one message. */
final class ProtobufInput {
    static final int VARINT = 0;
    static final int FIXED64 = 1;
    static final int BYTES = 2;
    static final int FIXED32 = 5;
    private static final int GROUP = 3;
    private static final int END_GROUP = 4;

    private final ByteBuffer bytes;

    ProtobufInput(byte[] bytes) {
        this.bytes = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    boolean hasMore() {
        return bytes.hasRemaining();
    }

    /** The number of the next field and how it is stored: number × 8 + wire type. */
    int readTag() throws IOException {
        int tag = (int) readVarint();
        if (tag >>> 3 == 0) {
            throw new IOException("a field has the number 0");
        }
        return tag;
    }

    long readVarint() throws IOException {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            need(1);
            byte next = bytes.get();
            value |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new IOException("a number has more than 64 bits");
    }

    int readFixed32() throws IOException {
        need(Integer.BYTES);
        return bytes.getInt();
    }

    long readFixed64() throws IOException {
        need(Long.BYTES);
        return bytes.getLong();
    }

    byte[] readBytes() throws IOException {
        long length = readVarint();
        if (length < 0) {
            throw new IOException("a length is negative");
        }
        need(length);
        int start = bytes.position();
        bytes.position(start + (int) length);
        return Arrays.copyOfRange(bytes.array(), start, start + (int) length);
    }

    /** Pass over a field that nobody knows. */
    void skip(int tag) throws IOException {
        switch (tag & 7) {
            case VARINT -> readVarint();
            case FIXED64 -> readFixed64();
            case BYTES -> readBytes();
            case FIXED32 -> readFixed32();
            case GROUP -> {
                int next = readTag();
                while ((next & 7) != END_GROUP) {
                    skip(next);
                    next = readTag();
                }
            }
            default -> throw new IOException("a field has the wire type " + (tag & 7));
        }
    }

    private void need(long count) throws EOFException {
        if (count > bytes.remaining()) {
            throw new EOFException();
        }
    }
}
