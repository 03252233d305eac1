package io.headrace.streams;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Records between Python and this JVM where there is no broker (`headrace.testing.topics_in_memory`), without a query: for each topic,
 * partition, offset, time, key, value, number of headers, their names and values, and a byte. Texts and bytes have their length in front
 * of them, -1 for null.
 */
final class RecordBytes {
    private RecordBytes() {
    }

    static List<InternalRow> rows(byte[] records) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(records));
        List<InternalRow> found = new ArrayList<>();
        while (in.available() > 0) {
            UTF8String topic = UTF8String.fromBytes(bytes(in));
            Object[] row = {topic, in.readInt(), in.readLong(), in.readLong(), bytes(in), bytes(in), null};
            int count = in.readInt();
            List<byte[][]> headers = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                headers.add(new byte[][] {bytes(in), bytes(in)});
            }
            row[6] = count < 0 ? null : RecordWriter.array(headers);
            found.add(new GenericInternalRow(row));
        }
        return found;
    }

    /** Of records as `RecordWriter.send` takes them; the byte says whether one is a changelog's. */
    @SuppressWarnings("unchecked")
    static byte[] of(List<Object[]> records) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        for (Object[] record : records) {
            write(out, ((String) record[0]).getBytes());
            out.writeLong((Long) record[5]);
            write(out, (byte[]) record[2]);
            write(out, (byte[]) record[3]);
            List<byte[][]> headers = (List<byte[][]>) record[4];
            out.writeInt(headers.size());
            for (byte[][] one : headers) {
                write(out, one[0]);
                write(out, one[1]);
            }
            out.writeBoolean((Boolean) record[6]);
        }
        return bytes.toByteArray();
    }

    /** Each with its length in front of it. */
    static byte[] joined(List<byte[]> parts) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        for (byte[] part : parts) {
            write(out, part);
        }
        return bytes.toByteArray();
    }

    static byte[] bytes(DataInputStream in) throws IOException {
        int length = in.readInt();
        return length < 0 ? null : in.readNBytes(length);
    }

    static void write(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes == null ? -1 : bytes.length);
        if (bytes != null) {
            out.write(bytes);
        }
    }
}
