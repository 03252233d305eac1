package io.headrace.connect;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.runtime.WorkerConfig;
import org.apache.kafka.connect.storage.OffsetBackingStore;
import org.apache.kafka.connect.util.Callback;

/** Gives the offsets of a source task to the worker, which stores them: done once it has. */
public final class OffsetsToStore implements OffsetBackingStore {
    private final String id;
    private final Events events;
    private final Set<CompletableFuture<List<String>>> open = ConcurrentHashMap.newKeySet();
    private volatile boolean ended;

    OffsetsToStore(String id, Events events) {
        this.id = id;
        this.events = events;
    }

    /** offsets: keys and values as Kafka Connect writes them into its topic. */
    @Override
    public Future<Void> set(Map<ByteBuffer, ByteBuffer> offsets, Callback<Void> callback) {
        List<List<String>> texts = new ArrayList<>();
        offsets.forEach((key, value) -> texts.add(List.of(text(key), text(value))));
        CompletableFuture<List<String>> question = events.ask("store", id, texts);
        open.add(question);
        if (ended) {
            end();
        }
        return question.whenComplete((answer, error) -> {
            open.remove(question);
            callback.onCompletion(error, null);
        }).thenApply(answer -> null); // an error stays one: the worker calls the task's commit() for stored offsets only
    }

    /** Whoever waits for offsets to be stored, or has any stored from now on, gets an exception. */
    public void end() {
        ended = true;
        open.forEach(question -> question.completeExceptionally(new ConnectException("The task has been given up")));
    }

    private static String text(ByteBuffer buffer) {
        return buffer == null ? "null" : StandardCharsets.UTF_8.decode(buffer.duplicate()).toString();
    }

    @Override
    public Future<Map<ByteBuffer, ByteBuffer>> get(Collection<ByteBuffer> keys) {
        throw new UnsupportedOperationException("Tasks read their offsets by another way");
    }

    @Override
    public Set<Map<String, Object>> connectorPartitions(String connector) {
        throw new UnsupportedOperationException("Only the worker asks for the partitions of a connector");
    }

    @Override
    public void configure(WorkerConfig config) {
    }

    @Override
    public void start() {
    }

    @Override
    public void stop() {
    }
}
