package io.headrace.lanes;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordTooLargeException;

/** What a producer or broker refuses of single records, and the sentence for it. */
final class Refusals {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String OF_OTHERS = "Failed to append record because it was part of a batch";

    private Refusals() {
    }

    /** Pass over a record that is refused for good, where that is tolerated; returns whether it is. number -1: it was not sent. */
    static boolean skip(Exception e, Slot slot, long number, long offset, String topic) {
        if (!slot.part.spec.skipsRefused() || !isOfRecord(e)) {
            return false;
        }
        if (slot.refuse(number, offset)) {
            slot.part.failed(report(slot, offset, topic, e));
        }
        return true;
    }

    /** Whether it is this record that is refused, and will always be. A topic that takes nothing is no reason to pass its records over. */
    private static boolean isOfRecord(Exception e) {
        return e instanceof InvalidRecordException || e instanceof RecordTooLargeException || e instanceof InvalidTimestampException;
    }

    /** What the broker would say of a record with this many bytes. It is not asked: its answer has the producer split batches, endlessly. */
    static RecordTooLargeException tooLarge(int size, Target target) {
        return new RecordTooLargeException(size + " bytes of key and value, and max.message.bytes is " + target.maxMessageBytes());
    }

    /** Whether a record is refused only because others of its batch are. */
    static boolean isOfOthers(Exception e) {
        return e.getClass() == KafkaException.class && String.valueOf(e.getMessage()).startsWith(OF_OTHERS);
    }

    /** A report as of a chain: see {@code headrace.runtime.tolerance.FailedRecord}. */
    private static String report(Slot slot, long offset, String topic, Exception e) {
        ObjectNode report = JSON.createObjectNode();
        if (slot.part.spec.settings().files()) {
            report.put("file", slot.source.topic()).put("byte", String.valueOf(offset));
        } else {
            report.put("topic", slot.source.topic()).put("partition", String.valueOf(slot.source.partition()));
            report.put("offset", String.valueOf(offset));
        }
        ObjectNode failure = report.putObject("failure").put("step", "output.record").put("class", e.getClass().getName());
        failure.put("message", "Topic " + topic + " does not take it: " + e.getMessage());
        return report.toString();
    }
}
