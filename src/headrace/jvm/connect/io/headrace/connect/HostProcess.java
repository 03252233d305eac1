package io.headrace.connect;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Iterator;

/**
 * A host in a process of its own, for one connector: the worker asks it over the loopback interface.
 *
 * <p>It gets a secret on standard input, prints `port N`, and ends when its input does, which is when the worker ends. A connection
 * begins with the secret, and then has questions, one after the other: 0, a method, the bytes of a request, answered by bytes; or 1,
 * a task, from, to, origin, answered by rows (see io.headrace.RemoteRows).
 */
public final class HostProcess {
    private static final long CLOSE_MS = 3000;

    private final Host host = new Host();
    private final byte[] secret;

    private HostProcess(String secret) {
        this.secret = secret.getBytes(StandardCharsets.UTF_8);
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        HostProcess process = new HostProcess(input.readLine());
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        System.out.println("port " + server.getLocalPort());
        process.host.apply("output", new Object[0]);
        background("questions", () -> process.accept(server));
        while (input.readLine() != null) { // nothing more comes
            continue;
        }
        try {
            background("close", process.host::close).join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(0); // whatever threads plugins have left
    }

    private static Thread background(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.setContextClassLoader(Host.class.getClassLoader());
        thread.start();
        return thread;
    }

    private void accept(ServerSocket server) {
        while (true) {
            try {
                Socket socket = server.accept();
                socket.setTcpNoDelay(true);
                background("question", () -> answer(socket));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private void answer(Socket socket) {
        try (socket;
                DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
                DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), 1 << 16))) {
            if (!MessageDigest.isEqual(secret, bytes(in))) {
                return;
            }
            while (true) {
                if (in.readByte() == 0) {
                    String method = text(in);
                    put(out, ((String) host.apply("ask", new Object[] {method, text(in)})).getBytes(StandardCharsets.UTF_8));
                } else {
                    rows(out, new Object[] {text(in), in.readLong(), in.readLong(), in.readBoolean()});
                }
                out.flush();
            }
        } catch (EOFException e) { // the worker has closed it
            return;
        } catch (IOException e) { // nobody is there to hear of it
            return;
        }
    }

    private static byte[] bytes(DataInputStream in) throws IOException {
        return in.readNBytes(in.readInt());
    }

    private static String text(DataInputStream in) throws IOException {
        return new String(bytes(in), StandardCharsets.UTF_8);
    }

    private static void put(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /** Each row behind a 1, the end behind a 0, what went wrong behind a 2. */
    @SuppressWarnings("unchecked")
    private void rows(DataOutputStream out, Object[] range) throws IOException {
        try {
            Iterator<Object[]> rows = (Iterator<Object[]>) host.apply("rows", range);
            while (rows.hasNext()) {
                Object[] row = rows.next();
                out.writeByte(1);
                for (Object value : row) {
                    put(out, value);
                }
            }
            out.writeByte(0);
        } catch (RuntimeException | Error e) { // the task failed, and not this process
            out.writeByte(2);
            put(out, Failure.trace(e).getBytes(StandardCharsets.UTF_8));
        }
    }

    private static void put(DataOutputStream out, Object value) throws IOException {
        if (value == null) {
            out.writeByte(0);
        } else if (value instanceof String) {
            out.writeByte(1);
            put(out, ((String) value).getBytes(StandardCharsets.UTF_8));
        } else if (value instanceof Integer) {
            out.writeByte(2);
            out.writeInt((Integer) value);
        } else if (value instanceof Long) {
            out.writeByte(3);
            out.writeLong((Long) value);
        } else if (value instanceof byte[]) {
            out.writeByte(4);
            put(out, (byte[]) value);
        } else {
            Object[] values = (Object[]) value;
            out.writeByte(5);
            out.writeInt(values.length);
            for (Object one : values) {
                put(out, one);
            }
        }
    }
}
