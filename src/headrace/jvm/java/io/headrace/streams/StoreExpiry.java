package io.headrace.streams;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rocksdb.RocksIterator;

/** Deletes the rows of a task that are too old. */
final class StoreExpiry {
    private static final int AT_ONCE = 10000;

    /** Says of a row, by its key and that of the row before it, which key is to be deleted: null for none. */
    private interface Rule {
        byte[] gone(byte[] before, byte[] key);
    }

    private StoreExpiry() {
    }

    /** Delete the rows whose time, 8 bytes that stand `behind` bytes before the end of the key, is before a limit. */
    static void ofRows(StateStores stores, String store, int partition, int behind, long limit) throws Exception {
        delete(stores, store, partition, (before, key) -> ByteBuffer.wrap(key).getLong(key.length - behind) < limit ? key : null);
    }

    /** Delete the versions that another one of their key has followed before a limit; their time is the key's end. */
    static void ofVersions(StateStores stores, String store, int partition, long limit) throws Exception {
        delete(stores, store, partition, (before, key) -> {
            int end = key.length - 8;
            boolean follows = before.length == key.length && Arrays.equals(before, 0, end, key, 0, end);
            return follows && ByteBuffer.wrap(key).getLong(end) < limit ? before : null;
        });
    }

    private static void delete(StateStores stores, String store, int partition, Rule rule) throws Exception {
        byte[] first = ByteBuffer.allocate(4).putInt(partition).array();
        Map<String, List<byte[][]>> changes = new HashMap<>();
        List<byte[][]> rows = changes.computeIfAbsent(store, name -> new ArrayList<>());
        byte[] before = first;
        try (RocksIterator all = stores.iterator(store)) {
            for (all.seek(first); all.isValid() && Arrays.equals(all.key(), 0, 4, first, 0, 4); all.next()) {
                byte[] key = all.key();
                byte[] gone = rule.gone(before, key);
                if (gone != null) {
                    rows.add(new byte[][] {gone, null});
                }
                before = key;
                if (rows.size() == AT_ONCE) {
                    stores.write(changes);
                    rows.clear();
                }
            }
        }
        stores.write(changes);
    }
}
