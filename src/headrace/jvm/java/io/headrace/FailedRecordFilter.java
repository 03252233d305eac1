package io.headrace;

import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.CollectionAccumulator;
import org.apache.spark.util.LongAccumulator;
import scala.Option;
import scala.collection.immutable.$colon$colon;
import scala.collection.immutable.List;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * Lets the records of a Spark task through until the first one that has failed, or all that have not: in the pass that writes them,
 * so that what precedes a bad record is written exactly once. Reports of failures, and their number, go to accumulators of the
 * driver.
 */
public final class FailedRecordFilter {
    private static final ThreadLocal STATE = new ThreadLocal();
    private static final int REPORTS = 100; // of one Spark task; every failure is counted

    private FailedRecordFilter() {
    }

    /** @param report null for a good record; @param stops whether the first failure ends the task's records */
    public static boolean pass(UTF8String report, boolean stops, CollectionAccumulator reports,
        LongAccumulator failures) {
        long[] state = (long[]) STATE.get();
        TaskContext task = TaskContext.get();
        long attempt = task == null ? -1L : task.taskAttemptId();
        if (state == null || state[0] != attempt) {
            state = new long[] {attempt, 0L};
            STATE.set(state);
        }
        if (stops && state[1] > 0) {
            return false;
        }
        if (report == null) {
            return true;
        }
        state[1]++;
        failures.add(1L);
        if (state[1] <= REPORTS) {
            reports.add(report.toString());
        }
        return false;
    }

    /** The condition itself; declared non-deterministic (headrace.values.scope.filter_here). */
    public static boolean here(boolean condition) {
        return condition;
    }

    /** headrace_failed_filter(report, stops, id of the accumulator of reports, id of that of their number). */
    public static final class Builder extends AbstractFunction1 {
        public Object apply(Object arguments) {
            Seq given = (Seq) arguments;
            List none = (List) (Object) Nil$.MODULE$;
            Seq found = new $colon$colon(Accumulators.named(given.apply(2)), new $colon$colon(Accumulators.named(given.apply(3)), none));
            Seq called = new $colon$colon(given.apply(0), new $colon$colon(given.apply(1), (List) found));
            return new StaticInvoke(FailedRecordFilter.class, DataTypes.BooleanType, "pass", called, none, false, false, false,
                Option.empty());
        }
    }
}
