package io.headrace;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.NoSuchElementException;

/** Rows of a source task whose host is another process of this machine, as `io.headrace.connect.HostProcess` writes them. */
final class RemoteRows implements Iterator, Closeable {
    private static final int COLUMNS = 9;
    private final Socket socket;
    private final DataInputStream in;
    private Object[] next;

    RemoteRows(int port, String secret, String task, long from, long to, boolean origin) {
        try {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 16));
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            text(out, secret);
            out.writeByte(1);
            text(out, task);
            out.writeLong(from);
            out.writeLong(to);
            out.writeBoolean(origin);
            out.flush();
            advance();
        } catch (IOException e) {
            throw new UncheckedIOException("The process that runs task " + task + " does not answer", e);
        }
    }

    private static void text(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private void advance() {
        try {
            byte what = in.readByte();
            if (what == 2) {
                throw new IllegalStateException(new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8));
            }
            next = what == 0 ? null : new Object[COLUMNS];
            for (int i = 0; next != null && i < COLUMNS; i++) {
                next[i] = value();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The process that runs the task has ended", e);
        }
    }

    private Object value() throws IOException {
        switch (in.readByte()) {
            case 0:
                return null;
            case 1:
                return new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
            case 2:
                return Integer.valueOf(in.readInt());
            case 3:
                return Long.valueOf(in.readLong());
            case 4:
                return in.readNBytes(in.readInt());
            default:
                Object[] values = new Object[in.readInt()];
                for (int i = 0; i < values.length; i++) {
                    values[i] = value();
                }
                return values;
        }
    }

    public boolean hasNext() {
        return next != null;
    }

    public Object next() {
        if (next == null) {
            throw new NoSuchElementException();
        }
        Object[] row = next;
        advance();
        return row;
    }

    public void close() throws IOException {
        socket.close();
    }
}
