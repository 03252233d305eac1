package io.headrace.lanes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/** A feed as the driver knows it: which lanes have its parts, and what these have reported since Python heard of it last. */
final class PlacedFeed {
    final List<Part> parts = new ArrayList<>();
    boolean removing;
    final Set<String> topics = new HashSet<>();
    final Set<String> needs = new LinkedHashSet<>(); // in the order of the records, in which schemas are registered
    final List<String> failures = new ArrayList<>();
    int unnamed; // further failures
    final Set<String> written = new HashSet<>();
    final List<Integer> transactions = new ArrayList<>();
    final Map<TopicPartition, Report.OfPartition> partitions = new LinkedHashMap<>(); // that have changed
    private final Set<String> everWritten = new HashSet<>();

    /** A part, and the lane that has it. */
    static final class Part {
        FeedSpec spec;
        final Placement.LaneInfo lane;
        String state = "RUNNING";
        Report.Failure failure;
        Report.Counts counts;
        private Report.Counts earlier; // of the attempts before
        private final Map<TopicPartition, Report.OfPartition> reached = new HashMap<>(); // where its next attempt begins
        private final Map<TopicPartition, Report.OfPartition> reachedEarlier = new HashMap<>(); // by the attempts before

        Part(FeedSpec spec, Placement.LaneInfo lane) {
            this.spec = spec;
            this.lane = lane;
        }

        boolean isRunning() {
            return state.equals("RUNNING");
        }

        /** The specification for its next attempt: all it has learned, with the offsets it has reached. Its totals continue. */
        FeedSpec again() {
            earlier = counts;
            reachedEarlier.putAll(reached);
            List<Partition> partitions = new ArrayList<>();
            for (Partition partition : spec.partitions()) {
                Report.OfPartition last = reached.get(partition.source());
                partitions.add(last == null ? partition : partition.at(last.next()));
            }
            return spec.with(spec.part(), partitions);
        }
    }

    /** Takes a report of one of its parts; returns whether Python should hear of it at once. */
    boolean take(Report report) {
        Part part = parts.get(report.part());
        part.counts = part.earlier == null ? report.counts() : part.earlier.then(report.counts());
        for (Report.OfPartition partition : report.partitions()) {
            TopicPartition source = new TopicPartition(partition.topic(), partition.partition());
            Report.OfPartition total = partition.behind(part.reachedEarlier.get(source));
            part.reached.put(source, total);
            partitions.merge(source, total, Report.OfPartition::then);
        }
        topics.addAll(report.topics());
        needs.addAll(report.needs());
        failures.addAll(report.failures());
        unnamed += report.unnamed();
        written.addAll(report.written());
        transactions.addAll(report.transactions());
        part.state = report.state();
        part.failure = report.failure();
        boolean first = everWritten.addAll(report.written());
        return first || !part.isRunning() || !topics.isEmpty() || !needs.isEmpty();
    }

    /** Whether nothing of it runs any more. */
    boolean isEnded() {
        return parts.stream().noneMatch(Part::isRunning);
    }

    /** Python has heard of all this. */
    void heard() {
        partitions.clear();
        topics.clear();
        needs.clear();
        failures.clear();
        unnamed = 0;
        written.clear();
        transactions.clear();
    }
}
