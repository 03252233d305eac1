package io.headrace.streams;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.catalyst.InternalRow;

/** The records of some ranges of offsets, of which parts may be wanted again. */
final class KeptRows {
    private final Map<TopicPartition, long[]> ranges;
    private final List<InternalRow> rows = new ArrayList<>();

    KeptRows(Map<TopicPartition, long[]> ranges, Iterator<InternalRow> records) {
        this.ranges = ranges;
        records.forEachRemaining(rows::add);
    }

    /** Whether ranges are part of these. */
    boolean cover(Map<TopicPartition, long[]> wanted) {
        return wanted.entrySet().stream().allMatch(one -> {
            long[] known = ranges.get(one.getKey());
            return known != null && known[0] <= one.getValue()[0] && one.getValue()[1] <= known[1];
        });
    }

    /** The records of ranges that these cover. */
    Iterator<InternalRow> of(Map<TopicPartition, long[]> wanted) {
        return rows.stream().filter(row -> {
            long[] range = wanted.get(new TopicPartition(row.getUTF8String(0).toString(), row.getInt(1)));
            return range != null && range[0] <= row.getLong(2) && row.getLong(2) < range[1];
        }).iterator();
    }
}
