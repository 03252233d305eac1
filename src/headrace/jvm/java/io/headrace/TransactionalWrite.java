package io.headrace;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
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
 * Writes each partition of a batch, and the Connect offsets of what it holds, in Kafka transactions (KIP-618): in the executors, in the
 * pass that reads and transforms the records.
 *
 * <p>Rows are topic, key, value, headers, partition, then, as text, what identifies the source partition of a record, then its number there
 * (or null). Returns for each Spark partition that wrote something a JSON array: the number of its writer, id and epoch of the producer,
 * the sizes of its transactions, and the source partitions whose offsets they hold.
 */
public final class TransactionalWrite implements FlatMapFunction {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int FIRST = 5; // the first column that identifies the source partition
    private final String plan;

    /**
     * @param plan JSON: run, settings (of the producer), writers ([transactional id, producer id, epoch] each), names (how many columns
     *     tell the source partition), offsets (source partition to a list of [topic, key, value or null]), roll_ms (how old a transaction
     *     may get before the next one begins), number (the field of the offset that is the record's number, or null: it cannot end
     *     before the batch does)
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
            throw new ProducerFencedException("A partition of a batch is written once, and not again by another attempt");
        }
        JsonNode writer = at(field(plan, "writers"), task.partitionId());
        String id = at(writer, 0).asText();
        Map settings = settings(field(plan, "settings"), id, task.partitionId());
        Transactions.Held held =
            Transactions.take(field(plan, "run").asText(), id, settings, at(writer, 1).asLong(), at(writer, 2).asInt());
        boolean good = false;
        try {
            Batch batch = new Batch(plan, held.producer);
            batch.write(rows);
            good = true;
            return batch.result(task.partitionId(), held).toString();
        } finally {
            Transactions.give(id, held, good);
        }
    }

    private static Map settings(JsonNode given, String id, int writer) {
        HashMap settings = new HashMap();
        Iterator names = given.fieldNames();
        while (names.hasNext()) {
            String name = (String) names.next();
            settings.put(name, field(given, name).asText());
        }
        settings.put("transactional.id", id);
        if (writer > 0) {
            settings.put("client.id", settings.get("client.id") + "." + writer);
        }
        return settings;
    }

    /** What one writer does of a batch. */
    private static final class Batch implements Callback {
        private final JsonNode offsets;
        private final int names;
        private final long rollMs;
        private final String number;
        private final KafkaProducer producer;
        private final UTF8String[] part; // the source partition of the last record
        private final LinkedHashMap open = new LinkedHashMap(); // source partition -> number of its last record in the transaction
        private final LinkedHashMap done = new LinkedHashMap();
        private final ArrayList sizes = new ArrayList();
        private volatile Exception failure;
        private String name;
        private long size;
        private long last;
        private long begun;

        Batch(JsonNode plan, KafkaProducer producer) {
            this.offsets = field(plan, "offsets");
            this.names = field(plan, "names").asInt();
            this.rollMs = field(plan, "roll_ms").asLong();
            this.number = field(plan, "number").isNull() ? null : field(plan, "number").asText();
            this.producer = producer;
            this.part = new UTF8String[names];
        }

        void write(Iterator rows) throws Exception {
            begin();
            while (rows.hasNext()) {
                InternalRow row = (InternalRow) rows.next();
                follow(row);
                producer.send(record(row), this);
                size++;
                if (failure != null) {
                    throw failure;
                }
                if (number != null) {
                    last = row.getLong(FIRST + names);
                    if ((size & 1023L) == 0L && System.currentTimeMillis() - begun > rollMs) {
                        commit(false);
                        begin();
                    }
                }
            }
            commit(true);
        }

        private void begin() {
            producer.beginTransaction();
            begun = System.currentTimeMillis();
            size = 0L;
            open.clear();
        }

        /** Remember which source partitions the transaction has records of. */
        private void follow(InternalRow row) {
            boolean same = name != null;
            for (int i = 0; same && i < names; i++) {
                same = part[i].equals(row.getUTF8String(FIRST + i));
            }
            if (!same) {
                if (name != null) {
                    open.put(name, Long.valueOf(last));
                }
                ArrayNode found = MAPPER.createArrayNode();
                for (int i = 0; i < names; i++) {
                    part[i] = row.getUTF8String(FIRST + i).copy();
                    found.add(part[i].toString());
                }
                name = found.toString();
            }
        }

        /** @param whole whether the batch ends here: else the last source partition continues in the next transaction */
        private void commit(boolean whole) throws Exception {
            producer.flush(); // the offsets come last: a transaction that stays open must not hold up the readers of offsets
            if (failure != null) {
                throw failure;
            }
            open.put(name, Long.valueOf(last));
            Iterator parts = open.entrySet().iterator();
            while (parts.hasNext()) {
                Map.Entry each = (Map.Entry) parts.next();
                boolean ends = whole || !each.getKey().equals(name);
                put((String) each.getKey(), ends ? null : (Long) each.getValue());
            }
            producer.commitTransaction();
            done.putAll(open);
            sizes.add(Long.valueOf(size));
        }

        /** @param number of the last record, null: the offset at the end of the batch */
        private void put(String part, Long at) throws Exception {
            JsonNode records = field(offsets, part);
            if (records == null) {
                throw new IllegalStateException("The batch has records of " + part + ", which it does not cover");
            }
            for (int i = 0; i < records.size(); i++) {
                JsonNode one = at(records, i);
                String value = at(one, 2).isNull() ? null : at(one, 2).asText();
                if (value != null && at != null) {
                    value = ((ObjectNode) MAPPER.readTree(value)).put(number, at).toString();
                }
                producer.send(new ProducerRecord(at(one, 0).asText(), bytes(at(one, 1).asText()), bytes(value)), this);
            }
        }

        ArrayNode result(int writer, Transactions.Held held) {
            ArrayNode result = MAPPER.createArrayNode().add(writer).add(held.producerId).add(held.epoch);
            ArrayNode counts = result.addArray();
            for (int i = 0; i < sizes.size(); i++) {
                counts.add((Long) sizes.get(i));
            }
            ArrayNode parts = result.addArray();
            Iterator names = done.keySet().iterator();
            while (names.hasNext()) {
                parts.add((String) names.next());
            }
            return result;
        }

        public void onCompletion(RecordMetadata metadata, Exception exception) {
            if (exception != null && failure == null) {
                failure = exception;
            }
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
