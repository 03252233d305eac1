package io.headrace.streams;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.Dependency;
import org.apache.spark.OneToOneDependency;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.rdd.RDD;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * All that a batch of a sub-topology computes: planned once, run for every batch, by threads of its own (`BatchThreads`). Its result
 * is what `TaskRuntime` took of the rows.
 */
public final class BatchProgram extends RDD<String> {
    private static final long serialVersionUID = 1L;

    private final String task;
    private final RDD<InternalRow>[] outputs;
    private final Output[] kinds;
    private final int pieces;
    private final transient Map<Integer, BatchProgram> copies = new HashMap<>(); // by piece
    private transient ByteBuffer bytes;

    /** What becomes of the rows of an output. topic: of a store's changelog, null if it has none. */
    public record Output(String kind, String name, String topic) implements java.io.Serializable {
    }

    BatchProgram(SparkContext context, String task, RDD<InternalRow>[] outputs, Output[] kinds, int pieces) {
        super(context, dependencies(outputs), ClassTag$.MODULE$.<String>apply(String.class));
        this.task = task;
        this.outputs = outputs;
        this.kinds = kinds;
        this.pieces = pieces;
    }

    private static Seq<Dependency<?>> dependencies(RDD<InternalRow>[] outputs) {
        List<Dependency<?>> found = new ArrayList<>();
        for (RDD<InternalRow> one : outputs) {
            found.add(new OneToOneDependency<>(one));
        }
        return PythonUtils.toSeq(found);
    }

    @Override
    public Partition[] getPartitions() {
        Partition[] found = new Partition[pieces];
        for (int i = 0; i < pieces; i++) {
            found[i] = new BatchRdd.Piece(i);
        }
        return found;
    }

    @Override
    public scala.collection.Iterator<String> compute(Partition piece, TaskContext context) {
        TaskRuntime runtime = TaskRuntime.of(task);
        for (int i = 0; i < outputs.length; i++) {
            Iterator<InternalRow> rows = BatchRdd.piece(outputs[i], piece.index(), pieces, context);
            while (rows.hasNext()) {
                runtime.take(kinds[i], rows.next());
            }
        }
        return CollectionConverters.asScala(List.<String>of().iterator());
    }

    /** Compute some of the pieces. */
    void run(List<Integer> wanted, BatchThreads threads) throws Throwable {
        for (int piece : wanted) {
            if (!copies.containsKey(piece)) {
                copies.put(piece, copy());
            }
        }
        threads.run(wanted, pieces, (piece, context) -> copies.get(piece).iterator(new BatchRdd.Piece(piece), context).hasNext());
    }

    /** What one thread computes with at a time: expressions keep state while they are evaluated. */
    private BatchProgram copy() {
        SerializerInstance serializer = SparkEnv.get().closureSerializer().newInstance();
        ClassTag<BatchProgram> type = ClassTag$.MODULE$.apply(BatchProgram.class);
        if (bytes == null) {
            bytes = serializer.serialize(this, type);
        }
        return serializer.deserialize(bytes.duplicate(), BatchProgram.class.getClassLoader(), type);
    }
}
