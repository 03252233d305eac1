package org.apache.spark.sql.ml;

import java.util.List;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.SparkSessionExtensionsProvider;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry$;
import org.apache.spark.sql.catalyst.analysis.SimpleFunctionRegistry;
import org.apache.spark.sql.catalyst.expressions.Expression;
import scala.Function1;
import scala.collection.immutable.Seq;
import scala.runtime.BoxedUnit;

/**
 * Registers the internal functions of Spark's machine learning when the first of them is called.
 *
 * <p>It stands on the class path before Spark's class of this name, which registers them with each session, and for that starts Scala's
 * runtime reflection: a third of the CPU time that a session and its first query take, for functions that few applications call.
 */
public final class InternalFunctionRegistration implements SparkSessionExtensionsProvider {
    private static final List<String> NAMES = List.of("vector_to_array", "array_to_vector", "aggregate_metrics");

    @Override
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        SimpleFunctionRegistry registry = FunctionRegistry$.MODULE$.internal();
        for (String name : NAMES) {
            if (registry.lookupFunctionBuilder(new FunctionIdentifier(name)).isEmpty()) {
                registry.createOrReplaceTempFunction(name, arguments -> registered(name).apply(arguments), "internal");
            }
        }
        return BoxedUnit.UNIT;
    }

    private static Function1<Seq<Expression>, Expression> registered(String name) {
        InternalFunctionRegistration$.MODULE$.apply(); // Spark's own object, which replaces all three when it is loaded
        return FunctionRegistry$.MODULE$.internal().lookupFunctionBuilder(new FunctionIdentifier(name)).get();
    }
}
