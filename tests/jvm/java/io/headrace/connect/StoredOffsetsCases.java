package io.headrace.connect;

import static io.headrace.Cases.equal;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.connect.errors.ConnectException;

/** What plugins hear of stored offsets. */
final class StoredOffsetsCases {
    private static final Map<String, Object> GOOD = Map.of("table", "a");
    private static final Map<String, Object> OTHER = Map.of("table", "b");
    private static final Map<String, Object> BAD = Map.of("tables", List.of("a")); // it has no text in Kafka Connect's topic
    private final Events events = new Events();
    private final StoredOffsets offsets = new StoredOffsets("c-0", events);

    private StoredOffsetsCases() {
    }

    static void eachPartitionHasItsOffsetOrNull() throws Exception {
        StoredOffsetsCases task = new StoredOffsetsCases();
        Map<Map<String, Object>, Object> expected = new HashMap<>(Map.of(GOOD, Map.of("at", 5L)));
        expected.put(OTHER, null);
        equal(task.read(List.of(GOOD, OTHER), List.of("{\"table\":\"a\"}", "{\"table\":\"b\"}"), "{\"at\":5}", "null"), expected);
    }

    static void aPartitionThatCannotBeStoredIsLeftOutAndTheOthersAreAnswered() throws Exception {
        StoredOffsetsCases task = new StoredOffsetsCases();
        equal(task.read(List.of(BAD, GOOD), List.of("{\"table\":\"a\"}"), "{\"at\":5}"), Map.of(GOOD, Map.of("at", 5L)));
        equal(new StoredOffsetsCases().read(List.of(BAD), List.of()), Map.of());
    }

    static void nobodyIsAnsweredOnceTheTaskIsToStop() {
        StoredOffsetsCases task = new StoredOffsetsCases();
        task.offsets.close();
        try {
            task.offsets.offset(GOOD);
            throw new AssertionError("it was answered");
        } catch (ConnectException e) {
            equal(e.getMessage().startsWith("Offset reader closed"), true);
        }
    }

    /** What a plugin reads for partitions, when the worker is asked for these texts, and answers these. */
    private Object read(List<Map<String, Object>> partitions, List<String> asked, String... answers) throws Exception {
        FutureTask<Object> reading = new FutureTask<>(() -> offsets.offsets(partitions));
        new Thread(reading).start();
        Map<String, Object> question = events.next(60_000);
        equal(question.get("asked"), asked);
        events.answer((Long) question.get("number"), List.of(answers), null);
        return reading.get(120, TimeUnit.SECONDS);
    }
}
