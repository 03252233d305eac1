package io.headrace;

import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * How far a query has copied that writes without a pause, while it runs: each record leaves its offset here on its way
 * ({@code headrace_mark}), and the query's own producer says what is acknowledged, and at which offset (as its interceptor, told by
 * {@code headrace.run} which query that is). A Spark task takes one record after the other, so when a record leaves its mark, all
 * before it have been handed to the producer.
 *
 * <p>For queries whose tasks run in the driver's process.
 */
public final class Marks implements ProducerInterceptor {
    private static final ConcurrentHashMap RUNS = new ConcurrentHashMap();
    private static final ThreadLocal PLACE = new ThreadLocal(); // a Place: a Spark task reads one partition, record after record
    private Run run;

    /** One query. */
    static final class Run {
        final ConcurrentHashMap read = new ConcurrentHashMap(); // topic, a tab, partition -> Read
        final ConcurrentHashMap written = new ConcurrentHashMap(); // the same of the target -> Written
        volatile RuntimeException failure; // of a record that will not be written
        Thread flushing;
    }

    /** Where the marks of a thread go. */
    static final class Place {
        UTF8String name;
        UTF8String topic;
        int partition;
        Read read;
    }

    /** Milliseconds since the timestamps of records, since this was told last. */
    static final class Ages {
        private long records;
        private long last;
        private long least;
        private long most;
        private long sum;

        void take(long age) {
            last = Math.max(0L, age);
            least = records == 0L ? last : Math.min(least, last);
            most = records == 0L ? last : Math.max(most, last);
            sum += last;
            records++;
        }

        String tell() {
            String told = "\t" + records + "\t" + last + "\t" + least + "\t" + most + "\t" + sum;
            records = 0L;
            sum = 0L;
            return told;
        }
    }

    /** What has come by of a partition. */
    static final class Read {
        private final Ages ages = new Ages();
        private long records;
        private long bytes;
        private long last; // the offset of the last record

        synchronized void take(long offset, long millis, int size) {
            records++;
            bytes += size;
            last = offset;
            ages.take(System.currentTimeMillis() - millis);
        }

        synchronized long[] state() {
            return new long[] {records, last};
        }

        synchronized String tell() {
            String told = "\t" + bytes + ages.tell();
            bytes = 0L;
            return told;
        }
    }

    /** What is acknowledged of a partition. */
    static final class Written {
        private final Ages ages = new Ages();
        private long records;
        private long since = 1L; // the number of a record (the first is 1): from it on, each has the offset after the one before
        private long from = -1L; // its offset
        private long next = -1L;

        synchronized void take(RecordMetadata metadata) {
            records++;
            long offset = metadata.hasOffset() ? metadata.offset() : -1L;
            if (offset == -1L || offset != next) {
                since = records;
                from = offset;
            }
            next = offset == -1L ? -1L : offset + 1L;
            if (metadata.hasTimestamp()) {
                ages.take(System.currentTimeMillis() - metadata.timestamp());
            }
        }

        synchronized long count() {
            return records;
        }

        synchronized String tell() {
            return "\t" + records + "\t" + since + "\t" + from + ages.tell();
        }
    }

    public static void open(String name) {
        RUNS.put(name, new Run());
    }

    /** Not `close`, which an interceptor has too: of two methods of one name Py4J knows the one that it finds first. */
    public static void forget(String name) {
        RUNS.remove(name);
    }

    /** headrace_mark(name of a run, topic, partition, offset, timestamp in ms, bytes): always true, so that it can stand in a filter. */
    public static boolean mark(UTF8String name, UTF8String topic, int partition, long offset, long millis, int size) {
        Place place = (Place) PLACE.get();
        if (place == null || place.partition != partition || !topic.equals(place.topic) || !name.equals(place.name)) {
            Run run = (Run) RUNS.get(name.toString());
            if (run == null) {
                return true;
            }
            place = new Place();
            place.name = name.copy();
            place.topic = topic.copy();
            place.partition = partition;
            run.read.putIfAbsent(topic.toString() + "\t" + partition, new Read());
            place.read = (Read) run.read.get(topic.toString() + "\t" + partition);
            PLACE.set(place);
        }
        place.read.take(offset, millis, size);
        return true;
    }

