package io.headrace.streams;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Stream times of the operators of one sub-topology, task by task, and when the schedules of its processors are due. */
public final class StreamClocks {
    private final int partitions;
    private final Map<String, Map<Integer, Long>> times = new ConcurrentHashMap<>();
    private final Map<String, Map<Integer, Long>> dues = new ConcurrentHashMap<>(); // by node and partition, of each schedule
    private Long fixedTime; // of a test

    StreamClocks(int partitions) {
        this.partitions = partitions;
    }

    /** Set the stream time of a task at an operator. */
    public void set(String node, int partition, long time) {
        times.computeIfAbsent(node, name -> new ConcurrentHashMap<>()).put(partition, time);
    }

    public void clear() {
        times.clear();
    }

    Long time(String node, int partition) {
        Map<Integer, Long> found = times.get(node);
        return found == null ? null : found.get(partition);
    }

    /** Take what a batch has come to. */
    void take(BatchResult batch) {
        batch.ticks.forEach((node, ticks) -> ticks.forEach((partition, time) -> times
            .computeIfAbsent(node, name -> new ConcurrentHashMap<>()).merge(partition, time, Math::max)));
        dues.putAll(batch.dues);
    }

    /** When schedules of some nodes by the clock are due, in ms: 0 if one has not begun to work, -1: never. */
    public long due(String nodes) {
        long found = Long.MAX_VALUE;
        for (String node : nodes.split("\t")) {
            for (int partition = 0; partition < partitions; partition++) {
                Map<Integer, Long> known = dues(node, partition);
                if (known == null) {
                    return 0L;
                }
                for (Map.Entry<Integer, Long> one : known.entrySet()) {
                    found = one.getKey() < 0 ? found : Math.min(found, one.getValue());
                }
            }
        }
        return found == Long.MAX_VALUE ? -1L : found;
    }

    Map<Integer, Long> dues(String node, int partition) {
        return dues.get(node + "/" + partition);
    }

    /** The time of the clock, ms. */
    public long now() {
        return fixedTime == null ? System.currentTimeMillis() : fixedTime;
    }

    /** Let the clock stand at a time, ms. */
    public void setNow(long time) {
        fixedTime = time;
    }
}
