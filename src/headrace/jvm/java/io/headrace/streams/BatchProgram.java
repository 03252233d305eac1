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
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.util.Utils;
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
    // Of fewer records: Spark writes the code of a projection for every task, to look up what it has compiled. That takes longer
    // than to compute so few rows without.
    private static final long WORTH_CODE = 500L;

    private final String task;
    private final RDD<InternalRow>[] outputs;
    private final Output[] kinds;
    private final int pieces;
    private final transient Map<Integer, BatchProgram> copies = new HashMap<>(); // by piece
    private final transient SQLConf settings;
    private final transient SQLConf uncompiled;
    private transient ByteBuffer bytes;

    /** What becomes of the rows of an output. topic: of a store's changelog, null if it has none. */
    public record Output(String kind, String name, String topic) implements java.io.Serializable {
    }

    BatchProgram(SparkContext context, SQLConf settings, String task, RDD<InternalRow>[] outputs, Output[] kinds, int pieces) {
        super(context, dependencies(outputs), ClassTag$.MODULE$.<String>apply(String.class));
        this.task = task;
        this.outputs = outputs;
        this.kinds = kinds;
        this.pieces = pieces;
        this.settings = settings.clone();
        this.uncompiled = settings.clone();
        uncompiled.setConfString(SQLConf.CODEGEN_FACTORY_MODE().key(), "NO_CODEGEN");
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

    /** Compute some of the pieces of a batch that has so many records. */
    void run(List<Integer> wanted, long records, BatchThreads threads) throws Throwable {
        SQLConf conf = records < WORTH_CODE ? uncompiled : settings;
        for (int piece : wanted) {
            if (!copies.containsKey(piece)) {
                copies.put(piece, copy());
            }
        }
        threads.run(wanted, pieces, (piece, context) -> SQLConf.withExistingConf(conf,
            () -> copies.get(piece).iterator(new BatchRdd.Piece(piece), context).hasNext()));
    }

    /** What one thread computes with at a time: expressions keep state while they are evaluated. */
    private BatchProgram copy() {
        SerializerInstance serializer = SparkEnv.get().closureSerializer().newInstance();
        ClassTag<BatchProgram> type = ClassTag$.MODULE$.apply(BatchProgram.class);
        if (bytes == null) {
            bytes = serializer.serialize(this, type);
        }
        return serializer.deserialize(bytes.duplicate(), Utils.getContextOrSparkClassLoader(), type);
    }
}
