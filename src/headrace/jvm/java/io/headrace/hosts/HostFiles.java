package io.headrace.hosts;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkFiles;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.util.Utils;

/** The files of plugins on an executor's machine: where they are in the driver, in `spark.archives`, or copies from the driver. */
final class HostFiles {
    private final PluginContext driver;
    private final Map<String, String> urls = new ConcurrentHashMap<>(); // here, by those in the driver
    private Path copies;

    HostFiles(PluginContext driver) {
        this.driver = driver;
    }

    /** The URL here of a file that has this one in the driver. */
    String url(String driverUrl) {
        return urls.computeIfAbsent(driverUrl, this::find);
    }

    private String find(String driverUrl) {
        Path path = Path.of(URI.create(driverUrl));
        if (driverUrl.endsWith("/")) { // classes, not an archive
            if (!Files.isDirectory(path)) {
                throw new IllegalStateException("The plugin location " + path + " is a directory of classes, and not on executor "
                    + driver.executorID() + " at " + Utils.localHostName() + ": put it there, or make an archive of it");
            }
            return driverUrl;
        }
        try {
            long size = (Long) driver.ask(new Object[] {"size", driverUrl});
            Path local = same(path, size);
            return (local == null ? copy(driverUrl, path.getFileName().toString(), size) : local).toUri().toString();
        } catch (Exception e) {
            throw new IllegalStateException("The file " + path + " of a plugin could not be fetched from the driver: "
                + e.getMessage(), e);
        }
    }

    /** The same path, or one below the directory of `spark.archives` and `spark.files` that ends like it. */
    private static Path same(Path path, long size) throws IOException {
        if (Files.isRegularFile(path) && Files.size(path) == size) {
            return path;
        }
        for (int from = 0; from < path.getNameCount(); from++) {
            Path unpacked = Path.of(SparkFiles.getRootDirectory()).resolve(path.subpath(from, path.getNameCount()));
            if (Files.isRegularFile(unpacked) && Files.size(unpacked) == size) {
                return unpacked.toAbsolutePath();
            }
        }
        return null;
    }

    private synchronized Path copy(String driverUrl, String name, long size) throws Exception {
        if (copies == null) { // Spark deletes it at the end
            copies = Utils.createTempDir(System.getProperty("java.io.tmpdir"), "headrace-plugins").toPath();
        }
        Path copy = Files.createTempDirectory(copies, "").resolve(name);
        try (OutputStream out = Files.newOutputStream(copy)) {
            for (long from = 0; from < size;) {
                byte[] bytes = (byte[]) driver.ask(new Object[] {"bytes", driverUrl, from});
                out.write(bytes);
                from += bytes.length;
            }
        }
        return copy;
    }
}
