package io.headrace;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Writes a batch, and the Connect offsets of what it holds, in a Kafka transaction (KIP-618): in an executor, in the pass that reads and
 * transforms the records.
 *
 * <p>Rows are topic, key, value, headers, partition. Returns, if there was a row, a JSON array: their number, id and epoch of the producer.
 */
public final class TransactionalWrite implements FlatMapFunction {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private final String plan;

    /**
     * @param plan JSON: run, settings (of the producer, with its transactional id), producer ([its id, its epoch]), offsets (a list of
     *     [topic, key, value or null])
     */
    public TransactionalWrite(String plan) {
        this.plan = plan;
    }

    public Iterator call(Object rows) throws Exception {
        ArrayList result = new ArrayList();
        Iterator given = (Iterator) rows;
        if (given.hasNext()) {
            result.add(write(given, (JsonNode) MAPPER.readTree(plan), TaskContext.get()));
        }
        return result.iterator();
    }

    private static String write(Iterator rows, JsonNode plan, TaskContext task) throws Exception {
        if (task.attemptNumber() > 0 || task.stageAttemptNumber() > 0) {
            // The attempt before may have committed: the batch has to be planned again, from the stored offsets.
            throw new ProducerFencedException("A batch is written once, and not again by another attempt");
        }
        Map settings = settings(field(plan, "settings"));
        String id = (String) settings.get("transactional.id");
        JsonNode known = field(plan, "producer");
        Transactions.Held held = Transactions.take(field(plan, "run").asText(), id, settings, at(known, 0).asLong(), at(known, 1).asInt());
        boolean good = false;
        try {
            long size = new Batch(held.producer).write(rows, field(plan, "offsets"));
            good = true;
            return MAPPER.createArrayNode().add(size).add(held.producerId).add(held.epoch).toString();
        } finally {
            Transactions.give(id, held, good);
        }
    }

    private static Map settings(JsonNode given) {
        HashMap settings = new HashMap();
        Iterator names = given.fieldNames();
        while (names.hasNext()) {
            String name = (String) names.next();
            settings.put(name, field(given, name).asText());
        }
        return settings;
    }

    /** A transaction of a producer. */
    private static final class Batch implements Callback {
        private final KafkaProducer producer;
        private final AtomicLong waiting = new AtomicLong();
        private volatile Exception failure;

        Batch(KafkaProducer producer) {
            this.producer = producer;
        }

        long write(Iterator rows, JsonNode offsets) throws Exception {
            long size = 0L;
            producer.beginTransaction();
            while (rows.hasNext()) {
                send(record((InternalRow) rows.next()));
                size++;
                check();
            }
            Transactions.awaitRecords(producer, waiting::get); // offsets come last: an open transaction must not hold up their readers
            check();
            for (int i = 0; i < offsets.size(); i++) {
                JsonNode one = at(offsets, i);
                String value = at(one, 2).isNull() ? null : at(one, 2).asText();
                send(new ProducerRecord(at(one, 0).asText(), bytes(at(one, 1).asText()), bytes(value)));
            }
            Transactions.awaitRecords(producer, waiting::get);
            producer.commitTransaction();
            return size;
        }

        private void send(ProducerRecord record) {
            waiting.incrementAndGet();
            producer.send(record, this);
        }

        private void check() throws Exception {
            if (failure != null) {
                throw failure;
            }
        }

        public void onCompletion(RecordMetadata metadata, Exception exception) {
            if (exception != null && failure == null) {
                failure = exception;
            }
            waiting.decrementAndGet();
        }
    }

    private static ProducerRecord record(InternalRow row) {
        RecordHeaders headers = new RecordHeaders();
        if (!row.isNullAt(3)) {
            ArrayData given = row.getArray(3);
            for (int i = 0; i < given.numElements(); i++) {
                InternalRow header = given.getStruct(i, 2);
                headers.add(header.getUTF8String(0).toString(), header.isNullAt(1) ? null : header.getBinary(1));
            }
        }
        return new ProducerRecord(row.getUTF8String(0).toString(), row.isNullAt(4) ? null : Integer.valueOf(row.getInt(4)), (Long) null,
            row.isNullAt(1) ? null : row.getBinary(1), row.isNullAt(2) ? null : row.getBinary(2), headers);
    }

    /** Janino takes the erased method of the superclass for the one that is meant. */
    private static JsonNode field(JsonNode node, String name) {
        return (JsonNode) node.get(name);
    }

    private static JsonNode at(JsonNode node, int index) {
        return (JsonNode) node.get(index);
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }
}
