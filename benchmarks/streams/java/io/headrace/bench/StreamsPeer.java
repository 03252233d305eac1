package io.headrace.bench;

import java.time.Duration;
import java.util.Iterator;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.KeyValueMapper;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.ValueJoiner;
import org.apache.kafka.streams.kstream.Windowed;

/** `StreamsPeer BROKERS PROGRAM APPLICATION RECORDS`: runs a program until it has read so many records and has ended; prints the seconds from RUNNING. */
public final class StreamsPeer {
    private StreamsPeer() {
    }

    public static void main(String[] arguments) throws Exception {
        for (int i = 2; i < arguments.length; i += 2) {
            run(arguments[0], arguments[1], arguments[i], Long.parseLong(arguments[i + 1]));
        }
        System.exit(0);
    }

    private static void run(String brokers, String program, String application, long records) throws Exception {
        Properties properties = new Properties();
        properties.put("application.id", application);
        properties.put("bootstrap.servers", brokers);
        properties.put("num.stream.threads", "2");
        if (Boolean.getBoolean("uncached")) {
            properties.put("statestore.cache.max.bytes", "0");
        }
        properties.put("state.dir", System.getProperty("java.io.tmpdir") + "/state-" + application + "-" + System.nanoTime());
        KafkaStreams streams = new KafkaStreams(topology(program), properties);
        long begin = System.nanoTime();
        streams.start();
        while (streams.state() != KafkaStreams.State.RUNNING) {
            Thread.sleep(1L);
        }
        if (!program.equals("restore")) {
            begin = System.nanoTime();
        }
        while (processed(streams) < records) {
            Thread.sleep(5L);
        }
        if (!program.equals("restore")) {
            streams.close(Duration.ofSeconds(60L));
        }
        System.out.println("seconds=" + (System.nanoTime() - begin) / 1e9);
        streams.close(Duration.ofSeconds(60L));
    }

    private static double processed(KafkaStreams streams) {
        double total = 0;
        Iterator entries = streams.metrics().entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry entry = (Map.Entry) entries.next();
            MetricName name = (MetricName) entry.getKey();
            if (name.name().equals("process-total") && name.group().equals("stream-thread-metrics")) {
                total += ((Double) ((Metric) entry.getValue()).metricValue()).doubleValue();
            }
        }
        return total;
    }

    private static org.apache.kafka.streams.Topology topology(String program) {
        StreamsBuilder builder = new StreamsBuilder();
        Consumed strings = Consumed.with(Serdes.String(), Serdes.String());
        KStream stream = builder.stream("records", strings);
        if (program.equals("join")) {
            KTable table = builder.table("table", strings);
            ValueJoiner joiner = new ValueJoiner() {
                public Object apply(Object value, Object row) {
                    return value + "|" + row;
                }
            };
            stream.join(table, joiner, Joined.with(Serdes.String(), Serdes.String(), Serdes.String())).to("out", Produced.with(Serdes.String(), Serdes.String()));
        } else if (program.equals("windowed-count")) {
            KTable counts = stream.groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
                .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMillis(60000L), Duration.ofMillis(60000L))).count();
            KeyValueMapper mapper = new KeyValueMapper() {
                public Object apply(Object key, Object value) {
                    return ((Windowed) key).key();
                }
            };
            counts.toStream(mapper).to("out", Produced.with(Serdes.String(), Serdes.Long()));
        } else {
            stream.groupByKey(Grouped.with(Serdes.String(), Serdes.String())).count(Materialized.as("counts"))
                .toStream().to("out", Produced.with(Serdes.String(), Serdes.Long()));
        }
        return builder.build();
    }
}
