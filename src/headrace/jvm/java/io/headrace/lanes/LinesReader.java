package io.headrace.lanes;

import io.headrace.Lines;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;

/** Lines of files that grow: a partition is a file, its topic the path. A file that is not there, or cannot be read, has none (yet). */
final class LinesReader implements RecordReader {
    private static final long LOOK_MS = 100; // between two looks at files that had nothing new
    private static final int CHUNK = 128 << 10;
    private final int mostLines;
    private final Map<TopicPartition, Source> sources = new LinkedHashMap<>();
    private Refused refused; // a file that could not be read, while others had lines
    private boolean woken; // guarded by this

    private static final class Source {
        private final File file;
        private long position;
        private boolean paused;
        private long unfinished; // its length when its last line had no end

        Source(File file) {
            this.file = file;
        }
    }

    /** @param config of Kafka's FileStreamSourceConnector: `batch.size` is the most lines of a file that one poll gives */
    LinesReader(Map<String, Object> config) {
        this.mostLines = Integer.parseInt(String.valueOf(config.get("batch.size")));
    }

    @Override
    public void assign(Collection<TopicPartition> partitions) {
        sources.keySet().retainAll(partitions);
        for (TopicPartition partition : partitions) {
            sources.computeIfAbsent(partition, added -> new Source(new File(added.topic())));
        }
    }

    @Override
    public boolean isAssigned(TopicPartition partition) {
        return sources.containsKey(partition);
    }

    @Override
    public void seek(TopicPartition partition, long offset) {
        Source source = sources.get(partition);
        source.position = offset;
        source.unfinished = 0;
    }

    @Override
    public long position(TopicPartition partition) {
        return sources.get(partition).position;
    }

    @Override
    public void pause(TopicPartition partition) {
        sources.get(partition).paused = true;
    }

    @Override
    public void resume(TopicPartition partition) {
        sources.get(partition).paused = false;
    }

    @Override
    public ConsumerRecords<byte[], byte[]> poll(long timeoutMs) {
        long endMs = System.currentTimeMillis() + timeoutMs;
        while (true) {
            Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> polled = new LinkedHashMap<>();
            if (refused == null) {
                sources.forEach((partition, source) -> read(partition, source, polled));
            }
            if (refused != null && polled.isEmpty()) {
                Refused now = refused;
                refused = null;
                throw now;
            }
            long leftMs = endMs - System.currentTimeMillis();
            if (!polled.isEmpty() || leftMs <= 0 || isWoken(Math.min(leftMs, LOOK_MS))) {
                return new ConsumerRecords<>(polled, Map.of());
            }
        }
    }

    /** The lines of files that could be read are given first: their positions have moved. */
    private void read(TopicPartition partition, Source source, Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> polled) {
        try {
            List<ConsumerRecord<byte[], byte[]>> lines = source.paused ? List.of() : read(partition, source);
            if (!lines.isEmpty()) {
                polled.put(partition, lines);
            }
        } catch (Refused e) {
            refused = e;
        }
    }

    private List<ConsumerRecord<byte[], byte[]>> read(TopicPartition partition, Source source) {
        long length = source.file.length();
        long there = length == source.unfinished ? 0 : length - source.position;
        for (int size = CHUNK; there > 0; size *= 2) {
            byte[] bytes;
            try {
                bytes = bytes(source, (int) Math.min(there, Math.min(size, Lines.LONGEST)));
            } catch (NoSuchFileException | AccessDeniedException e) {
                return List.of();
            } catch (IOException e) {
                throw new Refused(List.of(partition), e);
            }
            List<ConsumerRecord<byte[], byte[]>> lines = lines(partition.topic(), source, bytes);
            if (!lines.isEmpty()) {
                return lines;
            }
            if (bytes.length >= there) {
                source.unfinished = length;
                return lines;
            }
            if (size >= Lines.LONGEST) {
                throw new Refused(List.of(partition), new IOException("The line of " + partition.topic() + " that begins at byte "
                    + source.position + " is longer than " + Lines.LONGEST + " bytes."));
            }
        }
        return List.of();
    }

    private static byte[] bytes(Source source, int size) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(size);
        try (FileChannel channel = FileChannel.open(source.file.toPath(), StandardOpenOption.READ)) {
            while (buffer.hasRemaining() && channel.read(buffer, source.position + buffer.position()) >= 0) {
                continue;
            }
        }
        return buffer.hasRemaining() ? Arrays.copyOf(buffer.array(), buffer.position()) : buffer.array();
    }

    private List<ConsumerRecord<byte[], byte[]>> lines(String path, Source source, byte[] bytes) {
        List<ConsumerRecord<byte[], byte[]>> lines = new ArrayList<>();
        long nowMs = System.currentTimeMillis();
        long base = source.position;
        source.position += Lines.each(bytes, mostLines,
            (begin, next, text) -> lines.add(new Line(path, base + begin, base + next, text, nowMs)));
        return lines;
    }

    private synchronized boolean isWoken(long timeoutMs) {
        try {
            if (!woken) {
                wait(timeoutMs);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            woken = true;
        }
        boolean now = woken;
        woken = false;
        return now;
    }

    @Override
    public synchronized void wakeup() {
        woken = true;
        notifyAll();
    }

    @Override
    public void close() {
        sources.clear();
    }
}
