package io.headrace.hosts;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

/** The driver's side of the hosts of plugins in executors: what they need to run plugins, and what they are asked. */
public final class ExecutorHosts {
    private static final int CHUNK = 4 << 20; // Spark's RPC takes 128 MB, and answers one executor after the other
    private static final Map<String, Mailbox> EXECUTORS = new ConcurrentHashMap<>(); // by Spark's id; the newest generation of each
    private static final Map<String, String> CHAINS = new ConcurrentHashMap<>(); // definition by id
    private static final Map<String, String> LEVELS = new LinkedHashMap<>(); // questions by logger, the last one last; a lock, too
    private static volatile String[] jars; // URLs of the jars that plugins run in
    private static volatile String plugins; // as the host's method `plugins` takes it
    private static volatile String logging; // Log4j's configuration of the driver

    private ExecutorHosts() {
    }

    /** Have executors open their hosts with these jars (URLs), these plugins, and this configuration of Log4j for them. */
    public static void offer(List<String> classPath, String scan, String log4j) {
        plugins = scan;
        logging = log4j;
        jars = classPath.toArray(new String[0]);
    }

    /** Have a logger of plugins, and those below it, at a level: in all executors, and in those that come; as `level` takes it. */
    public static void level(String logger, String request) {
        synchronized (LEVELS) {
            LEVELS.remove(logger);
            LEVELS.put(logger, request);
            EXECUTORS.values().forEach(executor -> executor.tell("level", request));
        }
    }

    /** What the plugins of a chain are, by its id, as the host's method `chain.define` takes it. */
    public static void define(String id, String request) {
        CHAINS.put(id, request);
    }

    public static void close(String id) {
        CHAINS.remove(id);
        for (Mailbox executor : EXECUTORS.values()) {
            executor.tell("chain.close", "{\"id\": \"" + id + "\"}");
        }
    }

    /** Those that answer now: id with generation → machine. */
    public static Map<String, String> running() {
        Map<String, String> found = new HashMap<>();
        for (Mailbox executor : EXECUTORS.values()) {
            if (!executor.isLost()) {
                found.put(executor.id(), executor.machine);
            }
        }
        return found;
    }

    /** An answer as JSON; null if the executor is lost: it has not answered for so long that its tasks have ended by themselves. */
    public static String ask(String id, String method, String request) throws InterruptedException, ExecutionException {
        Mailbox executor = EXECUTORS.get(id.substring(0, id.lastIndexOf('#')));
        return executor == null || !executor.id().equals(id) ? null : executor.ask(method, request);
    }

    /** What an executor asks: JDK types in both directions, since Spark's RPC knows no classes of `spark.jars`. */
    static Object answer(Object[] asked) throws IOException {
        switch ((String) asked[0]) {
            case "offer":
                return jars == null ? null : new Object[] {jars, plugins, logging};
            case "size":
                return Files.size(offered((String) asked[1]));
            case "bytes":
                return bytes(offered((String) asked[1]), (Long) asked[2]);
            case "chain":
                return CHAINS.get((String) asked[1]);
            case "exchange":
                System.err.writeBytes(String.join("", (String[]) asked[6]).getBytes(StandardCharsets.UTF_8));
                return exchange((String) asked[1], (String) asked[2], (Long) asked[3], (Long) asked[4], (Object[]) asked[5]);
            default:
                throw new IllegalArgumentException(asked[0].toString());
        }
    }

    private static Object[] exchange(String executor, String machine, long generation, long heard, Object[] answers) {
        Mailbox mailbox;
        synchronized (LEVELS) { // none is set between the list and the mailbox
            mailbox = EXECUTORS.compute(executor, (id, known) -> {
                if (known != null && known.generation >= generation) {
                    return known;
                }
                if (known != null) {
                    known.lose();
                }
                Mailbox next = new Mailbox(id, machine, generation, System::nanoTime);
                LEVELS.values().forEach(request -> next.tell("level", request));
                return next;
            });
        }
        return mailbox.generation == generation ? mailbox.exchange(heard, answers) : null;
    }

    /** A file that plugins consist of; no other is given away. */
    private static Path offered(String url) throws IOException {
        boolean known = false;
        for (String jar : jars) {
            known |= jar.equals(url);
        }
        if (!known && !plugins.contains('"' + url + '"')) {
            throw new IOException(url + " is no file of a plugin");
        }
        return Path.of(URI.create(url));
    }

    private static byte[] bytes(Path file, long from) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "r")) {
            byte[] bytes = new byte[(int) Math.min(CHUNK, open.length() - from)];
            open.seek(from);
            open.readFully(bytes);
            return bytes;
        }
    }
}
