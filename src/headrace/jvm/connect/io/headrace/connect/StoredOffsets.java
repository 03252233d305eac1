package io.headrace.connect;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.storage.CloseableOffsetStorageReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is stored for a connector when it is asked, also by a task that runs: the worker's store answers each time.
 *
 * <p>As in Kafka Connect an answer may take as long as brokers are away; `close` ends the wait.
 */
final class StoredOffsets implements CloseableOffsetStorageReader {
    private static final Logger LOG = LoggerFactory.getLogger(StoredOffsets.class);
    private final String id;
    private final Events events;
    private final Set<CompletableFuture<List<String>>> open = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    StoredOffsets(String id, Events events) {
        this.id = id;
        this.events = events;
    }

    /** Whoever asks from now on, or waits for an answer, gets an exception: the task is not to continue. */
    @Override
    public void close() {
        closed = true;
        refuseAll();
    }

    private void refuseAll() {
        open.forEach(question -> question.completeExceptionally(new ConnectException("Offset reader closed")));
    }

    @Override
    public <T> Map<String, Object> offset(Map<String, T> partition) {
        return offsets(List.of(partition)).get(partition);
    }

    @Override
    public <T> Map<Map<String, T>, Map<String, Object>> offsets(Collection<Map<String, T>> partitions) {
        if (closed) {
            throw new ConnectException("Offset reader closed. This is likely because the task has already been scheduled to stop "
                + "but has taken longer than the graceful shutdown period to do so.");
        }
        List<String> texts = new ArrayList<>();
        List<Map<String, T>> asked = new ArrayList<>(); // those with a text
        for (Map<String, T> partition : partitions) {
            try {
                texts.add(Json.text(partition));
                asked.add(partition);
            } catch (RuntimeException e) { // nothing can be stored for it
                LOG.error("CRITICAL: Failed to serialize partition key when getting offsets for {}. No value for this data will be "
                    + "returned, which may break the task or cause it to skip some data.", id, e);
            }
        }
        CompletableFuture<List<String>> question = events.ask("offsets", id, texts);
        open.add(question);
        if (closed) {
            refuseAll();
        }
        try {
            List<String> answers = question.get();
            Map<Map<String, T>, Map<String, Object>> offsets = new HashMap<>();
            int number = 0;
            for (Map<String, T> partition : asked) {
                offsets.put(partition, Json.offset(answers.get(number++)));
            }
            return offsets;
        } catch (ExecutionException e) {
            throw new ConnectException("Failed to fetch offsets: " + e.getCause().getMessage(), e.getCause());
        } catch (InterruptedException e) {
            throw new ConnectException("Failed to fetch offsets: interrupted", e);
        } finally {
            open.remove(question);
        }
    }
}
