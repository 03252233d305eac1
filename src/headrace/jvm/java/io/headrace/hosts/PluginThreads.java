package io.headrace.hosts;

import org.apache.logging.log4j.LogManager;

/**
 * Threads that plugins start in an executor: one that ends with an exception ends alone, as in Kafka Connect.
 *
 * <p>Spark's own handler would end the executor, and with it the tasks of all connectors, here and wherever they start again.
 */
final class PluginThreads {
    private PluginThreads() {
    }

    /** Follow the threads whose context class loader is this one, or below it; of the others, and of lost memory, Spark hears. */
    static void follow(ClassLoader plugins) {
        Thread.UncaughtExceptionHandler ofSpark = Thread.getDefaultUncaughtExceptionHandler();
        if (ofSpark == null) { // Java prints it, and nothing else ends
            return;
        }
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> {
            if (error instanceof OutOfMemoryError || !isBelow(thread.getContextClassLoader(), plugins)) {
                ofSpark.uncaughtException(thread, error);
            } else { // where plugins log: their passwords are hidden there
                LogManager.getContext(plugins, false).getLogger(PluginThreads.class.getName())
                    .error("Thread {} of a plugin has ended", thread.getName(), error);
            }
        });
    }

    private static boolean isBelow(ClassLoader loader, ClassLoader top) {
        for (ClassLoader one = loader; one != null; one = one.getParent()) {
            if (one == top) {
                return true;
            }
        }
        return false;
    }
}
