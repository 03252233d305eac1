package io.headrace;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.FenceProducersResult;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.internals.ProducerIdAndEpoch;

/**
 * The transactional producers of this JVM, by transactional id, kept from batch to batch.
 *
 * <p>A transactional id is initialized in two places only: by the driver, which fences off whoever had it before, then reads the
 * stored offsets; and by {@link #begin}, in the process that is the first to write for it. The latter must be the very next one after
 * the former: if another owner of the id came in between, what the driver read is no longer true, and nothing may be written.
 */
public final class Transactions {
    private static final long IDLE_MS = 600000L; // Spark's own time-out for producers that nobody uses
    private static final long MOST_PAUSE_MS = 100;
    private static final HashMap HELD = new HashMap();

    private Transactions() {
    }

    /** A producer, and what the broker knows it by. */
    static final class Held {
        String run;
        KafkaProducer producer;
        long producerId;
        int epoch;
        long used;
        boolean busy;
    }

    /**
     * Fences off the owner of a transactional id, after which its open transaction has ended, and no other can be.
     *
     * <p>Returns the producer's id and its epoch: `[id, epoch]` as JSON.
     */
    public static String fence(Map settings, String id) throws Exception {
        AdminClient admin = AdminClient.create(settings);
        try {
            FenceProducersResult fenced = admin.fenceProducers(Collections.singleton(id));
            ArrayNode found = new ObjectMapper().createArrayNode();
            found.add(((Long) fenced.producerId(id).get()).longValue());
            found.add(((Number) fenced.epochId(id).get()).intValue());
            return found.toString();
        } finally {
            admin.close(Duration.ofSeconds(5L));
        }
    }

    /** Ends what this JVM has of a run: all of it, be it in the middle of a transaction. */
    public static void end(String run) {
        ArrayList ended = new ArrayList();
        synchronized (HELD) {
            Iterator each = HELD.values().iterator();
            while (each.hasNext()) {
                Held held = (Held) each.next();
                if (held.run.equals(run)) {
                    ended.add(held);
                    each.remove();
                }
            }
        }
        close(ended);
    }

    /** The producer of an id for a run of its task; expected: what the driver knows of it. */
    static Held take(String run, String id, Map settings, long producerId, int epoch) throws Exception {
        ArrayList ended = new ArrayList();
        Held held = null;
        synchronized (HELD) {
            forget(ended);
            held = (Held) HELD.get(id);
            if (held != null && (held.busy || !held.run.equals(run) || held.producerId != producerId || held.epoch != epoch)) {
                ended.add(held);
                HELD.remove(id);
                held = null;
            } else if (held != null) {
                held.busy = true;
            }
        }
        close(ended);
        return held == null ? make(run, id, settings, producerId, epoch) : held;
    }

    private static Held make(String run, String id, Map settings, long producerId, int epoch) throws Exception {
        Held made = new Held();
        made.run = run;
        made.busy = true;
        made.producer = new KafkaProducer(settings, new ByteArraySerializer(), new ByteArraySerializer());
        boolean ready = false;
        try {
            ProducerIdAndEpoch now = begin(made.producer, id, producerId, epoch);
            made.producerId = now.producerId;
            made.epoch = now.epoch;
            ready = true;
        } finally {
            if (!ready) {
                made.producer.close(Duration.ZERO);
            }
        }
        synchronized (HELD) {
            HELD.put(id, made);
        }
        return made;
    }

    /**
     * Initialize the transactions of a producer; blocks.
     *
     * @param producerId with {@code epoch}: of the {@link #fence} after which the stored offsets were read
     * @throws ProducerFencedException if another owner of the id came after that; those offsets may be old then
     */
    public static ProducerIdAndEpoch begin(Producer<byte[], byte[]> producer, String id, long producerId, int epoch) throws Exception {
        producer.initTransactions();
        ProducerIdAndEpoch now = known(producer);
        if (now.producerId != producerId || now.epoch != epoch + 1) {
            throw new ProducerFencedException("Another owner of the transactional id " + id + " came in between");
        }
        return now;
    }

    /** After a batch: kept for the next one, or closed if it failed. */
    static void give(String id, Held held, boolean good) {
        synchronized (HELD) {
            held.busy = false;
            held.used = System.currentTimeMillis();
            if (!good && HELD.get(id) == held) {
                HELD.remove(id);
            }
        }
        if (!good) {
            boolean interrupted = Thread.interrupted(); // else nothing of what follows would be waited for
            try {
                held.producer.abortTransaction();
            } catch (RuntimeException e) {
                // It was fenced off, or the brokers are away: the driver fences the id before anything else is written.
            }
            held.producer.close(Duration.ofSeconds(1L));
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void forget(ArrayList ended) {
        Iterator each = HELD.values().iterator();
        while (each.hasNext()) {
            Held held = (Held) each.next();
            if (!held.busy && System.currentTimeMillis() - held.used > IDLE_MS) {
                ended.add(held);
                each.remove();
            }
        }
    }

    private static void close(ArrayList ended) {
        for (int i = 0; i < ended.size(); i++) {
            ((Held) ended.get(i)).producer.close(Duration.ZERO);
        }
    }

    /**
     * Wait for the acknowledgements of what a producer was given; before a commit above all: a producer that is given a record and is to
     * commit at once may end the transaction without the record, as its thread looks for records before it looks for the end. The
     * record stays with it, and nothing behind that is ever sent. Not by {@code flush}, which never returns once the transaction has failed.
     *
     * @param waiting how many are not acknowledged; may throw, to wait no longer
     * @throws Exception what has made the transaction impossible to commit, so that the producer sends none of its records any more
     */
    public static void awaitRecords(Producer<byte[], byte[]> producer, Callable<Long> waiting) throws Exception {
        long beganMs = System.currentTimeMillis();
        RuntimeException error = null;
        while (waiting.call() > 0) {
            if (error != null) { // since the look before: the record that has caused it reports more
                throw error;
            }
            error = (Boolean) ask(producer, "hasError") ? (RuntimeException) ask(producer, "lastError") : null;
            Thread.sleep(Math.min(MOST_PAUSE_MS, 1 + (System.currentTimeMillis() - beganMs) / 16)); // a topic may be away for long
        }
    }

    private static ProducerIdAndEpoch known(Producer<byte[], byte[]> producer) throws Exception {
        return (ProducerIdAndEpoch) ask(producer, "producerIdAndEpoch");
    }

    /** No public method returns it; the version of kafka-clients is pinned in ivy.xml. */
    private static Object ask(Producer<byte[], byte[]> producer, String name) throws Exception {
        Field field = KafkaProducer.class.getDeclaredField("transactionManager");
        field.setAccessible(true);
        Object manager = field.get(producer);
        Method method = manager.getClass().getDeclaredMethod(name, new Class[0]);
        method.setAccessible(true);
        return method.invoke(manager, new Object[0]);
    }
}
