package io.headrace.lanes;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeAndComment;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.RDDScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.Utils;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What a feed does with each record: the projections and filters of a DataFrame over a lane's columns, as Spark plans and compiles them.
 * Serializable: it is made in the driver, and opened once for each lane that uses it ({@link Chain}).
 */
public final class ChainPlan implements Serializable {
    private static final StructType HEADER = new StructType().add("key", DataTypes.StringType).add("value", DataTypes.BinaryType);

    /** The columns of a lane's records, in the order of {@link Chain#apply}'s input. */
    static final StructType COLUMNS = new StructType()
        .add("key", DataTypes.BinaryType)
        .add("value", DataTypes.BinaryType)
        .add("topic", DataTypes.StringType, false)
        .add("partition", DataTypes.IntegerType, false)
        .add("offset", DataTypes.LongType, false)
        .add("timestamp", DataTypes.TimestampType)
        .add("headers", DataTypes.createArrayType(HEADER))
        .add("destination", DataTypes.StringType, false);

    /** Code that Java does not take: to find that out takes seconds, for each lane and each new text of the plan. */
    private static final Set<Long> TOO_LONG = ConcurrentHashMap.newKeySet();

    private final byte[] compiled; // of one Java class that does everything (whole-stage code): Compiled; null: see steps
    private final byte[] steps; // List of Step: what is left where Java allows no such class (more than 64 KB in a method)

    /** Code for the whole chain, and the objects that it refers to. */
    record Compiled(String code, Object[] references) implements Serializable {
        /** Equal for equal code, whatever it refers to. */
        long key() {
            return (long) code.length() << 32 | code.hashCode() & 0xffffffffL;
        }
    }

    /** A projection, or a filter (one expression). */
    record Step(boolean filters, Seq<Expression> expressions, Seq<Attribute> input) implements Serializable { }

    /**
     * What `compiled` was made of, in the driver only. Spark's metrics among its references know the driver by how often they were
     * sent, and are dropped once nobody holds them; so a changed plan is made of this one, never of bytes.
     */
    private final transient Compiled original;

    private ChainPlan(Compiled original, byte[] steps) {
        this.original = original;
        this.compiled = original == null ? null : serialize(original);
        this.steps = steps;
    }

    /** An empty DataFrame with a lane's columns, for a chain to be built upon. */
    public static Dataset<Row> columns(SparkSession spark) {
        JavaSparkContext context = new JavaSparkContext(spark.sparkContext());
        return spark.createDataFrame(context.<Row>emptyRDD(), COLUMNS);
    }

    /**
     * The plan of a DataFrame that was built upon {@link #columns}.
     *
     * @throws IllegalArgumentException if it does not go record by record; the message names the first operator that does not
     */
    public static ChainPlan of(Dataset<Row> frame) {
        org.apache.spark.sql.classic.Dataset<?> dataset = (org.apache.spark.sql.classic.Dataset<?>) frame;
        List<Step> steps = new ArrayList<>();
        collect(dataset.queryExecution().optimizedPlan(), steps);
        return new ChainPlan(compiled(dataset.queryExecution().executedPlan()), serialize(steps));
    }

    /** Compile it here: Spark keeps what it has compiled, for lanes with equal code. */
    public void compile() {
        open();
    }

    /** The same plan with another text in the place of a constant; null if it has no such constant. */
    public ChainPlan withText(String constant, String text) {
        UTF8String before = UTF8String.fromString(constant);
        UTF8String after = UTF8String.fromString(text);
        Compiled code = original;
        if (code != null) {
            Object[] references = code.references().clone();
            boolean found = false;
            for (int i = 0; i < references.length; i++) {
                if (before.equals(references[i])) {
                    references[i] = after;
                    found = true;
                }
            }
            if (!found) {
                return null;
            }
            code = new Compiled(code.code(), references);
        }
        List<Step> changed = new ArrayList<>();
        for (Step step : this.<List<Step>>deserialize(steps)) {
            List<Expression> expressions = new ArrayList<>();
            for (Expression expression : CollectionConverters.asJava(step.expressions())) {
                expressions.add((Expression) expression.transformUp(new Replacing(before, after)));
            }
            changed.add(new Step(step.filters(), seq(expressions), step.input()));
        }
        return new ChainPlan(code, serialize(changed));
    }

    /** Puts another text in the place of a literal. */
    private static final class Replacing extends scala.runtime.AbstractPartialFunction<Expression, Expression> {
        private final UTF8String before;
        private final UTF8String after;

        Replacing(UTF8String before, UTF8String after) {
            this.before = before;
            this.after = after;
        }

        @Override
        public boolean isDefinedAt(Expression expression) {
            return expression instanceof Literal literal && before.equals(literal.value());
        }

        @Override
        public Expression apply(Expression expression) {
            return new Literal(after, expression.dataType());
        }
    }

    /** A chain for one lane: expressions keep state, so that no two lanes may share them. */
    Chain open() {
        Compiled whole = compiled == null ? null : deserialize(compiled);
        if (whole != null && !TOO_LONG.contains(whole.key())) {
            try {
                return Chain.of(whole);
            } catch (Exception e) { // a method of more than 64 KB: Spark itself takes the operators one by one then
                TOO_LONG.add(whole.key());
                org.slf4j.LoggerFactory.getLogger(ChainPlan.class).info("A chain is too long for one class: {}", e.getMessage());
            }
        }
        return Chain.of(this.<List<Step>>deserialize(steps));
    }

    private static void collect(LogicalPlan plan, List<Step> steps) {
        if (plan instanceof Project project) {
            collect(project.child(), steps);
            @SuppressWarnings({"unchecked", "rawtypes"})
            Seq<Expression> expressions = (Seq) project.projectList();
            steps.add(new Step(false, expressions, project.child().output()));
        } else if (plan instanceof Filter filter) {
            collect(filter.child(), steps);
            steps.add(new Step(true, seq(List.of(filter.condition())), filter.child().output()));
        } else if (!CollectionConverters.asJava(plan.children()).isEmpty()) {
            throw new IllegalArgumentException(plan.nodeName());
        }
    }

    private static Seq<Expression> seq(List<Expression> expressions) {
        return scala.collection.immutable.List$.MODULE$.from(CollectionConverters.asScala(expressions));
    }

    /** The code of the whole plan, null if Spark makes none for it as one. */
    private static Compiled compiled(SparkPlan plan) {
        if (!(plan instanceof WholeStageCodegenExec whole) || !simple(whole.child())) {
            return null;
        }
        Tuple2<CodegenContext, CodeAndComment> made = whole.doCodeGen();
        Object[] references = CollectionConverters.asJava(made._1().references()).toArray();
        return new Compiled(made._2().body(), references);
    }

    private static boolean simple(SparkPlan plan) {
        if (plan instanceof ProjectExec project) {
            return simple(project.child());
        }
        return plan instanceof FilterExec filter ? simple(filter.child()) : plan instanceof RDDScanExec;
    }

    private static byte[] serialize(Object value) {
        ByteBuffer buffer = serializer().serialize(value, tag());
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    private <T> T deserialize(byte[] bytes) {
        return serializer().deserialize(ByteBuffer.wrap(bytes), Utils.getContextOrSparkClassLoader(), ChainPlan.<T>tag());
    }

    private static SerializerInstance serializer() {
        return SparkEnv.get().closureSerializer().newInstance();
    }

    @SuppressWarnings("unchecked")
    private static <T> scala.reflect.ClassTag<T> tag() {
        return (scala.reflect.ClassTag<T>) scala.reflect.ClassTag$.MODULE$.Any();
    }
}
