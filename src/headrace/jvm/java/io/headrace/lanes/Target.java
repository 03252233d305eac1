package io.headrace.lanes;

import java.io.Serializable;

/**
 * A topic that a feed may write to.
 *
 * @param partitions how many it has
 * @param maxMessageBytes its max.message.bytes, 0 where that is not known or records get smaller on their way (compression)
 * @param keepsPartition whether the number of the source partition, or the one that the chain gives, counts; else the partitioner decides
 * @param lookedAtMs when this was so
 */
record Target(String topic, int partitions, int maxMessageBytes, boolean keepsPartition, long lookedAtMs) implements Serializable {
    private static final long OLD_MS = 30_000;

    /** Whether max.message.bytes may be another one by now. */
    boolean isOld() {
        return System.currentTimeMillis() - lookedAtMs > OLD_MS;
    }
}
