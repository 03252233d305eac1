package io.headrace.connect;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** What hosted connectors and tasks ask of the worker, which fetches it one by one; it answers what is a question. */
final class Events {
    private final LinkedBlockingQueue<Map<String, Object>> queue = new LinkedBlockingQueue<>();
    private final Map<Long, CompletableFuture<List<String>>> questions = new ConcurrentHashMap<>();
    private final AtomicLong numbers = new AtomicLong();

    /** kind: `reconfigure` or `error`; id: of the connector; text: the error's. */
    void tell(String kind, String id, String text) {
        queue.add(Map.of("kind", kind, "id", id, "text", text));
    }

    /**
     * Ask for the stored offsets of partitions (`offsets`; asked: JSON texts): the future gives one JSON text for each, `null` for
     * none. Or have offsets stored (`store`; asked: pairs of JSON texts, keys and values): the future gives nothing once they are.
     */
    CompletableFuture<List<String>> ask(String kind, String id, List<?> asked) {
        long number = numbers.incrementAndGet();
        CompletableFuture<List<String>> answer = new CompletableFuture<>();
        questions.put(number, answer);
        answer.whenComplete((offsets, error) -> questions.remove(number));
        queue.add(Map.of("kind", kind, "id", id, "number", number, "asked", asked));
        return answer;
    }

    /** error: why there is no answer, or null. */
    void answer(long number, List<String> offsets, String error) {
        CompletableFuture<List<String>> question = questions.get(number);
        if (question != null && error == null) {
            question.complete(offsets);
        } else if (question != null) {
            question.completeExceptionally(new org.apache.kafka.connect.errors.ConnectException(error));
        }
    }

    /** The next one; null if there is none for so long. */
    Map<String, Object> next(long waitMs) throws InterruptedException {
        return queue.poll(waitMs, TimeUnit.MILLISECONDS);
    }
}
