package io.headrace.bench;

import java.io.FileInputStream;
import java.lang.management.ManagementFactory;
import java.util.Base64;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/**
 * Kafka Connect's own converters and transforms in a loop: no broker, no worker, no queue.
 *
 * <p>Arguments: the connector's properties, a file of records ({@link RecordFile}), threads, warm-up passes, rounds. Every pass and
 * round is the whole file; each thread has a chain of its own, as every task of Connect has, and takes POLL records at a time. One
 * line is printed per round: {@code round records=… seconds=… process_cpu=… thread_cpu=… out=… bytes=…}; at the end a line {@code
 * sample …} with the new value, in base64, of every record among the first SAMPLES of its partition.
 *
 * <p>No generics, because Janino, which compiles this file, checks the erased signatures.
 */
public final class ChainLoop {
    private static final int POLL = 500; // max.poll.records
    private static final int SAMPLES = 20;

    private ChainLoop() {
    }

    public static void main(String[] args) throws Exception {
        Map props = load(args[0]);
        RecordFile records = new RecordFile(args[1]);
        int threads = Integer.parseInt(args[2]);
        int warmUp = Integer.parseInt(args[3]);
        int rounds = Integer.parseInt(args[4]);
        Runner[] runners = new Runner[threads];
        for (int i = 0; i < threads; i++) {
            runners[i] = new Runner(records, new Chain(props));
        }
        for (int i = 0; i < warmUp + rounds; i++) {
            String line = round(records, runners);
            System.out.println((i < warmUp ? "warm-up " : "round ") + line);
        }
        for (int i = 0; i < records.size(); i++) {
            byte[] value = records.offset(i) < SAMPLES ? runners[0].run(i) : null;
            if (value != null) {
                System.out.println("sample " + Base64.getEncoder().encodeToString(value));
            }
        }
    }

    private static String round(RecordFile records, Runner[] runners) throws Exception {
        com.sun.management.OperatingSystemMXBean system =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        AtomicInteger next = new AtomicInteger();
        Thread[] threads = new Thread[runners.length];
        long cpu = system.getProcessCpuTime();
        long start = System.nanoTime();
        for (int i = 0; i < runners.length; i++) {
            runners[i].next = next;
            threads[i] = new Thread(runners[i], "chain-" + i);
            threads[i].start();
        }
        long threadCpu = 0;
        long out = 0;
        long bytes = 0;
        for (int i = 0; i < runners.length; i++) {
            threads[i].join();
            if (runners[i].failure != null) {
                throw new Exception("a chain failed", runners[i].failure);
            }
            threadCpu += runners[i].cpu;
            out += runners[i].out;
            bytes += runners[i].bytes;
        }
        long nanos = System.nanoTime() - start;
        cpu = system.getProcessCpuTime() - cpu;
        return "records=" + records.size() + " seconds=" + nanos / 1e9 + " process_cpu=" + cpu / 1e9 + " thread_cpu=" + threadCpu / 1e9
            + " out=" + out + " bytes=" + bytes;
    }

    private static Map load(String file) throws Exception {
        Properties properties = new Properties();
        FileInputStream in = new FileInputStream(file);
        try {
            properties.load(in);
        } finally {
            in.close();
        }
        return new HashMap(properties);
    }

    /** The properties below a prefix, without it. */
    static Map below(Map props, String prefix) {
        Map found = new HashMap();
        for (Iterator i = props.entrySet().iterator(); i.hasNext();) {
            Map.Entry entry = (Map.Entry) i.next();
            String name = (String) entry.getKey();
            if (name.startsWith(prefix)) {
                found.put(name.substring(prefix.length()), entry.getValue());
            }
        }
        return found;
    }

    /** An instance of the class that a property names, configured with the properties below its prefix. */
    static Converter converter(Map props, String name) throws Exception {
        Converter converter = (Converter) Class.forName((String) props.get(name)).getDeclaredConstructor().newInstance();
        converter.configure(below(props, name + "."), false);
        return converter;
    }

    /** What one task of Connect does to a record: read it, transform it, write it. */
    static final class Chain {
        private final Converter read;
        private final Converter write;
        private final Transformation[] transforms;
        private final Predicate[] predicates;
        private final boolean[] negate;

        Chain(Map props) throws Exception {
            read = converter(props, "source.value.converter");
            write = converter(props, "value.converter");
            String[] names = ((String) props.get("transforms")).split(",");
            transforms = new Transformation[names.length];
            predicates = new Predicate[names.length];
            negate = new boolean[names.length];
            for (int i = 0; i < names.length; i++) {
                Map own = below(props, "transforms." + names[i] + ".");
                transforms[i] = (Transformation) Class.forName((String) own.remove("type")).getDeclaredConstructor().newInstance();
                String predicate = (String) own.remove("predicate");
                negate[i] = Boolean.parseBoolean((String) own.remove("negate"));
                transforms[i].configure(own);
                if (predicate != null) {
                    Map its = below(props, "predicates." + predicate + ".");
                    predicates[i] = (Predicate) Class.forName((String) its.remove("type")).getDeclaredConstructor().newInstance();
                    predicates[i].configure(its);
                }
            }
        }

        /** The value to be written; null if the record was dropped. */
        byte[] run(String topic, int partition, long timestamp, byte[] key, byte[] value) {
            SchemaAndValue given = read.toConnectData(topic, value);
            ConnectRecord record = new SourceRecord(null, null, topic, Integer.valueOf(partition), Schema.OPTIONAL_BYTES_SCHEMA, key,
                given.schema(), given.value(), Long.valueOf(timestamp));
            for (int i = 0; i < transforms.length; i++) {
                if (predicates[i] == null || predicates[i].test(record) != negate[i]) {
                    record = transforms[i].apply(record);
                    if (record == null) {
                        return null;
                    }
                }
            }
            return write.fromConnectData(record.topic(), record.valueSchema(), record.value());
        }
    }

    /** One thread's share of a round. */
    static final class Runner implements Runnable {
        private final RecordFile records;
        private final Chain chain;
        AtomicInteger next;
        Throwable failure;
        long cpu;
        long out;
        long bytes;

        Runner(RecordFile records, Chain chain) {
            this.records = records;
            this.chain = chain;
        }

        byte[] run(int record) {
            return chain.run(records.topic(record), records.partition(record), records.timestamp(record), records.key(record),
                records.value(record));
        }

        public void run() {
            try {
                long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
                out = 0;
                bytes = 0;
                int from = next.getAndAdd(POLL);
                while (from < records.size()) {
                    int to = Math.min(from + POLL, records.size());
                    for (int i = from; i < to; i++) {
                        byte[] value = run(i);
                        if (value != null) {
                            out++;
                            bytes += value.length;
                        }
                    }
                    from = next.getAndAdd(POLL);
                }
                cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start;
            } catch (Throwable e) {
                failure = e;
            }
        }
    }
}
