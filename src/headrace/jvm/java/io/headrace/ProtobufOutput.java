package io.headrace;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Protobuf's binary form. */
final class ProtobufOutput {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(64);

    void writeTag(int number, int wire) {
        writeVarint((long) number << 3 | wire);
    }

    void writeVarint(long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            bytes.write((int) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        bytes.write((int) rest);
    }

    void writeFixed32(int value) {
        bytes.writeBytes(ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array());
    }

    void writeFixed64(long value) {
        bytes.writeBytes(ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array());
    }

    void writeBytes(byte[] value) {
        writeVarint(value.length);
        bytes.writeBytes(value);
    }

    byte[] toBytes() {
        return bytes.toByteArray();
    }
}
