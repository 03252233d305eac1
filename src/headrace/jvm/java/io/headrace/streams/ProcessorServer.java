package io.headrace.streams;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.rocksdb.RocksDBException;

/**
 * Answers processors in Spark's Python workers, through a socket that only this user can open: rows of stores as they were before the
 * batch, and which partitions a piece has, with their stream times and schedules. What processors change comes back with their rows.
 *
 * <p>A request is a letter and what it asks for; texts and bytes have their length in front of them, -1 for none.
 */
final class ProcessorServer {
    private static final int ROWS_AT_ONCE = 1000;
    private final TaskRuntime runtime;
    private final ServerSocketChannel server;
    private final Path path;

    ProcessorServer(TaskRuntime runtime, Path path) throws IOException {
        this.runtime = runtime;
        this.path = path;
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(path));
        start(this::accept);
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "streams-processors");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                SocketChannel worker = server.accept();
                start(() -> answer(worker));
            }
        } catch (IOException e) {
            return; // closed
        }
    }

    private void answer(SocketChannel worker) {
        try (worker; DataInputStream in = new DataInputStream(new BufferedInputStream(Channels.newInputStream(worker)));
            DataOutputStream out = new DataOutputStream(new BufferedOutputStream(Channels.newOutputStream(worker)))) {
            while (true) {
                char request = (char) in.readByte();
                switch (request) {
                    case 'g' -> get(in, out);
                    case 's' -> scan(in, out);
                    case 'b' -> begin(in, out);
                    default -> throw new IOException("Unknown request " + request);
                }
                out.flush();
            }
        } catch (EOFException e) {
            return; // the worker has ended
        } catch (IOException | RocksDBException e) {
            throw new IllegalStateException("A processor could not be answered", e);
        }
    }

    /** Rows by their keys: a store, a number of keys, the keys. */
    private void get(DataInputStream in, DataOutputStream out) throws IOException, RocksDBException {
        String store = text(in);
        int count = in.readInt();
        List<byte[]> found = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            found.add(runtime.stores.get(store, RecordBytes.bytes(in)));
        }
        for (byte[] row : found) {
            RecordBytes.write(out, row);
        }
    }

    /** Some of the rows from a key on and before another one: a store, both keys, whether the last come first. */
    private void scan(DataInputStream in, DataOutputStream out) throws IOException {
        String store = text(in);
        byte[] from = RecordBytes.bytes(in);
        byte[] to = RecordBytes.bytes(in);
        boolean backwards = in.readBoolean();
        List<byte[]> found = runtime.stores.range(store, from, to, backwards, ROWS_AT_ONCE);
        out.writeInt(found.size() / 2);
        for (byte[] one : found) {
            RecordBytes.write(out, one);
        }
        out.writeBoolean(found.size() == 2 * ROWS_AT_ONCE); // there may be more
    }

    /** The partitions that a piece has, as a node knows them: the time, then of each partition its number, stream time and schedules. */
    private void begin(DataInputStream in, DataOutputStream out) throws IOException {
        String node = text(in);
        List<Integer> partitions = runtime.pieces.partitionsOf(in.readInt());
        out.writeLong(runtime.clocks().now());
        out.writeInt(partitions.size());
        for (int partition : partitions) {
            Long time = runtime.clocks().time(node, partition);
            Map<Integer, Long> dues = runtime.clocks().dues(node, partition);
            out.writeInt(partition);
            out.writeLong(time == null ? -1L : time);
            out.writeInt(dues == null ? -1 : dues.size());
            if (dues != null) {
                for (Map.Entry<Integer, Long> one : dues.entrySet()) {
                    out.writeInt(one.getKey());
                    out.writeLong(one.getValue());
                }
            }
        }
    }

    private static String text(DataInputStream in) throws IOException {
        return TaskRuntime.text(RecordBytes.bytes(in));
    }

    void close() throws IOException {
        server.close();
        Files.deleteIfExists(path);
    }
}
