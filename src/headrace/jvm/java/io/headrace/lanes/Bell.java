package io.headrace.lanes;

/** Wakes a thread when there is something to do, also if that comes while the thread is at work. */
final class Bell {
    private long rings; // guarded by this

    synchronized void ring() {
        rings++;
        notifyAll();
    }

    /**
     * Wait until it rings, at most so long; returns at once if it has rung since.
     *
     * @param heard what the last call has returned; 0 at first
     */
    synchronized long await(long heard, long ms) throws InterruptedException {
        if (rings == heard) {
            wait(ms);
        }
        return rings;
    }
}
