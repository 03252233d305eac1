package io.headrace.lanes;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.spark.sql.catalyst.InternalRow;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The chains of a feed in one lane, by what each of them knows: records with many schemas need many. For one thread at a time. */
final class Chains {
    private static final Logger LOG = LoggerFactory.getLogger(Chains.class);
    private static final int MOST = 16_384;
    private static final int MOST_ASKED = 32; // at once
    private static final int MOST_LOOKED_AT = 256; // since the last one that needed what was not asked for yet

    private Chain chain; // that the record before went through
    private final Map<String, Chain> byNeed = new LinkedHashMap<>(16, 0.75f, true) { // by `schemas`
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Chain> eldest) {
            return size() > MOST; // it is asked for again
        }
    };

    Chains(Chain first) {
        chain = first;
    }

    /** What becomes of a record ({@link Chain#apply}); it may have a {@link #need} that no chain knows. */
    InternalRow apply(ConsumerRecord<byte[], byte[]> record, Slot slot) throws Exception {
        slot.answers.begin(record.offset());
        InternalRow row = chain.apply(record, slot.destination);
        String need = need(row);
        Chain other = need == null ? null : byNeed.get(schemas(need));
        if (other == null || other == chain) {
            return row;
        }
        chain = other;
        slot.answers.repeat();
        return chain.apply(record, slot.destination);
    }

    /** What has to be known before a record can continue, null if nothing has. */
    static String need(InternalRow row) {
        return row == null || row.numFields() <= Chain.NEED || row.isNullAt(Chain.NEED) ? null : row.getString(Chain.NEED);
    }

    /** A need without the topic, its last member: who asks the registry tells it for whom, but a chain reads a schema of any topic. */
    private static String schemas(String need) {
        int end = need.lastIndexOf(",\"topic\":");
        return end < 0 ? need : need.substring(0, end) + "}";
    }

    /** Ask for what records will need that no chain knows: one chain knows several schemas. */
    void ask(List<ConsumerRecord<byte[], byte[]>> records, Slot slot, ReportBuffer unreported) {
        int asked = 0;
        int last = 0;
        try {
            for (int i = 0; i < records.size() && asked < MOST_ASKED && i - last <= MOST_LOOKED_AT; i++) {
                slot.answers.begin(records.get(i).offset());
                String need = need(chain.apply(records.get(i), slot.destination));
                slot.answers.keep();
                int before = asked;
                asked = need == null || byNeed.containsKey(schemas(need)) ? asked : unreported.schemas(need);
                last = asked == before ? last : i;
            }
        } catch (Throwable e) { // an Error of one record: the lane's other feeds continue
            LOG.debug("A record cannot be looked at ahead; it says so itself when its turn comes", e);
        }
    }

    void put(Chain newChain, List<String> needs) {
        chain = newChain;
        for (String need : needs) {
            byNeed.put(schemas(need), newChain);
        }
    }
}
