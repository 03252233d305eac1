package io.headrace.streams;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.unsafe.types.UTF8String;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/** What operators ask of stores and clocks, row by row, inside of Spark's generated code. `task`: the id of a `TaskRuntime`. */
public final class StateFunctions {
    /** The type of `scan`. */
    public static final DataType ROWS = new ArrayType(DataTypes.createStructType(new StructField[] {
        DataTypes.createStructField("key", DataTypes.BinaryType, true), DataTypes.createStructField("value", DataTypes.BinaryType, true),
    }), false);

    private StateFunctions() {
    }

    /** A row of a store: time (8 bytes) and value; null if there is none. */
    public static byte[] get(UTF8String task, UTF8String store, int partition, byte[] key) throws RocksDBException {
        return TaskRuntime.of(task).stores.get(store.toString(), key(partition, key));
    }

    /** The rows of a store whose time in an index is from `first` to `last`, in the order of the index. */
    public static ArrayData range(UTF8String task, UTF8String store, UTF8String index, int partition, long first, long last)
        throws RocksDBException {
        StateStores stores = TaskRuntime.of(task).stores;
        List<InternalRow> found = new ArrayList<>();
        try (RocksIterator rows = stores.iterator(index.toString())) {
            for (rows.seek(key(partition, longBytes(Math.max(first, 0L)))); rows.isValid(); rows.next()) {
                ByteBuffer key = ByteBuffer.wrap(rows.key());
                if (key.getInt() != partition || key.getLong() > last) {
                    break;
                }
                byte[] own = new byte[key.remaining()];
                key.get(own);
                byte[] row = stores.get(store.toString(), key(partition, own));
                if (row != null) {
                    found.add(new GenericInternalRow(new Object[] {own, row}));
                }
            }
        }
        return new GenericArrayData(found.toArray());
    }

    /**
     * The rows of a store whose time in an index of sizes is not after `last`, then the oldest that are at least so many and have so
     * many bytes, with all others of the same time; in the order of the index.
     */
    public static ArrayData oldest(UTF8String task, UTF8String store, UTF8String index, int partition, long last, long rows, long bytes)
        throws RocksDBException {
        StateStores stores = TaskRuntime.of(task).stores;
        List<InternalRow> found = new ArrayList<>();
        long moreRows = rows;
        long moreBytes = bytes;
        long before = Long.MIN_VALUE;
        try (RocksIterator sizes = stores.iterator(index.toString())) {
            for (sizes.seek(key(partition, new byte[0])); sizes.isValid(); sizes.next()) {
                ByteBuffer key = ByteBuffer.wrap(sizes.key());
                if (key.getInt() != partition) {
                    break;
                }
                long time = key.getLong();
                if (time > last) {
                    if (moreRows <= 0L && moreBytes <= 0L && time != before) {
                        break;
                    }
                    moreRows--;
                    moreBytes -= StoreTotals.bytes(sizes.value());
                    before = time;
                }
                byte[] own = new byte[key.remaining()];
                key.get(own);
                found.add(new GenericInternalRow(new Object[] {own, stores.get(store.toString(), key(partition, own))}));
            }
        }
        return new GenericArrayData(found.toArray());
    }

    /** How many rows an index of sizes has of a task, or how many bytes they say. */
    public static long total(UTF8String task, UTF8String index, int partition, boolean bytes) {
        return TaskRuntime.of(task).stores.total(index.toString(), partition, bytes);
    }

    /** The rows whose key begins with some bytes, in the order of their bytes. */
    public static ArrayData scan(UTF8String task, UTF8String store, int partition, byte[] prefix) {
        byte[] first = key(partition, prefix);
        List<InternalRow> found = new ArrayList<>();
        StateStores stores = TaskRuntime.of(task).stores;
        try (RocksIterator rows = stores.iterator(store.toString())) {
            for (rows.seek(first); rows.isValid(); rows.next()) {
                stores.countRead();
                byte[] key = rows.key();
                if (compare(key, first) != 0) {
                    break;
                }
                found.add(row(key, rows.value()));
            }
        }
        return new GenericArrayData(found.toArray());
    }

