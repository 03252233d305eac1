package io.headrace;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/**
 * The way from Spark's class path into the class loader of Kafka Connect's classes, where plugins run: names and JDK types only.
 *
 * <p>Nothing of Spark's is seen there but SLF4J and Log4j, which a worker of Kafka Connect has, too: plugins log where Spark does.
 */
public final class ConnectHost {
    private static BiFunction host;
    private static ClassLoader loader;
    private static final Map REMOTE = new ConcurrentHashMap(); // tasks whose host is another process: its port and secret

    private ConnectHost() {
    }

    /** Platform classes, and the application's SLF4J and Log4j; a plugin that brings its own sees that first. */
    static final class Base extends ClassLoader {
        private static final String[] LOGGING = {"org.slf4j.", "org.apache.logging.log4j.", "org.apache.log4j."};
        private final ClassLoader application;

        Base(ClassLoader application) {
            super(ClassLoader.getPlatformClassLoader());
            this.application = application;
        }

        protected Class findClass(String name) throws ClassNotFoundException {
            for (int i = 0; i < LOGGING.length; i++) {
                if (name.startsWith(LOGGING[i])) {
                    return application.loadClass(name);
                }
            }
            throw new ClassNotFoundException(name);
        }
    }

    /** jars: paths, separated as in a class path. Once per JVM: later calls do nothing. */
    public static synchronized void open(String jars) throws Exception {
        if (host != null) {
            return;
        }
        String[] paths = jars.split(File.pathSeparator);
        URL[] urls = new URL[paths.length];
        for (int i = 0; i < paths.length; i++) {
            urls[i] = new File(paths[i]).toURI().toURL();
        }
        loader = new URLClassLoader("connect", urls, new Base(ConnectHost.class.getClassLoader()));
        host = (BiFunction) loader.loadClass("io.headrace.connect.Host").getConstructor(new Class[0]).newInstance(new Object[0]);
        call("output", new Object[0]);
    }

    /** A question and its answer, as JSON. */
    public static String ask(String method, String request) {
        return (String) call("ask", new Object[] {method, request});
    }

    /** The records of this task are with the process that listens at this port. */
    public static void remote(String task, int port, String secret) {
        REMOTE.put(task, new Object[] {Integer.valueOf(port), secret});
    }

    public static void forget(String task) {
        REMOTE.remove(task);
    }

    /** The records of a range of what a source task has polled. */
    static Iterator rows(String task, long from, long to, boolean origin) {
        Object[] process = (Object[]) REMOTE.get(task);
        if (process != null) {
            return new RemoteRows(((Integer) process[0]).intValue(), (String) process[1], task, from, to, origin);
        }
        return (Iterator) call("rows", new Object[] {task, Long.valueOf(from), Long.valueOf(to), Boolean.valueOf(origin)});
    }

    public static synchronized boolean isOpen() {
        return host != null;
    }

    /** The class loader of Kafka Connect's classes; those of plugins are below it. Null until it is open. */
    public static synchronized ClassLoader loader() {
        return loader;
    }

    /** One of the methods of `io.headrace.connect.Host`. */
    public static Object call(String method, Object[] arguments) {
        if (host == null) {
            throw new IllegalStateException("No plugin runs in this JVM");
        }
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(loader);
        try {
            return host.apply(method, arguments);
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
