package io.headrace.lanes;

/** Wakes up the one thread that waits for it; it is not lost on a thread that does not wait yet. */
final class Bell {
    private boolean rung;

    synchronized void ring() {
        rung = true;
        notifyAll();
    }

    /** Wait until it rings, at most so long. */
    synchronized void await(long ms) throws InterruptedException {
        if (!rung) {
            wait(ms);
        }
        rung = false;
    }
}