    /**
     * The rows of a key that has `tail` bytes more, the first 8 of them a time that is not before `from`, in the order of their bytes.
     *
     * <p>Rows of longer keys that begin like this one lie among them, mostly behind the greatest time of all rows, where this ends.
     */
    public static ArrayData rowsOfKey(UTF8String task, UTF8String store, int partition, byte[] prefix, int tail, long from) {
        StateStores stores = TaskRuntime.of(task).stores;
        Long newest = stores.newest(store.toString(), partition);
        List<InternalRow> found = new ArrayList<>();
        if (newest == null || newest < from) {
            return new GenericArrayData(found.toArray());
        }
        byte[] first = key(partition, ByteBuffer.allocate(prefix.length + 8).put(prefix).putLong(Math.max(from, 0L)).array());
        byte[] last = key(partition, ByteBuffer.allocate(prefix.length + 8).put(prefix).putLong(newest).array());
        int length = last.length - 8 + tail;
        try (RocksIterator rows = stores.iterator(store.toString())) {
            for (rows.seek(first); rows.isValid(); rows.next()) {
                stores.countRead();
                byte[] key = rows.key();
                if (compare(key, last) > 0) {
                    break;
                }
                if (key.length == length) {
                    found.add(row(key, rows.value()));
                }
            }
        }
        return new GenericArrayData(found.toArray());
    }

    /** How the beginning of a key compares with some bytes. */
    private static int compare(byte[] key, byte[] bytes) {
        return Arrays.compareUnsigned(key, 0, Math.min(key.length, bytes.length), bytes, 0, bytes.length);
    }

    private static InternalRow row(byte[] key, byte[] value) {
        return new GenericInternalRow(new Object[] {Arrays.copyOfRange(key, 4, key.length), value});
    }

    /** The row of the last version of a key that is not after a time; null if there is none. Its time stands behind the key. */
    public static byte[] version(UTF8String task, UTF8String store, int partition, byte[] key, long time) {
        byte[] last = ByteBuffer.allocate(12 + key.length).putInt(partition).put(key).putLong(time).array();
        int prefix = last.length - 8;
        try (RocksIterator rows = TaskRuntime.of(task).stores.iterator(store.toString())) {
            for (rows.seekForPrev(last); rows.isValid(); rows.prev()) {
                byte[] found = rows.key();
                if (Arrays.compareUnsigned(found, 0, Math.min(prefix, found.length), last, 0, prefix) < 0) {
                    return null;
                }
                if (found.length == last.length) { // else a version of a longer key that begins like this one
                    return rows.value();
                }
            }
        }
        return null;
    }

    /** The stream time of a task at an operator before this batch; null if it has none. */
    public static Long clock(UTF8String task, UTF8String node, int partition) {
        return TaskRuntime.of(task).clocks().time(node.toString(), partition);
    }

    /** What went wrong with the record that is written to the dead letter topic now: exception, message or stack trace. */
    public static UTF8String failure(UTF8String task, int part) {
        return UTF8String.fromString(TaskRuntime.of(task).letter(part));
    }

    /** True: an operator leaves out a record, for the reason `why`. `place`: of the record, and what else tells it from others. */
    public static boolean leftOut(UTF8String task, UTF8String why, UTF8String node, int partition, long time, ArrayData place) {
        TaskRuntime.of(task).take(new BatchProgram.Output("left out", why.toString(), null),
            new GenericInternalRow(new Object[] {node, partition, time, place}));
        return true;
    }

    private static byte[] longBytes(long number) {
        return ByteBuffer.allocate(8).putLong(number).array();
    }

    static byte[] key(int partition, byte[] key) {
        return ByteBuffer.allocate(4 + key.length).putInt(partition).put(key).array();
    }

    /** The value of a row: its time and what the changelog has. */
    static byte[] stored(long time, byte[] value) {
        return ByteBuffer.allocate(8 + value.length).putLong(time).put(value).array();
    }
}
