package io.headrace;

import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.util.AccumulatorContext;
import scala.Option;

/** Accumulators of the driver as arguments of SQL functions: by their id, a literal, the object itself becomes part of the plan. */
final class Accumulators {
    private Accumulators() {
    }

    /** @param id a literal: the id of a registered accumulator */
    static Literal named(Object id) {
        Option found = AccumulatorContext.get(((Number) ((Literal) id).value()).longValue());
        return new Literal(found.get(), new ObjectType(found.get().getClass()));
    }
}
