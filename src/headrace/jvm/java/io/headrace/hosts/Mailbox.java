package io.headrace.hosts;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/** What the driver asks the host in one executor, in one generation of it, and what that has answered. */
final class Mailbox {
    private static final long LOST_MS = 12_000; // longer than an executor's lease (HostAgent), after which it runs no task
    final String executor;
    final String machine;
    final long generation;
    private final TreeMap<Long, Object[]> questions = new TreeMap<>(); // by number, until the executor has heard them
    private final Map<Long, CompletableFuture<String>> open = new TreeMap<>();
    private long last;
    private final LongSupplier nanos;
    private long heardNanos;
    private boolean lost;

    /** nanos: the time, as of `System.nanoTime`. */
    Mailbox(String executor, String machine, long generation, LongSupplier nanos) {
        this.executor = executor;
        this.machine = machine;
        this.generation = generation;
        this.nanos = nanos;
        this.heardNanos = nanos.getAsLong();
    }

    String id() {
        return executor + "#" + generation;
    }

    /** Have it do something whose answer nobody waits for; nothing if it is lost. */
    synchronized void tell(String method, String request) {
        if (!isLost()) {
            put(method, request);
        }
    }

    private long put(String method, String request) {
        questions.put(++last, new Object[] {last, method, request});
        return last;
    }

    /** The answer, as JSON; null if the executor is lost, and by then runs nothing any more of this generation. */
    String ask(String method, String request) throws InterruptedException, ExecutionException {
        CompletableFuture<String> answer = new CompletableFuture<>();
        long number;
        synchronized (this) {
            if (isLost()) {
                return null;
            }
            number = put(method, request);
            open.put(number, answer);
        }
        try {
            while (true) {
                try {
                    return answer.get(1, TimeUnit.SECONDS);
                } catch (TimeoutException e) {
                    isLost();
                }
            }
        } finally {
            synchronized (this) {
                open.remove(number);
            }
        }
    }

    /** Take answers (pairs of a number and JSON); returns the questions after the last one that was heard, null if it is lost. */
    synchronized Object[] exchange(long heard, Object[] answers) {
        if (isLost()) {
            return null;
        }
        heardNanos = nanos.getAsLong();
        for (Object numbered : answers) {
            CompletableFuture<String> answer = open.get(((Object[]) numbered)[0]);
            if (answer != null) {
                answer.complete((String) ((Object[]) numbered)[1]);
            }
        }
        questions.headMap(heard, true).clear();
        return questions.values().toArray();
    }

    /** Nothing of it counts any more. */
    synchronized void lose() {
        lost = true;
        questions.clear();
        open.values().forEach(answer -> answer.complete(null));
    }

    synchronized boolean isLost() {
        if (!lost && nanos.getAsLong() - heardNanos > TimeUnit.MILLISECONDS.toNanos(LOST_MS)) {
            lose();
        }
        return lost;
    }
}
