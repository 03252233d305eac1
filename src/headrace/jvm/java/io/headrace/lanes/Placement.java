package io.headrace.lanes;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;

/** Which lane reads which partitions. Not thread-safe: the plane guards it. */
final class Placement {
    private static final long UNUSED_MS = 30_000;
    private final int tasks;
    private final Map<Long, LaneInfo> lanes = new LinkedHashMap<>();
    private long nextLane;

    /** A lane, and what it reads. */
    static final class LaneInfo {
        final long id;
        final int task;
        private final FeedSpec.Settings settings;
        private final Map<TopicPartition, Long> partitions = new HashMap<>(); // by feed
        private long unusedSinceMs = System.currentTimeMillis();

        LaneInfo(long id, int task, FeedSpec.Settings settings) {
            this.id = id;
            this.task = task;
            this.settings = settings;
        }
    }

    /** @param tasks how many Spark tasks drive lanes */
    Placement(int tasks) {
        this.tasks = tasks;
    }

    int size() {
        return lanes.size();
    }

    /**
     * Spread partitions over lanes with these settings, of as many Spark tasks as allowed, those first that have least to read. A lane
     * reads a partition for one feed only.
     */
    Map<LaneInfo, List<Partition>> place(long feed, FeedSpec.Settings settings, List<Partition> partitions, int mostTasks) {
        Map<LaneInfo, List<Partition>> placed = new LinkedHashMap<>();
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < tasks; i++) {
            order.add(i);
        }
        order.sort(Comparator.comparingInt(this::load));
        int width = Math.min(Math.min(mostTasks, tasks), partitions.size());
        for (int first = 0; first < width; first++) {
            List<Partition> together = new ArrayList<>();
            for (int i = first; i < partitions.size(); i += width) {
                together.add(partitions.get(i));
            }
            LaneInfo lane = lane(order.get(first), settings, together);
            together.forEach(partition -> lane.partitions.put(partition.source(), feed));
            placed.put(lane, together);
        }
        return placed;
    }

    /** One that reads none of these partitions: a feed with transactions has one producer, and must not be in two. */
    private LaneInfo lane(int task, FeedSpec.Settings settings, List<Partition> together) {
        for (LaneInfo lane : lanes.values()) {
            if (lane.task == task && lane.settings.equals(settings)
                && together.stream().noneMatch(partition -> lane.partitions.containsKey(partition.source()))) {
                return lane;
            }
        }
        LaneInfo made = new LaneInfo(++nextLane, task, settings);
        lanes.put(made.id, made);
        return made;
    }

    private int load(int task) {
        int partitions = 0;
        for (LaneInfo lane : lanes.values()) {
            partitions += lane.task == task ? lane.partitions.size() : 0;
        }
        return partitions;
    }

    /** A part of a feed reads no more. */
    void release(PlacedFeed.Part part) {
        for (Partition partition : part.spec.partitions()) {
            part.lane.partitions.remove(partition.source(), part.spec.feed());
        }
        if (part.lane.partitions.isEmpty()) {
            part.lane.unusedSinceMs = System.currentTimeMillis();
        }
    }

    /** A lane has ended by itself. */
    void dead(long lane) {
        lanes.remove(lane);
    }

    /** Take away the lanes that nothing has used for a while, and tell of each. */
    void closeUnused(Consumer<LaneInfo> close) {
        long before = System.currentTimeMillis() - UNUSED_MS;
        lanes.values().removeIf(lane -> {
            boolean unused = lane.partitions.isEmpty() && lane.unusedSinceMs < before;
            if (unused) {
                close.accept(lane);
            }
            return unused;
        });
    }
}
