package io.headrace.streams;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.Env;
import org.rocksdb.IndexType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.RocksMemEnv;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteBufferManager;
import org.rocksdb.WriteOptions;

/**
 * The stores of one sub-topology in a RocksDB of their own, one column family each, in a scratch directory that goes with it; those
 * in memory are in a second one, whose files are in memory.
 *
 * <p>A key is the task's partition (4 bytes) and the key of the changelog record; a value the time of the row (8 bytes) and the
 * value of the changelog record. Nothing is logged or synced here: the changelog topic alone outlives the process.
 */
public final class StateStores {
    private static final long MOST_OF_ONE_BUFFER = 32L << 20;
    private static final int SHARD_BITS = 3; // by default shards of 4 MB, of which the filter of one file can take half
    private static final double INDEX_SHARE = 0.5; // of the cache, for indexes and filters, which each look-up needs
    private static final Map<Long, Memory> MEMORIES = new ConcurrentHashMap<>(); // by their bytes

    static {
        RocksDB.loadLibrary();
    }

    private final Memory limited;
    private final Path directory;
    private final RocksDB db;
    private final Options options;
    private volatile RocksDB memory; // made with the first store that is to be there
    private RocksMemEnv memoryFiles;
    private Options memoryOptions;
    private final WriteOptions unlogged = new WriteOptions().setDisableWAL(true);
    private final LongAdder rowsRead = new LongAdder();
    private final Map<String, Store> stores = new ConcurrentHashMap<>();
    private final Map<String, StoreTotals> totals = new ConcurrentHashMap<>(); // of indexes of sizes

    /** newest: by task, the greatest time that was put, which begins `tail` bytes before the end of a key; tail 0: keys have none. */
    private record Store(RocksDB db, ColumnFamilyHandle handle, int tail, Map<Integer, Long> newest) {
        void put(byte[] key) {
            if (tail >= Long.BYTES) {
                ByteBuffer bytes = ByteBuffer.wrap(key);
                newest.merge(bytes.getInt(0), bytes.getLong(key.length - tail), Math::max);
            }
        }
    }

    /** What all sub-topologies of this process with one limit share: a cache of blocks, half of which write buffers may take. */
    private record Memory(long bytes, Cache cache, WriteBufferManager buffers) {
        static Memory of(long bytes) {
            return MEMORIES.computeIfAbsent(bytes, key -> {
                Cache cache = new LRUCache(bytes, SHARD_BITS, false, INDEX_SHARE);
                return new Memory(bytes, cache, new WriteBufferManager(bytes / 2, cache));
            });
        }
    }

    StateStores(String directory, long memoryBytes) throws RocksDBException {
        this.limited = Memory.of(memoryBytes);
        this.directory = Path.of(directory);
        options = options();
        db = RocksDB.open(options, directory);
    }

    /** How many bytes blocks and write buffers take now, those of other sub-topologies with the same limit included. */
    public long memoryUsed() {
        return limited.cache.getUsage();
    }

    private Options options() {
        return new Options().setCreateIfMissing(true).setWriteBufferManager(limited.buffers).setMaxOpenFiles(256).setStatsDumpPeriodSec(0)
            .setKeepLogFileNum(1L).setMaxBackgroundJobs(2);
    }

    private RocksDB memory() throws RocksDBException {
        if (memory == null) {
            memoryFiles = new RocksMemEnv(Env.getDefault());
            memoryOptions = options().setEnv(memoryFiles).setInfoLogLevel(InfoLogLevel.ERROR_LEVEL); // the log is in memory, too
            memory = RocksDB.open(memoryOptions, "/" + directory.getFileName());
        }
        return memory;
    }

    /** Make a store, on disk or in memory; nothing happens if it is there. tail: the bytes of times and numbers behind its keys. */
    public synchronized void create(String store, boolean persistent, int tail) throws RocksDBException {
        if (!stores.containsKey(store)) {
            create(store, persistent ? db : memory(), tail);
        }
    }

    private void create(String store, RocksDB db, int tail) throws RocksDBException {
        BlockBasedTableConfig table = new BlockBasedTableConfig().setBlockCache(limited.cache).setFilterPolicy(new BloomFilter(10))
            .setCacheIndexAndFilterBlocks(true).setCacheIndexAndFilterBlocksWithHighPriority(true).setPinTopLevelIndexAndFilter(true)
            .setIndexType(IndexType.kTwoLevelIndexSearch).setPartitionFilters(true).setPinL0FilterAndIndexBlocksInCache(true)
            .setBlockSize(4096L);
        ColumnFamilyOptions own = new ColumnFamilyOptions().setTableFormatConfig(table)
            .setCompressionType(CompressionType.LZ4_COMPRESSION).setWriteBufferSize(Math.min(MOST_OF_ONE_BUFFER, limited.bytes / 4));
        ColumnFamilyDescriptor descriptor = new ColumnFamilyDescriptor(store.getBytes(StandardCharsets.UTF_8), own);
        stores.put(store, new Store(db, db.createColumnFamily(descriptor), tail, new ConcurrentHashMap<>()));
    }

