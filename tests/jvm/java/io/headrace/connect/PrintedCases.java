package io.headrace.connect;

import static io.headrace.Cases.equal;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/** What threads of plugins, and others, print and log by java.util.logging. */
final class PrintedCases {
    private static final List<String> LOGGED = new ArrayList<>();
    private static final ByteArrayOutputStream PRINTED = new ByteArrayOutputStream();
    private static final ClassLoader PLUGIN = new PluginLoaders(PrintedCases.class.getClassLoader());

    static {
        PrintStream output = System.out; // where the names of the cases go
        System.setOut(new PrintStream(PRINTED, true, StandardCharsets.UTF_8) {
            @Override
            public void write(byte[] bytes, int from, int count) {
                super.write(bytes, from, count);
                output.write(bytes, from, count);
            }
        });
        System.setErr(System.out);
        Printed.take();
        LoggerContext context = (LoggerContext) LogManager.getContext(false);
        AbstractAppender list = new AbstractAppender("list", null, null, true, Property.EMPTY_ARRAY) {
            @Override
            public void append(LogEvent event) {
                LOGGED.add(event.getLevel() + " " + event.getLoggerName() + ": " + event.getMessage().getFormattedMessage());
                System.err.println("console"); // as an appender does that writes to what System.err is by then
            }
        };
        list.start();
        context.getRootLogger().addAppender(list);
        context.getConfiguration().getRootLogger().setLevel(Level.INFO);
        context.updateLoggers();
    }

    private PrintedCases() {
    }

    static void linesOfPluginsAreLogged() throws Exception {
        equal(logged(PLUGIN, () -> {
            System.out.print("one ");
            System.out.printf("line %s%n", "\u0416");
            System.err.println("two\r\nthree");
            System.out.write(0xff);
            System.out.println();
            System.out.print("begun");
        }), List.of("INFO stdout: one line \u0416", "WARN stderr: two", "WARN stderr: three", "INFO stdout: \ufffd"));
        equal(printed(), "console\n".repeat(4));
    }

    static void linesOfOthersStayAsTheyAre() throws Exception {
        equal(logged(PLUGIN.getParent(), () -> System.out.print("of Spark \u0416")), List.of());
        equal(printed(), "of Spark \u0416");
    }

    static void whatPluginsLogByJavaIsLogged() throws Exception {
        Runnable logging = () -> {
            java.util.logging.Logger log = java.util.logging.Logger.getLogger("org.example.Util");
            log.log(java.util.logging.Level.WARNING, "from {0}", "Java");
            log.fine("of no interest");
        };
        equal(logged(PLUGIN, logging), List.of("WARN org.example.Util: from Java"));
        equal(printed(), "console\n");
        equal(logged(PLUGIN.getParent(), logging), List.of());
    }

    private static List<String> logged(ClassLoader loader, Runnable work) throws Exception {
        LOGGED.clear();
        PRINTED.reset();
        Thread thread = new Thread(work);
        thread.setContextClassLoader(loader);
        thread.start();
        thread.join();
        return List.copyOf(LOGGED);
    }

    private static String printed(Object... none) {
        return PRINTED.toString(StandardCharsets.UTF_8);
    }
}
