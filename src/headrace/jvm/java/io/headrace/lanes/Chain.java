package io.headrace.lanes;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.Predicate$;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeAndComment;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.execution.BufferedRowIterator;
import org.apache.spark.unsafe.types.UTF8String;
import scala.jdk.javaapi.CollectionConverters;

/** A chain of one lane, compiled: takes one record after the other. For one thread at a time. */
abstract class Chain {
    /** The columns that come out ({@code headrace.runtime.chain}). */
    static final int TOPIC = 0;
    static final int PARTITION = 1;
    static final int TIMESTAMP = 2;
    static final int KEY = 3;
    static final int VALUE = 4;
    static final int HEADERS = 5;
    static final int FAILURE = 6;
    static final int NEED = 7;

    private final Object[] values = new Object[ChainPlan.COLUMNS.size()];
    private final InternalRow input = new GenericInternalRow(values);
    private String topic; // of the record before
    private UTF8String topicText;

    /**
     * What becomes of a record, until the next call; null if the chain drops it.
     *
     * @param destination the name of its copy's topic, before the chain
     * @throws Exception what an expression throws: the record's failure, where the chain has no column for it
     */
    InternalRow apply(ConsumerRecord<byte[], byte[]> record, UTF8String destination) throws Exception {
        if (record.topic() != topic) { // the client has one String for all records of a partition
            topic = record.topic();
            topicText = UTF8String.fromString(topic);
        }
        values[0] = record.key();
        values[1] = record.value();
        values[2] = topicText;
        values[3] = record.partition();
        values[4] = record.offset();
        values[5] = record.timestamp() < 0 ? null : micros(record.timestamp());
        values[6] = headers(record);
        values[7] = destination;
        return row(input);
    }

    private static long micros(long ms) {
        if (ms > Long.MAX_VALUE / 1000) {
            throw new ArithmeticException("The timestamp " + ms + " ms is later than " + Long.MAX_VALUE / 1000 + " ms, the latest that Spark has");
        }
        return ms * 1000L;
    }

    abstract InternalRow row(InternalRow row) throws Exception;

    private static GenericArrayData headers(ConsumerRecord<byte[], byte[]> record) {
        Header[] all = record.headers().toArray();
        if (all.length == 0) {
            return null;
        }
        Object[] rows = new Object[all.length];
        for (int i = 0; i < all.length; i++) {
            rows[i] = new GenericInternalRow(new Object[] {UTF8String.fromString(all[i].key()), all[i].value()});
        }
        return new GenericArrayData(rows);
    }

    /** One class for everything: Spark's whole-stage code, given one row at a time. */
    static Chain of(ChainPlan.Compiled plan) {
        scala.collection.immutable.Map<String, String> comments = scala.collection.immutable.Map$.MODULE$.empty();
        Object made = CodeGenerator.compile(new CodeAndComment(plan.code(), comments))._1().generate(plan.references());
        return new WholeStage((BufferedRowIterator) made);
    }

    /** A projection or predicate after the other. */
    static Chain of(List<ChainPlan.Step> steps) {
        List<Object> made = new ArrayList<>();
        for (ChainPlan.Step step : steps) {
            if (step.filters()) {
                BasePredicate predicate = Predicate$.MODULE$.create(CollectionConverters.asJava(step.expressions()).get(0), step.input());
                predicate.initialize(0);
                made.add(predicate);
            } else {
                UnsafeProjection projection = UnsafeProjection$.MODULE$.create(step.expressions(), step.input());
                projection.initialize(0);
                made.add(projection);
            }
        }
        return new Steps(made.toArray());
    }

    private static final class WholeStage extends Chain {
        private final BufferedRowIterator code;
        private final Source source = new Source();

        @SuppressWarnings("unchecked")
        WholeStage(BufferedRowIterator code) {
            this.code = code;
            code.init(0, new scala.collection.Iterator[] {source});
        }

        @Override
        InternalRow row(InternalRow row) throws Exception {
            source.row = row;
            try {
                return code.hasNext() ? code.next() : null;
            } finally {
                source.row = null;
            }
        }
    }

    /** Gives the one row that it has. */
    private static final class Source extends scala.collection.AbstractIterator<InternalRow> {
        private InternalRow row;

        @Override
        public boolean hasNext() {
            return row != null;
        }

        @Override
        public InternalRow next() {
            InternalRow taken = row;
            row = null;
            return taken;
        }
    }

    private static final class Steps extends Chain {
        private final Object[] steps; // UnsafeProjection or BasePredicate

        Steps(Object[] steps) {
            this.steps = steps;
        }

        @Override
        InternalRow row(InternalRow row) {
            InternalRow current = row;
            for (Object step : steps) {
                if (step instanceof UnsafeProjection projection) {
                    current = projection.apply(current);
                } else if (!((BasePredicate) step).eval(current)) {
                    return null;
                }
            }
            return current;
        }
    }
}
