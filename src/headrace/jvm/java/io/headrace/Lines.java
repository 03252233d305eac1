package io.headrace;

import java.util.ArrayList;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;

/** Lines of text as Kafka's FileStreamSourceTask ends them: by \n, \r\n, or a \r before anything else. */
public final class Lines {
    /** Of a line, in bytes, with what ends it. */
    public static final int LONGEST = 16 << 20;
    static final DataType TYPE = DataTypes.createArrayType(DataTypes.createStructType(new StructField[] {
        DataTypes.createStructField("begin", DataTypes.LongType, false),
        DataTypes.createStructField("text", DataTypes.BinaryType, false),
    }), false);

    private Lines() {
    }

    /** Where the line after the one at `begin` begins; -1 if that has no end yet. */
    public static int next(byte[] bytes, int begin) {
        for (int i = begin; i < bytes.length; i++) {
            if (bytes[i] == '\n') {
                return i + 1;
            }
            if (bytes[i] == '\r') {
                return i + 1 == bytes.length ? -1 : bytes[i + 1] == '\n' ? i + 2 : i + 1;
            }
        }
        return -1;
    }

    /** Where the text of the line ends that begins at `begin`, the next one at `next`. */
    public static int end(byte[] bytes, int begin, int next) {
        return next - begin > 1 && bytes[next - 1] == '\n' && bytes[next - 2] == '\r' ? next - 2 : next - 1;
    }

    /** The lines of the bytes, and where each begins, if they themselves begin at `first`. */
    public static ArrayData of(byte[] bytes, long first) {
        ArrayList rows = new ArrayList();
        int begin = 0;
        for (int next = next(bytes, begin); next > 0; next = next(bytes, begin)) {
            byte[] text = java.util.Arrays.copyOfRange(bytes, begin, end(bytes, begin, next));
            rows.add(new GenericInternalRow(new Object[] {Long.valueOf(first + begin), text}));
            begin = next;
        }
        return new GenericArrayData(rows.toArray());
    }
}
