package io.headrace.connect;

/** The context class loader of the thread, while a plugin is called: plugins look for their own classes there. */
final class ContextLoader implements AutoCloseable {
    private final ClassLoader before = Thread.currentThread().getContextClassLoader();

    ContextLoader(ClassLoader loader) {
        Thread.currentThread().setContextClassLoader(loader);
    }

    /** That of a plugin's own class. */
    static ContextLoader in(Object plugin) {
        return new ContextLoader(plugin.getClass().getClassLoader());
    }

    @Override
    public void close() {
        Thread.currentThread().setContextClassLoader(before);
    }
}
