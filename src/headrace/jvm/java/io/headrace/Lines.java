package io.headrace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

    /** Takes a line: the bytes at which it and the next one begin, and its text. */
    public interface Taker {
        void take(int begin, int next, byte[] text);
    }

    /** Give at most so many lines, those that have an end; returns where the next one begins. */
    public static int each(byte[] bytes, int most, Taker taker) {
        int begin = 0;
        int next;
        for (int taken = 0; taken < most && (next = next(bytes, begin)) > 0; taken++) {
            taker.take(begin, next, Arrays.copyOfRange(bytes, begin, end(bytes, begin, next)));
            begin = next;
        }
        return begin;
    }

    /** Where the line after the one at `begin` begins; -1 if that has no end yet. */
    private static int next(byte[] bytes, int begin) {
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
    private static int end(byte[] bytes, int begin, int next) {
        return next - begin > 1 && bytes[next - 1] == '\n' && bytes[next - 2] == '\r' ? next - 2 : next - 1;
    }

    /** The lines of the bytes, and where each begins, if they themselves begin at `first`. */
    public static ArrayData of(byte[] bytes, long first) {
        List<Object> rows = new ArrayList<>();
        each(bytes, Integer.MAX_VALUE, (begin, next, text) -> rows.add(new GenericInternalRow(new Object[] {first + begin, text})));
        return new GenericArrayData(rows.toArray());
    }
}
