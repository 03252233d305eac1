package io.headrace;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;

/**
 * The files of a query's log ({@code spark.sql.streaming.checkpointFileManagerClass}), on a local disk without a process of their own.
 *
 * <p>Hadoop's local file system, without its native library, runs {@code chmod} for each file that it makes and {@code readlink} for
 * each name of a rename: ten processes one after the other for an entry of the log, of which a batch has two. The log is scratch
 * (`runtime/query_run.py`), so checksums and permissions are not missed. Elsewhere than on a local disk all is as it was.
 */
public final class QueryLog extends FileSystemBasedCheckpointFileManager {
    public QueryLog(Path path, Configuration conf) {
        super(path, conf);
    }

    public void mkdirs(Path path) {
        if (!isLocal()) {
            super.mkdirs(path);
        } else if (!file(path).mkdirs() && !file(path).isDirectory()) {
            throw new UncheckedIOException(new IOException("The directory " + file(path) + " cannot be made"));
        }
    }

    public FSDataOutputStream createTempFile(Path path) {
        if (!isLocal()) {
            return super.createTempFile(path);
        }
        try {
            return new FSDataOutputStream(new FileOutputStream(file(path)), (FileSystem.Statistics) null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static File file(Path path) {
        return new File(path.toUri().getPath());
    }
}
