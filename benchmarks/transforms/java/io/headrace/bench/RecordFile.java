package io.headrace.bench;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/**
 * Records in memory, outside the heap: lines of topic, partition, offset, timestamp, key and value (in base64) with tabs between them.
 *
 * <p>Keys and values are copied out, one new array each, as the deserializer of a Kafka consumer does it.
 */
final class RecordFile {
    private final MappedByteBuffer bytes;
    private final ByteBuffer decoded; // the values
    private final int size;
    private final List names = new ArrayList();
    private byte[] topics = new byte[1024];
    private int[] partitions = new int[1024];
    private int[] offsets = new int[1024];
    private long[] timestamps = new long[1024];
    private int[] keys = new int[1024]; // where the key begins and ends, then the value
    private int[] keyEnds = new int[1024];
    private int[] values = new int[1024];
    private int[] ends = new int[1024];

    RecordFile(String path) throws IOException {
        RandomAccessFile file = new RandomAccessFile(path, "r");
        try {
            bytes = file.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, file.length());
        } finally {
            file.close();
        }
        bytes.load();
        decoded = ByteBuffer.allocateDirect(bytes.limit());
        int count = 0;
        int at = 0;
        while (at < bytes.limit()) {
            if (count == topics.length) {
                grow();
            }
            int partition = after(at, '\t');
            int offset = after(partition, '\t');
            int timestamp = after(offset, '\t');
            keys[count] = after(timestamp, '\t');
            int value = after(keys[count], '\t');
            keyEnds[count] = value - 1;
            int next = after(value, '\n');
            values[count] = decoded.position();
            decoded.put(Base64.getDecoder().decode(copy(bytes, value, next - 1)));
            ends[count] = decoded.position();
            String topic = text(at, partition);
            if (!names.contains(topic)) {
                names.add(topic);
            }
            topics[count] = (byte) names.indexOf(topic);
            partitions[count] = Integer.parseInt(text(partition, offset));
            offsets[count] = Integer.parseInt(text(offset, timestamp));
            timestamps[count] = Long.parseLong(text(timestamp, keys[count]));
            at = next;
            count++;
        }
        size = count;
    }

    int size() {
        return size;
    }

    String topic(int record) {
        return (String) names.get(topics[record]);
    }

    int partition(int record) {
        return partitions[record];
    }

    int offset(int record) {
        return offsets[record];
    }

    long timestamp(int record) {
        return timestamps[record];
    }

    byte[] key(int record) {
        return copy(bytes, keys[record], keyEnds[record]);
    }

    byte[] value(int record) {
        return copy(decoded, values[record], ends[record]);
    }

    private int after(int from, char end) {
        int at = from;
        while (bytes.get(at) != (byte) end) {
            at++;
        }
        return at + 1;
    }

    private String text(int from, int next) {
        return new String(copy(bytes, from, next - 1), StandardCharsets.US_ASCII);
    }

    private static byte[] copy(ByteBuffer buffer, int from, int to) {
        byte[] copy = new byte[to - from];
        buffer.get(from, copy);
        return copy;
    }

    private void grow() {
        int length = topics.length * 2;
        topics = Arrays.copyOf(topics, length);
        partitions = Arrays.copyOf(partitions, length);
        offsets = Arrays.copyOf(offsets, length);
        timestamps = Arrays.copyOf(timestamps, length);
        keys = Arrays.copyOf(keys, length);
        keyEnds = Arrays.copyOf(keyEnds, length);
        values = Arrays.copyOf(values, length);
        ends = Arrays.copyOf(ends, length);
    }
}
