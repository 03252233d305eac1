package io.headrace.lanes;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads for what blocks on a cluster, a few for each: a cluster that is away holds up what waits for it, and nothing else. */
final class TargetThreads {
    private static final int MOST = 8;
    private static final long IDLE_S = 10;
    private final Map<String, ExecutorService> targets = new ConcurrentHashMap<>(); // by bootstrap servers
    private final ThreadFactory threads;

    TargetThreads(ThreadFactory threads) {
        this.threads = threads;
    }

    /** Threads for the cluster that a producer with these settings writes to. */
    ExecutorService of(Map<String, String> producer) {
        return targets.computeIfAbsent(producer.getOrDefault("bootstrap.servers", ""), added -> {
            ThreadPoolExecutor made = new ThreadPoolExecutor(MOST, MOST, IDLE_S, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
            made.allowCoreThreadTimeOut(true);
            return made;
        });
    }

    /** End all of them; what they do is interrupted. */
    void end() {
        targets.values().forEach(ExecutorService::shutdownNow);
    }
}
