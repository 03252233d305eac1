package io.headrace;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Avro's binary form. */
final class AvroOutput {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);

    void writeBoolean(boolean value) {
        bytes.write(value ? 1 : 0);
    }

    void writeLong(long value) {
        long rest = (value << 1) ^ (value >> 63);
        while ((rest & ~0x7fL) != 0) {
            bytes.write((int) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        bytes.write((int) rest);
    }

    void writeFloat(float value) {
        writeFixed(ByteBuffer.allocate(Float.BYTES).order(ByteOrder.LITTLE_ENDIAN).putFloat(value).array());
    }

    void writeDouble(double value) {
        writeFixed(ByteBuffer.allocate(Double.BYTES).order(ByteOrder.LITTLE_ENDIAN).putDouble(value).array());
    }

    void writeBytes(byte[] value) {
        writeLong(value.length);
        writeFixed(value);
    }

    void writeFixed(byte[] value) {
        bytes.write(value, 0, value.length);
    }

    byte[] toBytes() {
        return bytes.toByteArray();
    }
}
