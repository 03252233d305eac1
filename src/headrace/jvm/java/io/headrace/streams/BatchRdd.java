package io.headrace.streams;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * Rows that differ from batch to batch, for plans that stay the same: a job over such an RDD takes what its task has for it now.
 * Piece `i` has the rows of all partitions of Kafka for which Spark's hash says `i`, so that no plan has to move them.
 */
public final class BatchRdd extends RDD<InternalRow> {
    private static final long serialVersionUID = 1L;

    private final String task;
    private final String name;
    private final int pieces;
    private final boolean computed;
    private boolean shared; // whether its rows are kept for several readers

    /** Where rows come from. */
    BatchRdd(SparkContext context, String task, String name, int pieces) {
        super(context, PythonUtils.toSeq(List.<org.apache.spark.Dependency<?>>of()),
            ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class));
        this.task = task;
        this.name = name;
        this.pieces = pieces;
        this.computed = false;
    }

    /** What is computed once in a batch, whoever reads it. */
    BatchRdd(RDD<InternalRow> parent, String task, String name, int pieces) {
        super(parent, ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class));
        this.task = task;
        this.name = name;
        this.pieces = pieces;
        this.computed = true;
        this.shared = true;
    }

    /** Keep the rows of every source of some RDDs that is read more than once in a batch. */
    static void share(List<RDD<?>> outputs) {
        Map<RDD<?>, Integer> readers = new IdentityHashMap<>();
        Deque<RDD<?>> left = new ArrayDeque<>(outputs);
        while (!left.isEmpty()) {
            RDD<?> one = left.pop();
            int known = readers.merge(one, 1, Integer::sum);
            if (one instanceof BatchRdd && !((BatchRdd) one).name.startsWith(TaskRuntime.STORE)) {
                ((BatchRdd) one).shared |= known > 1;
            }
            if (known == 1 || !(one instanceof BatchRdd)) {
                CollectionConverters.asJava(one.dependencies()).forEach(parent -> left.push(parent.rdd()));
            }
        }
    }

    @Override
    public Partition[] getPartitions() {
        Partition[] found = new Partition[pieces];
        for (int i = 0; i < pieces; i++) {
            found[i] = new Piece(i);
        }
        return found;
    }

    @Override
    public scala.collection.Iterator<InternalRow> compute(Partition piece, TaskContext context) {
        TaskRuntime runtime = TaskRuntime.of(task);
        if (!shared) {
            return CollectionConverters.asScala(runtime.rows(name, piece.index(), context));
        }
        List<InternalRow> rows = runtime.kept(name, piece.index());
        if (rows == null) {
            rows = new ArrayList<>();
            Iterator<InternalRow> given = computed ? parentRows(piece.index(), context) : runtime.rows(name, piece.index(), context);
            while (given.hasNext()) {
                rows.add(given.next().copy());
            }
            runtime.keep(name, piece.index(), rows);
        }
        return CollectionConverters.asScala(rows.iterator());
    }

    private Iterator<InternalRow> parentRows(int piece, TaskContext context) {
        return piece(this.<InternalRow>firstParent(elementClassTag()), piece, pieces, context);
    }

    /** The rows of a piece. A union whose sides say in different words how they are laid out has the pieces of each, one after the other. */
    static Iterator<InternalRow> piece(RDD<InternalRow> rows, int piece, int pieces, TaskContext context) {
        Partition[] all = rows.partitions();
        if (all.length % pieces != 0) {
            throw new IllegalStateException("A plan moves rows between partitions: " + rows.toDebugString());
        }
        if (all.length == 0) { // of a filter that is never true Spark plans no more than that nothing comes
            return Collections.emptyIterator();
        }
        return new Iterator<InternalRow>() { // Spark's rows are reused: none may be fetched before the one before it was used
            private int at = piece;
            private Iterator<InternalRow> now = rows(at);

            private Iterator<InternalRow> rows(int index) {
                return CollectionConverters.asJava(rows.iterator(all[index], context));
            }

            @Override
            public boolean hasNext() {
                while (!now.hasNext()) {
                    at += pieces;
                    if (at >= all.length) {
                        return false;
                    }
                    now = rows(at);
                }
                return true;
            }

            @Override
            public InternalRow next() {
                return now.next();
            }
        };
    }

    /** One piece. */
    static final class Piece implements Partition {
        private static final long serialVersionUID = 1L;
        private final int index;

        Piece(int index) {
            this.index = index;
        }

        @Override
        public int index() {
            return index;
        }

        @Override
        public int hashCode() {
            return index;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Piece && ((Piece) other).index == index;
        }
    }
}
