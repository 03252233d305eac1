package io.headrace.connect;

import static io.headrace.Cases.equal;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Whether offsets are stored, as WorkerSourceTask hears of it: by the future and by the callback. */
final class OffsetsToStoreCases {
    private final Events events = new Events();
    private final OffsetsToStore store = new OffsetsToStore("c-0", events);
    private final List<String> heard = new ArrayList<>();

    private OffsetsToStoreCases() {
    }

    static void offsetsAreStoredOnceTheWorkerHasAnswered() throws Exception {
        OffsetsToStoreCases task = new OffsetsToStoreCases();
        Future<Void> stored = task.set();
        equal(stored.isDone(), false);
        task.answer(null);
        equal(stored.get(120, TimeUnit.SECONDS), null);
        equal(task.heard, List.of("stored"));
    }

    static void offsetsThatCannotBeStoredAreNot() throws Exception {
        OffsetsToStoreCases task = new OffsetsToStoreCases();
        Future<Void> stored = task.set();
        task.answer("no leader");
        equal(error(stored), "no leader");
        equal(task.heard, List.of("no leader"));
    }

    static void aTaskThatIsGivenUpStoresNothing() throws Exception {
        OffsetsToStoreCases task = new OffsetsToStoreCases();
        Future<Void> open = task.set();
        task.store.end();
        equal(error(open), "The task has been given up");
        equal(error(task.set()), "The task has been given up");
        equal(task.heard, List.of("The task has been given up", "The task has been given up"));
    }

    private Future<Void> set() {
        ByteBuffer key = ByteBuffer.wrap("[\"c\",{}]".getBytes(StandardCharsets.UTF_8));
        return store.set(Map.of(key, key), (error, nothing) -> heard.add(error == null ? "stored" : error.getMessage()));
    }

    private void answer(String error) throws InterruptedException {
        Map<String, Object> question = events.next(0);
        equal(question.get("kind"), "store");
        events.answer((Long) question.get("number"), List.of(), error);
    }

    private static String error(Future<Void> stored) throws Exception {
        try {
            stored.get(120, TimeUnit.SECONDS);
            return null;
        } catch (ExecutionException e) {
            return e.getCause().getMessage();
        }
    }
}
