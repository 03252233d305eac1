package io.headrace.lanes;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/** Appends values to a file, or the standard output, a line each; a record is acknowledged once its line is there. */
final class LinesWriter {
    private static final int ENOUGH = 1 << 20;
    private static final Map<String, Object> LOCKS = new ConcurrentHashMap<>(); // lines of several parts never mix
    private final String path;
    private final WritableByteChannel channel;
    private final ByteArrayOutputStream lines = new ByteArrayOutputStream();
    private final List<Runnable> acknowledgements = new ArrayList<>();
    private IOException failure; // of the last write

    /** @param path empty: the standard output. @throws IOException in the words of Kafka's FileStreamSinkTask */
    LinesWriter(String path) throws IOException {
        this.path = path;
        try {
            this.channel = path.isEmpty() ? Channels.newChannel(System.out)
                : FileChannel.open(Path.of(path), StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new IOException("Couldn't find or create file '" + path + "' for FileStreamSinkTask", e);
        }
    }

    /** Take a record; {@code done} hears of it at the next {@link #flush}. */
    void send(ProducerRecord<byte[], byte[]> record, Callback done) {
        lines.writeBytes(record.value());
        lines.write('\n');
        RecordMetadata nowhere = new RecordMetadata(new TopicPartition(record.topic(), 0), -1, 0, -1, -1, -1);
        acknowledgements.add(() -> done.onCompletion(nowhere, failure));
    }

    /** Whether it is time to flush. */
    boolean isFull() {
        return lines.size() >= ENOUGH;
    }

    /** Write what was taken. */
    void flush() {
        if (acknowledgements.isEmpty()) {
            return;
        }
        failure = null;
        synchronized (LOCKS.computeIfAbsent(path, added -> new Object())) {
            try {
                for (ByteBuffer left = ByteBuffer.wrap(lines.toByteArray()); left.hasRemaining();) {
                    channel.write(left);
                }
                if (path.isEmpty()) {
                    System.out.flush();
                }
            } catch (IOException e) {
                failure = new IOException("Couldn't write to " + (path.isEmpty() ? "the standard output" : "file '" + path + "'") + ": "
                    + e.getMessage(), e);
            }
        }
        lines.reset();
        List<Runnable> written = List.copyOf(acknowledgements);
        acknowledgements.clear();
        written.forEach(Runnable::run);
    }

    void close() {
        try {
            if (!path.isEmpty()) {
                channel.close();
            }
        } catch (IOException e) {
            org.slf4j.LoggerFactory.getLogger(LinesWriter.class).debug("What is written has been acknowledged before", e);
        }
    }
}
