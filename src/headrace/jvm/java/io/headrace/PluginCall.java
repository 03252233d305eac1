package io.headrace;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Kafka Connect's plugins, called by a compiled chain for one record after the other. `id`: of what was opened in the host. */
public final class PluginCall {
    private static final StructType FAILURE = struct(new Object[] {"step", DataTypes.StringType, "class", DataTypes.StringType,
        "message", DataTypes.StringType, "cause", DataTypes.StringType});
    /** A record after transforms. */
    public static final DataType RECORD = struct(new Object[] {"failure", FAILURE, "dropped", DataTypes.BooleanType,
        "topic", DataTypes.StringType, "partition", DataTypes.IntegerType, "timestamp", DataTypes.LongType,
        "key", DataTypes.BinaryType, "value", DataTypes.BinaryType, "headers", Headers.ARRAY});
    /** What a predicate says. */
    public static final DataType HOLDS = struct(new Object[] {"failure", FAILURE, "holds", DataTypes.BooleanType});
    /** What a converter of keys or values makes; the headers are NULL if it has left them as they were. */
    public static final DataType CONVERTED = struct(new Object[] {"failure", FAILURE, "bytes", DataTypes.BinaryType,
        "headers", Headers.ARRAY});
    /** What a converter of header values makes. */
    public static final DataType BYTES = struct(new Object[] {"failure", FAILURE, "bytes", DataTypes.BinaryType});
    private static final Object[] NO_HEADERS = new Object[0];

    private PluginCall() {
    }

    private static StructType struct(Object[] namesAndTypes) {
        StructField[] fields = new StructField[namesAndTypes.length / 2];
        for (int i = 0; i < fields.length; i++) {
            fields[i] = new StructField((String) namesAndTypes[2 * i], (DataType) namesAndTypes[2 * i + 1], true, Metadata.empty());
        }
        return new StructType(fields);
    }

    /** @param record topic, partition, offset, timestamp, schema and payload of the key, and of the value, headers, topic it was read from */
    public static InternalRow stages(UTF8String id, InternalRow record) {
        return row(PluginAnswers.of(id.toString(), parts(record)));
    }

    /** @param record as for stages */
    public static InternalRow predicate(UTF8String id, InternalRow record) {
        return row(PluginAnswers.of(id.toString(), parts(record)));
    }

    /** @param given topic, bytes, headers */
    public static InternalRow read(UTF8String id, InternalRow given) {
        Object[] parts = new Object[] {text(given, 0), bytes(given, 1), headers(given, 2)};
        return row(PluginAnswers.of(id.toString(), parts));
    }

    /** @param given topic, schema, payload, headers */
    public static InternalRow write(UTF8String id, InternalRow given) {
        Object[] parts = new Object[] {text(given, 0), text(given, 1), bytes(given, 2), headers(given, 3)};
        return row(PluginAnswers.of(id.toString(), parts));
    }

    /** @param given topic, name, schema, payload */
    public static InternalRow header(UTF8String id, InternalRow given) {
        Object[] parts = new Object[] {text(given, 0), text(given, 1), text(given, 2), bytes(given, 3)};
        return row(PluginAnswers.of(id.toString(), parts));
    }

    private static Object[] parts(InternalRow record) {
        return new Object[] {text(record, 0), record.isNullAt(1) ? null : Integer.valueOf(record.getInt(1)), number(record, 2),
            number(record, 3), text(record, 4), bytes(record, 5), text(record, 6), bytes(record, 7), headers(record, 8), text(record, 9)};
    }

    private static String text(InternalRow row, int column) {
        return row.isNullAt(column) ? null : row.getUTF8String(column).toString();
    }

    private static byte[] bytes(InternalRow row, int column) {
        return row.isNullAt(column) ? null : row.getBinary(column);
    }

    private static Long number(InternalRow row, int column) {
        return row.isNullAt(column) ? null : Long.valueOf(row.getLong(column));
    }

    private static Object[] headers(InternalRow row, int column) {
        if (row.isNullAt(column)) {
            return NO_HEADERS;
        }
        ArrayData given = row.getArray(column);
        Object[] pairs = new Object[given.numElements()];
        for (int i = 0; i < pairs.length; i++) {
            InternalRow header = given.getStruct(i, 2);
            pairs[i] = new Object[] {text(header, 0), bytes(header, 1)};
        }
        return pairs;
    }

    /** The values of the host as Spark's; the first is a failure, and any other list has headers. */
    private static InternalRow row(Object answer) {
        Object[] values = (Object[]) answer;
        Object[] row = new Object[values.length];
        for (int i = 0; i < row.length; i++) {
            if (values[i] instanceof String) {
                row[i] = UTF8String.fromString((String) values[i]);
            } else if (values[i] instanceof Object[]) {
                row[i] = i == 0 ? (Object) texts((Object[]) values[i]) : headers((Object[]) values[i]);
            } else {
                row[i] = values[i];
            }
        }
        return new GenericInternalRow(row);
    }

    private static ArrayData headers(Object[] pairs) {
        Object[] headers = new Object[pairs.length];
        for (int i = 0; i < pairs.length; i++) {
            Object[] pair = (Object[]) pairs[i];
            headers[i] = new GenericInternalRow(new Object[] {UTF8String.fromString((String) pair[0]), pair[1]});
        }
        return new GenericArrayData(headers);
    }

    static InternalRow texts(Object[] values) {
        Object[] row = new Object[values.length];
        for (int i = 0; i < row.length; i++) {
            row[i] = UTF8String.fromString((String) values[i]);
        }
        return new GenericInternalRow(row);
    }
}