    /**
     * What is in Kafka for good, of all that was on its way when this was called.
     *
     * @return a line for each partition that was written: "written", topic, partition, the records that are acknowledged, the number of
     *     the one from which on offsets have no gap, and its offset (-1: not known); one for each that was read: "read", topic,
     *     partition, the offset before which everything is acknowledged, how many records that is, and the bytes that have come by since
     *     this was asked last. At the end of both: how many records since then, the last, least and greatest age of one in ms, and
     *     the sum. Then "end". Tabs between; empty if that is not known within the time
     */
    public static String durable(String name, Producer producer, long timeoutMs) throws InterruptedException {
        Run run = (Run) RUNS.get(name);
        if (run == null || (run.flushing != null && run.flushing.isAlive())) {
            return "";
        }
        ConcurrentHashMap states = new ConcurrentHashMap(); // of what was read before the flush
        Iterator before = run.read.entrySet().iterator();
        while (before.hasNext()) {
            Map.Entry one = (Map.Entry) before.next();
            states.put(one.getKey(), ((Read) one.getValue()).state());
        }
        run.flushing = new Thread(new Flush(producer, run), "headrace-flush");
        run.flushing.setDaemon(true);
        run.flushing.start();
        run.flushing.join(timeoutMs);
        if (run.failure != null) { // a Spark task notices with its next record, which may be long in coming
            throw run.failure;
        }
        if (run.flushing.isAlive()) {
            return "";
        }
        StringBuilder lines = new StringBuilder();
        long acknowledged = 0L;
        Iterator written = run.written.entrySet().iterator();
        while (written.hasNext()) {
            Map.Entry one = (Map.Entry) written.next();
            acknowledged += ((Written) one.getValue()).count();
            lines.append("written\t").append(one.getKey()).append(((Written) one.getValue()).tell()).append('\n');
        }
        // The last record of a partition may still be on its way to the producer, unless as many are acknowledged as left a mark.
        boolean all = acknowledged == count(states) && !moved(run, states);
        Iterator read = states.entrySet().iterator();
        while (read.hasNext()) {
            Map.Entry one = (Map.Entry) read.next();
            long[] state = (long[]) one.getValue();
            lines.append("read\t").append(one.getKey()).append('\t').append(state[1] + (all ? 1L : 0L)).append('\t');
            lines.append(state[0] - (all ? 0L : 1L)).append(((Read) run.read.get(one.getKey())).tell()).append('\n');
        }
        return lines.append("end\n").toString();
    }

    private static long count(Map states) {
        long records = 0L;
        Iterator all = states.values().iterator();
        while (all.hasNext()) {
            records += ((long[]) all.next())[0];
        }
        return records;
    }

    private static boolean moved(Run run, Map states) {
        Iterator all = run.read.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry one = (Map.Entry) all.next();
            long[] before = (long[]) states.get(one.getKey());
            if (before == null || before[0] != ((Read) one.getValue()).state()[0]) {
                return true;
            }
        }
        return false;
    }

    /** Flushes the producer. */
    static final class Flush implements Runnable {
        private final Producer producer;
        private final Run run;

        Flush(Producer producer, Run run) {
            this.producer = producer;
            this.run = run;
        }

        public void run() {
            try {
                producer.flush();
            } catch (RuntimeException e) {
                run.failure = e;
            }
        }
    }

    public void configure(Map configs) {
        Object name = configs.get("headrace.run");
        run = name == null ? null : (Run) RUNS.get(name.toString());
    }

    public ProducerRecord onSend(ProducerRecord record) {
        return record;
    }

    public void onAcknowledgement(RecordMetadata metadata, Exception exception) {
        if (run == null) {
            return;
        }
        if (exception instanceof InterruptException) {
            return; // the query is ended, and the record has left its mark, but has not been handed over
        }
        if (exception != null) {
            String where = "topic " + metadata.topic() + ", partition " + metadata.partition() + ": " + exception.getMessage();
            run.failure = exception instanceof RecordTooLargeException ? new RecordTooLargeException(where)
                : new KafkaException(where, exception);
            return;
        }
        String copy = metadata.topic() + "\t" + metadata.partition();
        Written written = (Written) run.written.get(copy);
        if (written == null) {
            run.written.putIfAbsent(copy, new Written());
            written = (Written) run.written.get(copy);
        }
        written.take(metadata);
    }

    public void close() {
    }
}
