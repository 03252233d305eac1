package io.headrace.connect;

/** The context class loader of the thread, while a plugin is called: plugins look for their own classes there. */
final class Swap implements AutoCloseable {
    private final ClassLoader before = Thread.currentThread().getContextClassLoader();

    Swap(ClassLoader loader) {
        Thread.currentThread().setContextClassLoader(loader);
    }

    /** That of a plugin's own class. */
    static Swap in(Object plugin) {
        return new Swap(plugin.getClass().getClassLoader());
    }

    @Override
    public void close() {
        Thread.currentThread().setContextClassLoader(before);
    }
}
