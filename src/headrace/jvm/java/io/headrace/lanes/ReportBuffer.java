package io.headrace.lanes;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What a part of a feed has to say beside its offsets and totals, until its next report. Thread-safe. */
final class ReportBuffer {
    private static final int MOST_FAILURES = 100;
    private final Set<String> everWritten = ConcurrentHashMap.newKeySet();
    private final Set<String> written = ConcurrentHashMap.newKeySet();
    private final Set<String> topics = new LinkedHashSet<>(); // guarded by this, as is what follows
    private final Set<String> needs = new LinkedHashSet<>();
    private final List<String> failures = new ArrayList<>();
    private int unnamed;
    private final List<Integer> transactions = new ArrayList<>();

    /** A record for this topic is acknowledged; returns whether it is the first. */
    boolean written(String topic) {
        if (written.contains(topic)) { // as it is for nearly every record
            return false;
        }
        written.add(topic);
        return everWritten.add(topic);
    }

    /** It waits until this topic is known. */
    synchronized void needs(String topic) {
        topics.add(topic);
    }

    /** It waits, or will soon, for a chain that knows this; returns how many such texts there are. */
    synchronized int schemas(String need) {
        needs.add(need);
        return needs.size();
    }

    /** A record failed, and was passed over; a report has the first hundred, and the number of the others. */
    synchronized void failed(String report) {
        if (failures.size() < MOST_FAILURES) {
            failures.add(report);
        } else {
            unnamed++;
        }
    }

    /** A transaction of so many records was committed. */
    synchronized void committed(int records) {
        transactions.add(records);
    }

    synchronized boolean isEmpty() {
        return written.isEmpty() && topics.isEmpty() && needs.isEmpty() && failures.isEmpty()
            && transactions.isEmpty();
    }

    /** A report with all of it, which is forgotten. */
    synchronized Report report(FeedSpec spec, String state, Report.Failure failure, List<Report.OfPartition> partitions,
        Report.Counts counts) {
        int others = unnamed;
        unnamed = 0;
        return new Report(spec.feed(), spec.part(), state, failure, partitions, counts, taken(topics), taken(needs),
            taken(failures), others, taken(written), taken(transactions));
    }

    private static <T> List<T> taken(Collection<T> from) {
        List<T> all = List.copyOf(from);
        from.removeAll(all); // what another thread has added meanwhile stays
        return all;
    }
}
