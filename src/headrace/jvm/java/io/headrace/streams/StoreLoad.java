package io.headrace.streams;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.function.VoidFunction;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;

/** Puts rows into a store, those of a key in their order: a restore, or a global table. */
final class StoreLoad implements VoidFunction<Iterator<InternalRow>> {
    private static final long serialVersionUID = 1L;
    private static final int AT_ONCE = 5000;

    private final String task;
    private final String store;

    private StoreLoad(String task, String store) {
        this.task = task;
        this.store = store;
    }

    static void run(String task, String store, RDD<InternalRow> rows) {
        rows.toJavaRDD().foreachPartition(new StoreLoad(task, store));
    }

    @Override
    public void call(Iterator<InternalRow> rows) throws Exception {
        StateStores stores = TaskRuntime.of(task).stores;
        List<byte[][]> waiting = new ArrayList<>();
        Map<String, List<byte[][]>> changes = new HashMap<>(Map.of(store, waiting));
        while (rows.hasNext()) {
            InternalRow row = rows.next();
            byte[] value = TaskRuntime.bytes(row, 2);
            waiting.add(new byte[][] {
                StateFunctions.key(row.getInt(0), row.getBinary(1)), value == null ? null : StateFunctions.stored(row.getLong(3), value),
            });
            if (waiting.size() == AT_ONCE) {
                stores.write(changes);
                waiting.clear();
            }
        }
        stores.write(changes);
    }
}
