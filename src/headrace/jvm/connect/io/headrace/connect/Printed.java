package io.headrace.connect;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.logging.Filter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has in the log what plugins print, line by line, or log by java.util.logging: whose it is is said there, and passwords are hidden.
 *
 * <p>What other threads print is left as it is. A plugin's thread is one whose context class loader is that of a plugin.
 */
final class Printed extends OutputStream {
    private static final int LONGEST = 1 << 16; // of a line, in bytes: what is longer is several lines
    private static final ThreadLocal<Boolean> LOGGING = ThreadLocal.withInitial(() -> false);
    private static boolean taken;

    private final PrintStream before;
    private final boolean error;
    private final Logger log;
    private final ThreadLocal<ByteArrayOutputStream> line = ThreadLocal.withInitial(ByteArrayOutputStream::new);

    private Printed(PrintStream before, boolean error) {
        this.before = before;
        this.error = error;
        this.log = LoggerFactory.getLogger(error ? "stderr" : "stdout");
    }

    /** Take what is printed in this process from now on; once. */
    static synchronized void take() {
        if (taken) {
            return;
        }
        taken = true;
        System.setOut(new PrintStream(new Printed(System.out, false), true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(new Printed(System.err, true), true, StandardCharsets.UTF_8));
        java.util.logging.Logger root = java.util.logging.Logger.getLogger("");
        for (Handler handler : root.getHandlers()) {
            Filter own = handler.getFilter();
            handler.setFilter(record -> !isOfPlugin() && (own == null || own.isLoggable(record)));
        }
        root.addHandler(new ToLog());
    }

    private static boolean isOfPlugin() {
        for (ClassLoader one = Thread.currentThread().getContextClassLoader(); one != null; one = one.getParent()) {
            if (one instanceof PluginLoaders) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void write(int single) {
        write(new byte[] {(byte) single}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int count) {
        if (LOGGING.get() || !isOfPlugin()) { // the log itself may end here
            before.write(bytes, from, count);
            return;
        }
        ByteArrayOutputStream begun = line.get();
        for (byte one : Arrays.copyOfRange(bytes, from, from + count)) {
            if (one != '\n') {
                begun.write(one);
            }
            if (one == '\n' || begun.size() >= LONGEST) {
                String text = begun.toString(StandardCharsets.UTF_8);
                begun.reset();
                log(text.endsWith("\r") ? text.substring(0, text.length() - 1) : text);
            }
        }
    }

    private void log(String text) {
        logging(() -> log.atLevel(error ? org.slf4j.event.Level.WARN : org.slf4j.event.Level.INFO).log("{}", text));
    }

    private static void logging(Runnable logged) {
        LOGGING.set(true);
        try {
            logged.run();
        } finally {
            LOGGING.set(false);
        }
    }

    @Override
    public void flush() {
        if (LOGGING.get() || !isOfPlugin()) {
            before.flush();
        }
    }

    /** What a plugin logs by java.util.logging, under the same names and levels. */
    private static final class ToLog extends Handler {
        private final SimpleFormatter formatter = new SimpleFormatter();

        @Override
        public void publish(LogRecord record) {
            if (LOGGING.get() || !isOfPlugin() || !isLoggable(record)) {
                return;
            }
            Logger log = LoggerFactory.getLogger(record.getLoggerName() == null ? "" : record.getLoggerName());
            String text = formatter.formatMessage(record);
            logging(() -> log.atLevel(level(record.getLevel())).setCause(record.getThrown()).log("{}", text));
        }

        private static org.slf4j.event.Level level(Level level) {
            int value = level.intValue();
            return value >= Level.SEVERE.intValue() ? org.slf4j.event.Level.ERROR
                : value >= Level.WARNING.intValue() ? org.slf4j.event.Level.WARN
                : value >= Level.CONFIG.intValue() ? org.slf4j.event.Level.INFO : org.slf4j.event.Level.DEBUG;
        }

        @Override
        public void flush() {
        }

        @Override
        public void close() {
        }
    }
}
