package io.headrace.streams;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.util.TaskCompletionListener;
import org.rocksdb.RocksIterator;

/** All rows of a store that belong to one piece: partition, key, value with its time. */
final class StoreScan implements Iterator<InternalRow> {
    private final RocksIterator rows;
    private final TaskRuntime runtime;
    private final int piece;
    private boolean closed;

    StoreScan(RocksIterator rows, TaskRuntime runtime, int piece, TaskContext context) {
        this.rows = rows;
        this.runtime = runtime;
        this.piece = piece;
        rows.seekToFirst();
        context.addTaskCompletionListener((TaskCompletionListener) given -> close());
    }

    private void close() {
        if (!closed) {
            closed = true;
            rows.close();
        }
    }

    @Override
    public boolean hasNext() {
        while (!closed && rows.isValid()) {
            int partition = ByteBuffer.wrap(rows.key()).getInt();
            if (runtime.pieces.of(partition) == piece) {
                return true;
            }
            rows.seek(ByteBuffer.allocate(4).putInt(partition + 1).array());
        }
        close();
        return false;
    }

    @Override
    public InternalRow next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        runtime.stores.countRead();
        byte[] key = rows.key();
        Object[] row = {ByteBuffer.wrap(key).getInt(), Arrays.copyOfRange(key, 4, key.length), rows.value()};
        rows.next();
        return new GenericInternalRow(row);
    }
}
