package io.headrace.lanes;

import java.util.concurrent.atomic.AtomicLongArray;

/** Counts durations by size. */
final class Histogram {
    /** Upper bounds in ms; one more count is for what is longer. */
    static final long[] BOUNDS = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000};
    private final AtomicLongArray counts = new AtomicLongArray(BOUNDS.length + 1);

    void add(long ms) {
        int at = 0;
        while (at < BOUNDS.length && ms > BOUNDS[at]) {
            at++;
        }
        counts.incrementAndGet(at); // the threads of two producers add, where dead letters have one of their own
    }

    long[] toArray() {
        long[] all = new long[counts.length()];
        for (int i = 0; i < all.length; i++) {
            all[i] = counts.get(i);
        }
        return all;
    }
}
