package io.headrace;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.AccumulatorV2;
import scala.Option;
import scala.collection.immutable.$colon$colon;
import scala.collection.immutable.List;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * Counts the records of a batch that pass, in the pass that moves them. A batch may be looked at before, in part or as a whole, and
 * a sink may read it more than once: of all Spark stages that have read it, the one that saw the most records counts.
 */
public final class Count extends AccumulatorV2 {
    private final Map stages = new HashMap(); // in the driver: stage -> records
    private int stage = -1; // of the Spark task, whose own copy this is
    private long records = 0L;

    /** One more; always true, so that it can stand in a filter. */
    public static boolean one(Count count) {
        if (count.records++ == 0L) {
            TaskContext task = TaskContext.get();
            count.stage = task == null ? -1 : task.stageId();
        }
        return true;
    }

    public boolean isZero() {
        return records == 0L && stages.isEmpty();
    }

    public AccumulatorV2 copy() {
        Count copy = new Count();
        copy.merge(this);
        return copy;
    }

    public void reset() {
        stages.clear();
        records = 0L;
    }

    public void add(Object ignored) {
        one(this);
    }

    public void merge(AccumulatorV2 other) {
        Count seen = (Count) other;
        put(seen.stage, seen.records);
        Iterator entries = seen.stages.entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry entry = (Map.Entry) entries.next();
            put(((Integer) entry.getKey()).intValue(), ((Long) entry.getValue()).longValue());
        }
    }

    private void put(int where, long more) {
        Long before = (Long) stages.get(Integer.valueOf(where));
        if (more > 0L) {
            stages.put(Integer.valueOf(where), Long.valueOf((before == null ? 0L : before.longValue()) + more));
        }
    }

    public Object value() {
        long most = records;
        Iterator values = stages.values().iterator();
        while (values.hasNext()) {
            most = Math.max(most, ((Long) values.next()).longValue());
        }
        return Long.valueOf(most);
    }

    /** headrace_count(id of a Count). */
    public static final class Builder extends AbstractFunction1 {
        public Object apply(Object arguments) {
            List none = (List) (Object) Nil$.MODULE$;
            Seq called = new $colon$colon(Accumulators.named(((Seq) arguments).apply(0)), none);
            return new StaticInvoke(Count.class, DataTypes.BooleanType, "one", called, none, false, false, false,
                Option.empty());
        }
    }
}
