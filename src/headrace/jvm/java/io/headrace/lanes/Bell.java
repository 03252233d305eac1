package io.headrace.lanes;

/** Wakes up the one thread that waits for it: at once if it rang before. */
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
