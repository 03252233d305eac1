package io.headrace.hosts;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.apache.logging.log4j.CloseableThreadContext;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.Appender;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configuration;
import org.apache.logging.log4j.core.config.ConfigurationSource;
import org.apache.logging.log4j.core.config.Property;
import org.apache.logging.log4j.core.config.properties.PropertiesConfigurationFactory;

/**
 * What plugins in an executor log, until it is with the driver, which writes it to its own log: headrace hides passwords there.
 *
 * <p>Plugins have a context of Log4j's of their own, by their class loader. So Spark's log is as it was.
 */
final class PluginLines {
    private static final String WHOSE = "connector.context"; // as Kafka Connect's LoggingContext has it
    private static final String APPENDER = "stderr"; // in the driver's configuration
    private static final int MOST_LINES = 1_000;
    private static final int MOST_CHARACTERS = 8 << 20; // of all lines: Spark's RPC takes 128 MB
    private final String executor;
    private final ArrayDeque<String> lines = new ArrayDeque<>();
    private final Map<String, Integer> dropped = new HashMap<>(); // by whose they were
    private int characters;
    private LoggerContext context; // held here: Log4j forgets one that nobody holds, and makes another one

    PluginLines(String executor) {
        this.executor = executor;
    }

    /** Take what is logged by classes of this loader, and of those below it, as the driver would log it: with its configuration. */
    synchronized void follow(ClassLoader plugins, String configuration) throws IOException {
        context = (LoggerContext) LogManager.getContext(plugins, false);
        ConfigurationSource source = new ConfigurationSource(new ByteArrayInputStream(configuration.getBytes(StandardCharsets.UTF_8)));
        Configuration driver = new PropertiesConfigurationFactory().getConfiguration(context, source);
        driver.initialize();
        Appender console = driver.getAppender(APPENDER);
        Appender queue = new AbstractAppender("driver", null, console.getLayout(), true, Property.EMPTY_ARRAY) {
            @Override
            public void append(LogEvent event) {
                add(event.getContextData().getValue(WHOSE), (String) getLayout().toSerializable(event));
            }
        };
        queue.start();
        driver.addAppender(queue);
        driver.getRootLogger().removeAppender(APPENDER);
        driver.getRootLogger().addAppender(queue, null, null);
        context.reconfigure(driver);
    }

    private synchronized void add(String whose, String line) {
        if (lines.size() == MOST_LINES || characters + line.length() > MOST_CHARACTERS) {
            dropped.merge(whose == null ? "" : whose, 1, Integer::sum);
        } else {
            lines.add(line);
            characters += line.length();
        }
    }

    /** All there are, oldest first. */
    synchronized String[] waiting() {
        return lines.toArray(new String[0]);
    }

    /** The oldest are with the driver. What was dropped is said now that there is room again. */
    void sent(int count) {
        Map<String, Integer> counts;
        synchronized (this) {
            for (int i = 0; i < count; i++) {
                characters -= lines.remove().length();
            }
            counts = new HashMap<>(dropped);
            dropped.clear();
        }
        counts.forEach((whose, number) -> {
            try (CloseableThreadContext.Instance put = CloseableThreadContext.put(WHOSE, whose)) {
                context.getLogger(PluginLines.class.getName())
                    .warn("{} lines are not in this log: executor {} had too many for the driver", number, executor);
            }
        });
    }
}
