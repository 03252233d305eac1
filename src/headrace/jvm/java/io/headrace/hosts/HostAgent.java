package io.headrace.hosts;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.headrace.ConnectHost;
import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.apache.spark.SparkContext$;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.util.Utils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The host of plugins in an executor, as the driver asks it; opened at its first use.
 *
 * <p>Its tasks live by a lease: without an answer of the driver's they end, before the driver starts them in another executor. What
 * comes after is another generation, with none of the tasks of the one before.
 */
public final class HostAgent {
    private static final Logger LOG = LoggerFactory.getLogger(HostAgent.class);
    private static final long LEASE_MS = 7_000; // less than what the driver waits for (Mailbox)
    private static final long BUSY_MS = 100; // between two questions to the driver
    private static final long IDLE_MS = 1_000;
    private static volatile HostAgent agent; // null in the driver
    private final PluginContext driver;
    private final HostFiles files;
    private final PluginLines lines;
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> daemon("plugin-question", work));
    private final Set<String> chains = ConcurrentHashMap.newKeySet();
    private final Map<String, Object> defining = new ConcurrentHashMap<>(); // locks by chain
    private final List<Object[]> answers = new ArrayList<>();
    private boolean open;
    private long generation = 1;
    private long heard;
    private long answeredNanos = System.nanoTime();
    private long askedNanos = System.nanoTime();

    private HostAgent(PluginContext driver) {
        this.driver = driver;
        this.files = new HostFiles(driver);
        this.lines = new PluginLines(driver.executorID());
    }

    static void start(PluginContext driver) {
        if (SparkContext$.MODULE$.DRIVER_IDENTIFIER().equals(driver.executorID())) {
            return; // tasks run in the driver itself
        }
        agent = new HostAgent(driver);
        daemon("plugin-questions", agent::follow).start();
        daemon("plugin-lease", agent::watch).start();
    }

    private static Thread daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    /** What the plugins of a chain make of a record, in the driver or in an executor. */
    public static Object chain(String id, Object[] parts) {
        HostAgent here = agent;
        if (here != null && !here.chains.contains(id)) {
            here.define(id);
        }
        return ConnectHost.call("chain", new Object[] {id, parts});
    }

    /** One chain at a time, and no other chain waits for it: a plugin may not return when it is configured. */
    private void define(String id) {
        synchronized (defining.computeIfAbsent(id, given -> new Object())) {
            if (!chains.contains(id)) {
                defined(id);
            }
        }
    }

    private void defined(String id) {
        try {
            open();
            String request = (String) driver.ask(new Object[] {"chain", id});
            if (request == null) {
                throw new IllegalStateException("The plugins " + id + " of a chain are closed");
            }
            ConnectHost.call("define", new Object[] {request});
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("The plugins of a chain could not be fetched from the driver", e);
        }
        chains.add(id);
    }

    private synchronized void open() throws Exception {
        if (open) {
            return;
        }
        Object[] offered = (Object[]) driver.ask(new Object[] {"offer"});
        if (offered == null) {
            throw new IllegalStateException("The worker has no plugin.path");
        }
        List<String> jars = new ArrayList<>();
        for (String jar : (String[]) offered[0]) {
            jars.add(Path.of(URI.create(files.url(jar))).toString());
        }
        ConnectHost.open(String.join(File.pathSeparator, jars));
        lines.follow(ConnectHost.loader(), (String) offered[2]);
        PluginThreads.follow(ConnectHost.loader());
        ConnectHost.call("files", new Object[] {(UnaryOperator<String>) files::url});
        ConnectHost.ask("plugins", (String) offered[1]);
        open = true;
        LOG.info("The host of plugins is open in executor {}", driver.executorID());
    }

    /** Asks the driver for questions, as long as this process lives. */
    private void follow() {
        while (true) {
            try {
                exchange();
            } catch (RuntimeException e) { // Spark ends an executor in which a thread dies of one
                LOG.error("The driver's questions to plugins cannot be taken", e);
            }
            synchronized (answers) {
                boolean busy = System.nanoTime() - askedNanos < TimeUnit.SECONDS.toNanos(10);
                try {
                    if (answers.isEmpty()) {
                        answers.wait(busy ? BUSY_MS : IDLE_MS);
                    }
                } catch (InterruptedException e) {
                    return;
                }
            }
        }
    }

    private void exchange() {
        long now;
        long sent = System.nanoTime();
        List<Object[]> given;
        Object[] asked;
        String[] logged = lines.waiting();
        synchronized (answers) {
            now = generation;
            given = new ArrayList<>(answers);
            asked = new Object[] {"exchange", driver.executorID(), Utils.localHostName(), now, heard, given.toArray(), logged};
        }
        Object[] questions;
        try {
            questions = (Object[]) driver.ask(asked);
        } catch (Exception e) { // the answers, and what was logged, go with the next one
            LOG.debug("The driver does not answer", e);
            return;
        }
        lines.sent(logged.length);
        if (questions == null) {
            lapse(now, "the driver has given it up");
            return;
        }
        synchronized (answers) {
            if (generation != now) {
                return;
            }
            answeredNanos = sent;
            answers.removeAll(given);
            for (Object question : questions) {
                take((Object[]) question);
            }
        }
    }

    private void take(Object[] question) {
        long number = (Long) question[0];
        if (number > heard) {
            heard = number;
            if (question[1].equals("chain.close") && !ConnectHost.isOpen()) {
                return;
            }
            if (!question[1].equals("event")) { // which is always asked
                askedNanos = System.nanoTime();
            }
            long now = generation;
            threads.execute(() -> answer(now, number, (String) question[1], (String) question[2]));
        }
    }

    private void answer(long asked, long number, String method, String request) {
        String answer;
        try {
            if (method.equals("chain.close")) {
                chains.removeIf(request::contains);
                defining.keySet().removeIf(request::contains);
            }
            open();
            answer = ConnectHost.ask(method, request);
        } catch (Throwable e) { // whatever it is, somebody waits for the answer
            LOG.error("The host of plugins cannot answer", e);
            answer = failure(e);
        }
        synchronized (answers) {
            if (generation == asked) {
                answers.add(new Object[] {number, answer});
                answers.notifyAll();
            } else if (method.equals("hosted.start")) { // of a generation that ended while it started
                ConnectHost.ask("hosted.abandon", request);
            }
        }
    }

    private static String failure(Throwable error) {
        StringWriter trace = new StringWriter();
        error.printStackTrace(new PrintWriter(trace));
        Map<String, String> failure = Map.of("class", error.getClass().getName(), "message", String.valueOf(error.getMessage()),
            "trace", trace.toString());
        try {
            return new ObjectMapper().writeValueAsString(Map.of("error", failure));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Ends the tasks when the driver has not answered for too long: an exchange that hangs must not hold that up. */
    private void watch() {
        try {
            while (true) {
                Thread.sleep(1_000);
                long now;
                boolean over;
                synchronized (answers) {
                    now = generation;
                    over = System.nanoTime() - answeredNanos > TimeUnit.MILLISECONDS.toNanos(LEASE_MS);
                }
                if (over) {
                    lapse(now, "the driver has not answered for " + LEASE_MS + " ms");
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void lapse(long ended, String why) {
        synchronized (answers) {
            if (generation != ended) {
                return;
            }
            if (ConnectHost.isOpen()) {
                LOG.warn("Tasks of plugins in executor {} end: {}", driver.executorID(), why);
                ConnectHost.ask("hosted.abandon", "{}");
            }
            generation++; // not before: the driver starts tasks in the next one
            heard = 0;
            answers.clear();
            answeredNanos = System.nanoTime();
        }
    }
}
