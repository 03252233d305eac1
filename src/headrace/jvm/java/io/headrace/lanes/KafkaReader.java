package io.headrace.lanes;

import io.headrace.CalmPoll;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Partitions of Kafka's topics, by one consumer. */
final class KafkaReader implements RecordReader {
    private static final Pattern FROM = Pattern.compile("(?:from|partition) (\\S+)-(\\d+)");
    private static final Duration LEADERS = Duration.ofMillis(250); // as long as a broker keeps a fetch (`feed_settings.py`)
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final CalmPoll poll;

    KafkaReader(Map<String, Object> config) {
        this.consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        this.poll = new CalmPoll(consumer);
    }

    @Override
    public void assign(Collection<TopicPartition> partitions) {
        Set<TopicPartition> added = new HashSet<>(partitions);
        added.removeAll(consumer.assignment());
        boolean isFirst = consumer.assignment().isEmpty();
        consumer.assign(partitions);
        if (!isFirst && !added.isEmpty()) {
            awaitLeaders(added);
        }
    }

    /**
     * Wait until the leaders of partitions are known. A broker answers the request for them after the fetch that is under way, which it
     * keeps while the other partitions have nothing. A poll would send the next such fetch, without these partitions, before the answer.
     */
    private void awaitLeaders(Collection<TopicPartition> partitions) {
        try {
            consumer.endOffsets(partitions, LEADERS);
        } catch (RuntimeException e) {
            // the next polls say what is wrong with them
        }
    }

    @Override
    public boolean isAssigned(TopicPartition partition) {
        return consumer.assignment().contains(partition);
    }

    @Override
    public void seek(TopicPartition partition, long offset) {
        consumer.seek(partition, offset);
    }

    @Override
    public long position(TopicPartition partition) {
        return consumer.position(partition, Duration.ZERO);
    }

    @Override
    public void pause(TopicPartition partition) {
        consumer.pause(List.of(partition));
    }

    @Override
    public void resume(TopicPartition partition) {
        consumer.resume(List.of(partition));
    }

    @Override
    public ConsumerRecords<byte[], byte[]> poll(long timeoutMs) {
        try {
            return poll.poll(timeoutMs);
        } catch (WakeupException e) {
            return ConsumerRecords.empty();
        } catch (InvalidOffsetException e) {
            throw new Refused(e.partitions(), e);
        } catch (TopicAuthorizationException e) {
            throw new Refused(of(e.unauthorizedTopics()), e);
        } catch (InvalidTopicException e) {
            throw new Refused(of(e.invalidTopics()), e);
        } catch (RuntimeException e) {
            Matcher from = FROM.matcher(String.valueOf(e.getMessage()));
            TopicPartition partition = from.find() ? new TopicPartition(from.group(1), Integer.parseInt(from.group(2))) : null;
            if (partition == null || !isAssigned(partition)) {
                throw e;
            }
            throw new Refused(List.of(partition), e);
        }
    }

    private List<TopicPartition> of(Collection<String> topics) {
        return consumer.assignment().stream().filter(partition -> topics.contains(partition.topic())).toList();
    }

    @Override
    public void wakeup() {
        consumer.wakeup();
    }

    @Override
    public void close() {
        consumer.close(Duration.ZERO);
    }
}
