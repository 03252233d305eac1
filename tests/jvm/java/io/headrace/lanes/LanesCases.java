package io.headrace.lanes;

import static io.headrace.Cases.equal;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.spark.sql.catalyst.InternalRow;

/** What becomes of the feeds of a lane, moment by moment. */
final class LanesCases {
    private static final int OFFSET = 4; // among a chain's input

    private LanesCases() {
    }

    static void aLookAheadEndsAtARecordThatOverflowsTheStack() throws Exception {
        List<Long> seen = new ArrayList<>();
        Chain chain = Given.chain(row -> {
            seen.add(row.getLong(OFFSET));
            return row.getLong(OFFSET) == 2 ? overflow(row) : Given.row(Chain.NEED, "{\"value\":\"new\"}");
        });
        News news = new News();
        List<ConsumerRecord<byte[], byte[]>> behind = List.of(Given.record(1), Given.record(2), Given.record(3));
        new Chains(chain).ask(behind, Given.slot(chain), news);
        equal(seen, List.of(1L, 2L));
        equal(news.schemas("{\"value\":\"new\"}"), 1); // the record before it is asked for
    }

    static void aLookAheadEndsAtARecordWhoseClassCannotBeLoaded() throws Exception {
        Chain chain = Given.chain(row -> {
            throw new NoClassDefFoundError("com/example/Missing");
        });
        new Chains(chain).ask(List.of(Given.record(1)), Given.slot(chain), new News());
    }

    private static InternalRow overflow(InternalRow row) {
        return overflow(row).copy();
    }
}
