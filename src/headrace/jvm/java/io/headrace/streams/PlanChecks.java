package io.headrace.streams;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionWithRandomSeed;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.exchange.Exchange;
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec;
import scala.jdk.javaapi.CollectionConverters;

/** What decides whether the plan of a batch can run again for the next one. */
public final class PlanChecks {
    private PlanChecks() {
    }

    /** Whether an analyzed plan has functions whose value Spark fixes when it plans: of the present time, or with a random seed. */
    public static boolean isVolatile(LogicalPlan plan) {
        return plan.exists(node -> CollectionConverters.asJava(node.expressions()).stream().anyMatch(PlanChecks::isVolatile));
    }

    private static boolean isVolatile(Expression expression) {
        return expression.containsPattern(TreePattern.CURRENT_LIKE()) || expression.exists(part -> part instanceof ExpressionWithRandomSeed
            || part instanceof RuntimeReplaceable && isVolatile(((RuntimeReplaceable) part).replacement())); // such as `uniform`
    }

    /** Whether a plan moves rows between partitions: its shuffle files would serve for the next batch, too. */
    public static boolean movesRows(SparkPlan plan) {
        return plan.exists(node -> node instanceof Exchange || node instanceof ReusedExchangeExec || node instanceof AdaptiveSparkPlanExec);
    }
}
