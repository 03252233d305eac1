package io.headrace;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.GlobFilter;
import org.apache.hadoop.fs.Path;

/** The files below a path in the order of their last modification: names only, in one call from the driver. */
public final class FileList {
    private FileList() {
    }

    /**
     * The first `max` files after a position, a file's time of modification (ms) and path, and not modified since `before`.
     *
     * <p>Directories are searched to their ends; what begins with `_` or `.` is left out, as Spark does. Returns the number of
     * files that are not after the position, and then a line of time, space and path for each file.
     */
    public static String after(Configuration conf, String path, String glob, long modified, String last, long before, int max)
            throws IOException {
        ArrayList found = new ArrayList();
        long done = 0;
        ArrayDeque open = new ArrayDeque();
        Path root = new Path(path);
        FileSystem system = root.getFileSystem(conf);
        GlobFilter filter = glob == null ? null : new GlobFilter(glob);
        FileStatus[] roots = system.globStatus(root);
        open.addAll(Arrays.asList(roots == null ? new FileStatus[0] : roots));
        while (!open.isEmpty()) {
            FileStatus one = (FileStatus) open.poll();
            if (one.isDirectory()) {
                FileStatus[] inside = list(system, one.getPath());
                for (int i = 0; i < inside.length; i++) {
                    String name = inside[i].getPath().getName();
                    if (!name.startsWith("_") && !name.startsWith(".")) {
                        open.add(inside[i]);
                    }
                }
            } else if (filter == null || filter.accept(one.getPath())) {
                long time = one.getModificationTime();
                String name = one.getPath().toString();
                if (time < modified || (time == modified && name.compareTo(last) <= 0)) {
                    done++;
                } else if (time < before) {
                    found.add(String.format("%019d %s", new Object[] {Long.valueOf(time), name}));
                }
            }
        }
        Object[] sorted = found.toArray();
        Arrays.sort(sorted);
        StringBuilder text = new StringBuilder(String.valueOf(done));
        for (int i = 0; i < sorted.length && i < max; i++) {
            text.append('\n').append(sorted[i]);
        }
        return text.toString();
    }

    private static FileStatus[] list(FileSystem system, Path directory) throws IOException {
        try {
            return system.listStatus(directory);
        } catch (FileNotFoundException e) { // gone since its name was read
            return new FileStatus[0];
        }
    }
}
