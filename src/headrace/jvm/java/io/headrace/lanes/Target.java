package io.headrace.lanes;

import java.io.Serializable;

/**
 * A topic that a feed may write to.
 *
 * @param partitions how many it has
 * @param maxMessageBytes its max.message.bytes, 0 where that is not known or records get smaller on their way (compression)
 * @param keepsPartition whether the number of the source partition, or the one that the chain gives, counts; else the partitioner decides
 */
record Target(String topic, int partitions, int maxMessageBytes, boolean keepsPartition) implements Serializable { }
