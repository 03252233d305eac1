package io.headrace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Bytes in Avro's binary form, read by a plan (headrace.avro.to_connect) as the columns of {@link JsonRead}: of the whole value, and, if
 * it is a record, of its fields. Nested values are the JSON that JsonConverter would write for them.
 */
public final class AvroRead {
    /** Of {@link #text}. */
    public static final DataType TEXT = new StructType()
        .add("json", DataTypes.StringType).add("error", DataTypes.StringType);

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final JsonFactory FACTORY = new JsonFactoryBuilder().rootValueSeparator((String) null).build();
    private static final ThreadLocal<Nested> NESTED = ThreadLocal.withInitial(Nested::new);
    private static final String PROBLEM = "org.apache.kafka.common.errors.SerializationException: Error deserializing Avro message: ";
    private static final UTF8String NULL = UTF8String.fromString("null");
    private static final Memo PLANS = new Memo() {
        @Override
        Object make(String text) {
            try {
                return AvroStep.of(MAPPER.readTree(text));
            } catch (IOException e) {
                throw new IllegalArgumentException(e);
            }
        }
    };

    private AvroRead() {
    }

    /** Writes nested values as JSON, one after the other. */
    private static final class Nested {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
        private final JsonGenerator out;

        Nested() {
            try {
                out = FACTORY.createGenerator(bytes);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        UTF8String text(AvroStep step, AvroInput in) throws IOException {
            step.write(in, out);
            out.flush();
            UTF8String text = UTF8String.fromBytes(bytes.toByteArray());
            bytes.reset();
            return text;
        }
    }

    /** @param names the fields, joined by the character 0 (each begins with one); @param plan as JSON */
    public static InternalRow read(byte[] bytes, UTF8String names, UTF8String plan) {
        Map<String, Integer> wanted = ReadRow.wanted(names);
        Object[] row = ReadRow.empty(wanted.size());
        AvroStep step = (AvroStep) PLANS.get(plan);
        AvroInput in = new AvroInput(bytes);
        try {
            while (step instanceof AvroStep.Union union && union.fields == null) { // an optional record is read by field, too
                step = union.branch(in);
            }
            if (step instanceof AvroStep.Raw) {
                ReadRow.put(row, 1, JsonRead.TEXT, UTF8String.fromString(AvroStep.base64(bytes)));
            } else if (step instanceof AvroStep.RecordOf record && !wanted.isEmpty()) {
                int[] places = record.places(wanted);
                for (int i = 0; i < places.length; i++) {
                    if (places[i] < 0) {
                        record.steps[i].write(in, null);
                    } else {
                        put(row, ReadRow.FIRST + 4 * places[i], record.steps[i], in);
                    }
                }
                row[1] = JsonRead.MAP;
            } else {
                put(row, 1, step, in);
            }
        } catch (IOException | RuntimeException | StackOverflowError e) {
            NESTED.remove(); // it may have half a value
            row = ReadRow.empty(wanted.size());
            row[0] = problem(e, bytes);
        }
        return new GenericInternalRow(row);
    }

    /** A value as four columns. */
    private static void put(Object[] row, int at, AvroStep step, AvroInput in) throws IOException {
        AvroStep inner = step;
        while (inner instanceof AvroStep.Union union && union.fields == null) {
            inner = union.branch(in);
        }
        if (inner instanceof AvroStep.Null) {
            row[at] = JsonRead.NULL;
        } else if (inner instanceof AvroStep.Bool) {
            row[at] = JsonRead.BOOLEAN;
            row[at + 1] = in.readBoolean() ? 1L : 0L;
        } else if (inner instanceof AvroStep.Whole whole) {
            long number = whole.read(in);
            row[at] = JsonRead.INTEGER;
            row[at + 1] = number;
            row[at + 2] = (double) number;
        } else if (inner instanceof AvroStep.Fraction fraction) {
            row[at] = JsonRead.FRACTION;
            row[at + 2] = fraction.isDouble ? in.readDouble() : (double) in.readFloat();
        } else if (inner instanceof AvroStep.Text text) {
            ReadRow.put(row, at, JsonRead.TEXT, text.read(in));
        } else {
            UTF8String text = NESTED.get().text(inner, in);
            if (NULL.equals(text)) { // of a union
                row[at] = JsonRead.NULL;
            } else {
                ReadRow.put(row, at, inner.kind(), text);
            }
        }
    }

    /** The whole value as JSON text, of data without a schema of its own: null, and the error as the second field, if it cannot be read. */
    public static InternalRow text(byte[] bytes, UTF8String plan) {
        Object[] row = new Object[2];
        try {
            row[0] = NESTED.get().text((AvroStep) PLANS.get(plan), new AvroInput(bytes));
        } catch (IOException | RuntimeException | StackOverflowError e) {
            NESTED.remove();
            row[1] = problem(e, bytes);
        }
        return new GenericInternalRow(row);
    }

    private static UTF8String problem(Throwable e, byte[] bytes) {
        return UTF8String.fromString(PROBLEM + PayloadRead.why(e, bytes));
    }
}
