package io.headrace.hosts;

import static io.headrace.Cases.equal;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;

/** Threads that end with an exception where Spark would end the executor for it: here it writes down that it would. */
final class PluginThreadsCases {
    private static final ClassLoader CONNECT = new URLClassLoader(new URL[0], PluginThreadsCases.class.getClassLoader());
    private static final ClassLoader PLUGIN = new URLClassLoader(new URL[0], CONNECT);

    private PluginThreadsCases() {
    }

    static void thoseOfPluginsEndAlone() throws Exception {
        equal(heard(PLUGIN, new NoClassDefFoundError("org.example.Gone")), List.of());
        equal(heard(CONNECT, new IllegalStateException()), List.of());
    }

    static void ofOthersSparkHears() throws Exception {
        Error error = new NoClassDefFoundError("org.example.Gone");
        equal(heard(CONNECT.getParent(), error), List.of(error));
        equal(heard(null, error), List.of(error));
    }

    static void ofLostMemorySparkHears() throws Exception {
        Error error = new OutOfMemoryError("no memory");
        equal(heard(PLUGIN, error), List.of(error));
    }

    /** What Spark hears of a thread with this context class loader that throws this. */
    private static List<Throwable> heard(ClassLoader loader, Throwable error) throws Exception {
        List<Throwable> heard = new ArrayList<>();
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> heard.add(thrown));
        PluginThreads.follow(CONNECT);
        Thread thread = new Thread(() -> {
            if (error instanceof Error) {
                throw (Error) error;
            }
            throw (RuntimeException) error;
        });
        thread.setContextClassLoader(loader);
        thread.start();
        thread.join();
        return heard;
    }
}
