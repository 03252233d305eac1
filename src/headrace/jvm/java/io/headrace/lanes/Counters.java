package io.headrace.lanes;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** What a part of a feed has done since it was added. Unless it says otherwise, a field is for the lane's thread to change. */
final class Counters {
    final AtomicLong inFlight = new AtomicLong(); // bytes
    final AtomicInteger waiting = new AtomicInteger(); // records
    final AtomicLong written = new AtomicLong();
    final AtomicLong letters = new AtomicLong();
    final AtomicLong failed = new AtomicLong();
    final Histogram latency = new Histogram();
    long read;
    long dropped;
    private volatile long idleSinceMs = System.currentTimeMillis(); // or the last acknowledgement
    private long pausedMs;
    private volatile long pausedSinceMs; // 0: not paused by flow control
    private boolean quiet; // when `now` was called last; for the thread that calls it

    /** A record is handed over. */
    void sent(int bytes) {
        if (waiting.getAndIncrement() == 0) {
            idleSinceMs = System.currentTimeMillis();
        }
        inFlight.addAndGet(bytes);
    }

    /** It is acknowledged, or given up. For any thread. */
    void landed(int bytes) {
        inFlight.addAndGet(-bytes);
        waiting.decrementAndGet();
        idleSinceMs = System.currentTimeMillis();
    }

    void flowPaused(boolean now) {
        if (now && pausedSinceMs == 0) {
            pausedSinceMs = System.currentTimeMillis();
        } else if (!now && pausedSinceMs != 0) {
            pausedMs += System.currentTimeMillis() - pausedSinceMs;
            pausedSinceMs = 0;
        }
    }

    /** For any thread. */
    boolean isFlowPaused() {
        return pausedSinceMs != 0;
    }

    /** Whether nothing is in flight or paused, and {@link #now} has said so: an acknowledgement may come while it is called. */
    boolean isQuiet() {
        return quiet && waiting.get() == 0 && !isFlowPaused();
    }

    /** For one thread, whichever; totals may be a moment old. */
    Report.Counts now() {
        long now = System.currentTimeMillis();
        long since = pausedSinceMs;
        long paused = pausedMs + (since == 0 ? 0 : now - since);
        long waits = waiting.get() == 0 ? 0 : Math.max(1, now - idleSinceMs);
        quiet = waits == 0 && since == 0;
        return new Report.Counts(read, written.get(), failed.get(), letters.get(), dropped, inFlight.get(), waits, paused, since != 0,
            latency.toArray());
    }
}
