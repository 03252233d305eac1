package io.headrace;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.AccumulatorV2;
import scala.Option;
import scala.collection.immutable.$colon$colon;
import scala.collection.immutable.List;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * Records, bytes and timestamps of a batch by source partition, gathered in the pass that moves the records. As with Count, a batch may be
 * read more than once: of all Spark stages that have read it, the one that saw the most records counts.
 */
public final class Seen extends AccumulatorV2 {
    private static final int RECORDS = 0;
    private static final int BYTES = 1;
    private static final int OLDEST = 2;
    private static final int NEWEST = 3;
    private static final int SUM = 4;
    private final Map stages = new HashMap(); // stage -> (topic, a tab, partition) -> the five numbers above
    private UTF8String topic; // of the record before: a Spark task reads one partition after the other
    private int partition = -1;
    private long[] numbers;

    /** One more record; always true, so that it can stand in a filter. */
    public static boolean record(Seen seen, UTF8String topic, int partition, long millis, int bytes) {
        if (seen.numbers == null || seen.partition != partition || !topic.equals(seen.topic)) {
            TaskContext task = TaskContext.get();
            seen.numbers = seen.of(Integer.valueOf(task == null ? -1 : task.stageId()), topic.toString() + "\t" + partition);
            seen.topic = topic.copy();
            seen.partition = partition;
        }
        add(seen.numbers, 1L, bytes, millis, millis, millis);
        return true;
    }

    private static void add(long[] to, long records, long bytes, long oldest, long newest, long sum) {
        to[OLDEST] = to[RECORDS] == 0L ? oldest : Math.min(to[OLDEST], oldest);
        to[NEWEST] = to[RECORDS] == 0L ? newest : Math.max(to[NEWEST], newest);
        to[RECORDS] += records;
        to[BYTES] += bytes;
        to[SUM] += sum;
    }

    private long[] of(Integer stage, String key) {
        Map partitions = (Map) stages.get(stage);
        if (partitions == null) {
            partitions = new HashMap();
            stages.put(stage, partitions);
        }
        long[] found = (long[]) partitions.get(key);
        if (found == null) {
            found = new long[5];
            partitions.put(key, found);
        }
        return found;
    }

    public boolean isZero() {
        return stages.isEmpty();
    }

    public AccumulatorV2 copy() {
        Seen copy = new Seen();
        copy.merge(this);
        return copy;
    }

    public void reset() {
        stages.clear();
        numbers = null;
    }

    public void add(Object ignored) {
        throw new UnsupportedOperationException("see record");
    }

    public void merge(AccumulatorV2 other) {
        Iterator all = ((Seen) other).stages.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry stage = (Map.Entry) all.next();
            Iterator partitions = ((Map) stage.getValue()).entrySet().iterator();
            while (partitions.hasNext()) {
                Map.Entry one = (Map.Entry) partitions.next();
                long[] n = (long[]) one.getValue();
                if (n[RECORDS] > 0L) {
                    add(of((Integer) stage.getKey(), (String) one.getKey()), n[RECORDS], n[BYTES], n[OLDEST], n[NEWEST], n[SUM]);
                }
            }
        }
    }

    /** A line for each partition, of the stage with the most records: topic, partition and the five numbers, with tabs between. */
    public Object value() {
        long most = 0L;
        StringBuilder chosen = new StringBuilder();
        Iterator all = stages.values().iterator();
        while (all.hasNext()) {
            long records = 0L;
            StringBuilder lines = new StringBuilder();
            Iterator partitions = ((Map) all.next()).entrySet().iterator();
            while (partitions.hasNext()) {
                Map.Entry one = (Map.Entry) partitions.next();
                long[] n = (long[]) one.getValue();
                records += n[RECORDS];
                lines.append((String) one.getKey());
                for (int i = 0; i < n.length; i++) {
                    lines.append('\t').append(n[i]);
                }
                lines.append('\n');
            }
            if (records > most) {
                most = records;
                chosen = lines;
            }
        }
        return chosen.toString();
    }

    /** headrace_seen(id of a Seen, topic, partition, timestamp in ms, bytes). */
    public static final class Builder extends AbstractFunction1 {
        public Object apply(Object given) {
            Seq arguments = (Seq) given;
            List none = (List) (Object) Nil$.MODULE$;
            List called = none;
            for (int i = 4; i > 0; i--) {
                called = new $colon$colon(arguments.apply(i), called);
            }
            Seq all = new $colon$colon(Accumulators.named(arguments.apply(0)), called);
            return new StaticInvoke(Seen.class, DataTypes.BooleanType, "record", all, none, false, false, false, Option.empty());
        }
    }
}