    /** Throw away what a store holds. */
    public synchronized void clear(String store) throws RocksDBException {
        Store before = stores.remove(store);
        before.db.dropColumnFamily(before.handle);
        before.handle.close();
        totals.computeIfPresent(store, (name, total) -> new StoreTotals());
        create(store, before.db, before.tail);
    }

    /** Add up what an index of sizes says, from now on. It is empty. */
    public void addUp(String index) {
        totals.put(index, new StoreTotals());
    }

    long total(String index, int partition, boolean bytes) {
        return totals.get(index).of(partition, bytes);
    }

    byte[] get(String store, byte[] key) throws RocksDBException {
        countRead();
        Store found = stores.get(store);
        return found.db.get(found.handle, key);
    }

    /** The row of a key in whatever task of so many; null if there is none. */
    byte[] find(String store, int partitions, byte[] key) throws RocksDBException {
        byte[] found = null;
        for (int partition = 0; partition < partitions && found == null; partition++) {
            found = get(store, StateFunctions.key(partition, key));
        }
        return found;
    }

    /**
     * Rows from a key on and before another one, at most so many: key, value, key and so on. backwards: the last of them first.
     */
    List<byte[]> range(String store, byte[] from, byte[] to, boolean backwards, int atMost) {
        List<byte[]> found = new ArrayList<>();
        try (RocksIterator rows = iterator(store)) {
            if (backwards) {
                rows.seekForPrev(to);
                if (rows.isValid() && Arrays.equals(rows.key(), to)) {
                    rows.prev();
                }
            } else {
                rows.seek(from);
            }
            while (rows.isValid() && found.size() < 2 * atMost) {
                byte[] key = rows.key();
                if (backwards ? Arrays.compareUnsigned(key, from) < 0 : Arrays.compareUnsigned(key, to) >= 0) {
                    break;
                }
                countRead();
                found.add(key);
                found.add(rows.value());
                if (backwards) {
                    rows.prev();
                } else {
                    rows.next();
                }
            }
        }
        return found;
    }

    /** How many rows were looked at so far. */
    public long rowsRead() {
        return rowsRead.sum();
    }

    void countRead() {
        rowsRead.increment();
    }

    /** Delete the rows of a task whose key begins with a number (8 bytes) below a limit. */
    public void deleteBefore(String store, int partition, long limit) throws RocksDBException {
        byte[] first = StateFunctions.key(partition, new byte[0]);
        byte[] last = StateFunctions.key(partition, ByteBuffer.allocate(8).putLong(Math.max(limit, 0L)).array());
        Store found = stores.get(store);
        found.db.deleteRange(found.handle, unlogged, first, last);
    }

    /** The greatest time that was put into a store for a task; null if there is no row. */
    Long newest(String store, int partition) {
        return stores.get(store).newest.get(partition);
    }

    /** An iterator over a store, to be closed. */
    RocksIterator iterator(String store) {
        Store found = stores.get(store);
        return found.db.newIterator(found.handle);
    }

    /** About how many rows a store has. */
    public long size(String store) throws RocksDBException {
        Store found = stores.get(store);
        return found.db.getLongProperty(found.handle, "rocksdb.estimate-num-keys");
    }

    /** Changes of several stores: of those on disk all of them or none, then the same for those in memory. */
    void write(Map<String, List<byte[][]>> changes) throws RocksDBException {
        write(changes, db);
        if (memory != null) {
            write(changes, memory);
        }
    }

    private void write(Map<String, List<byte[][]>> changes, RocksDB db) throws RocksDBException {
        try (WriteBatch batch = new WriteBatch()) {
            for (Map.Entry<String, List<byte[][]>> one : changes.entrySet()) {
                Store store = stores.get(one.getKey());
                if (store.db != db) {
                    continue;
                }
                ColumnFamilyHandle handle = store.handle;
                StoreTotals total = totals.get(one.getKey());
                for (byte[][] row : one.getValue()) {
                    if (total != null) { // each key is there once
                        total.change(row[0], db.get(handle, row[0]), row[1]);
                    }
                    if (row[1] == null) {
                        batch.delete(handle, row[0]);
                    } else {
                        store.put(row[0]);
                        batch.put(handle, row[0], row[1]);
                    }
                }
            }
            db.write(unlogged, batch);
        }
    }

    /** Close it and delete its directory. */
    synchronized void close() throws Exception {
        for (Store store : stores.values()) {
            store.handle.close();
        }
        stores.clear();
        db.close();
        if (memory != null) {
            memory.close();
            memoryOptions.close();
            memoryFiles.close();
        }
        unlogged.close();
        options.close();
        List<Path> files = new ArrayList<>();
        try (Stream<Path> found = Files.walk(directory)) {
            found.sorted(Comparator.reverseOrder()).forEach(files::add);
        }
        for (Path file : files) {
            Files.deleteIfExists(file);
        }
    }

    /** Delete the rows of a task whose time, 8 bytes that stand `behind` bytes before the end of the key, is before a limit. */
    public void expire(String store, int partition, int behind, long limit) throws Exception {
        StoreExpiry.ofRows(this, store, partition, behind, limit);
    }

    /** Delete the versions of a task that another one of their key has followed before a limit; their time is the key's end. */
    public void expireVersions(String store, int partition, long limit) throws Exception {
        StoreExpiry.ofVersions(this, store, partition, limit);
    }
}
