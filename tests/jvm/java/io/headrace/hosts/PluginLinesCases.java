package io.headrace.hosts;

import static io.headrace.Cases.equal;

import java.util.Collections;
import org.apache.logging.log4j.CloseableThreadContext;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** What plugins log in an executor, without either; the class loader of the cases is that of plugins. */
final class PluginLinesCases {
    private static final String CONFIGURATION = String.join("\n", "rootLogger.level = warn", "rootLogger.appenderRef.stderr.ref = stderr",
        "appender.stderr.type = Console", "appender.stderr.name = stderr", "appender.stderr.layout.type = PatternLayout",
        "appender.stderr.layout.pattern = %p %X{connector.context}%m%n", "logger.quiet.name = quiet", "logger.quiet.level = error");

    private PluginLinesCases() {
    }

    static void linesAreAsTheDriversConfigurationHasThemUntilTheyAreSent() throws Exception {
        PluginLines lines = following();
        log("io.plugin", "first");
        log("quiet.plugin", "left out");
        LogManager.getLogger("io.plugin").info("left out, too");
        equal(lines.waiting(), new String[] {"WARN [c|task-0] first\n"});
        log("io.plugin", "second");
        lines.sent(1);
        equal(lines.waiting(), new String[] {"WARN [c|task-0] second\n"});
    }

    static void ofTooManyLinesTheLastAreDroppedAndCounted() throws Exception {
        PluginLines lines = following();
        for (int line = 0; line < 1_003; line++) {
            log("io.plugin", "line " + line);
        }
        equal(lines.waiting().length, 1_000);
        lines.sent(1_000);
        equal(lines.waiting(), new String[] {dropped(3)});
    }

    static void linesThatAreTooLongForOneMessageOfSparksAreDroppedAndCounted() throws Exception {
        PluginLines lines = following();
        log("io.plugin", String.join("", Collections.nCopies(5 << 20, "x")));
        log("io.plugin", String.join("", Collections.nCopies(5 << 20, "y")));
        log("io.plugin", "short");
        equal(lines.waiting().length, 2);
        equal(lines.waiting()[1], "WARN [c|task-0] short\n");
        lines.sent(2);
        equal(lines.waiting(), new String[] {dropped(1)});
    }

    private static PluginLines following() throws Exception {
        PluginLines lines = new PluginLines("3");
        lines.follow(PluginLinesCases.class.getClassLoader(), CONFIGURATION);
        return lines;
    }

    private static void log(String logger, String text) {
        Logger log = LogManager.getLogger(logger);
        try (CloseableThreadContext.Instance put = CloseableThreadContext.put("connector.context", "[c|task-0] ")) {
            log.warn(text);
        }
    }

    private static String dropped(int count) {
        return "WARN [c|task-0] " + count + " lines are not in this log: executor 3 had too many for the driver\n";
    }
}
