package io.headrace.lanes;

/** How long to wait for what is in flight: while acknowledgements come, up to a limit. */
final class QuietPeriod {
    private static final long QUIET_MS = 500;
    private static final long MOST_MS = 1500; // a task gives a lane two seconds for all of it (`feed_run.py`)
    private final long begunMs;
    private long fellMs;
    private long least = Long.MAX_VALUE;

    QuietPeriod(long nowMs) {
        begunMs = nowMs;
    }

    /** @param bytes that are in flight */
    boolean continues(long bytes, long nowMs) {
        if (bytes < least) {
            least = bytes;
            fellMs = nowMs;
        }
        return bytes > 0 && nowMs - fellMs < QUIET_MS && nowMs - begunMs < MOST_MS;
    }
}
