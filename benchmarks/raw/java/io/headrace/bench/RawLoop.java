package io.headrace.bench;

import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The least that a copy can cost: for each partition a thread that polls a consumer and hands every record to one producer.
 * No offsets are stored, nothing is looked at.
 *
 * <p>Arguments: source brokers, number of partitions, destination brokers, batch.size, then topics, one after the other: each name
 * followed by that of its copy.
 */
public final class RawLoop implements Runnable {
    private final String[] args;
    private final int partition;
    private final KafkaProducer producer;

    private RawLoop(String[] args, int partition, KafkaProducer producer) {
        this.args = args;
        this.partition = partition;
        this.producer = producer;
    }

    public static void main(String[] args) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", args[2]);
        settings.put("acks", "all");
        settings.put("batch.size", args[3]);
        settings.put("linger.ms", "5");
        KafkaProducer producer = new KafkaProducer(settings, new ByteArraySerializer(), new ByteArraySerializer());
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            new Thread(new RawLoop(args, i, producer)).start();
        }
    }

    public void run() {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", args[0]);
        settings.put("max.poll.records", "10000");
        KafkaConsumer consumer = new KafkaConsumer(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        for (int i = 4; i < args.length; i += 2) {
            copy(consumer, args[i], args[i + 1]);
        }
        producer.flush();
    }

    private void copy(KafkaConsumer consumer, String topic, String copy) {
        TopicPartition from = new TopicPartition(topic, partition);
        consumer.assign(Collections.singletonList(from));
        consumer.seekToBeginning(Collections.singletonList(from));
        long end = ((Long) consumer.endOffsets(Collections.singletonList(from)).get(from)).longValue();
        while (consumer.position(from) < end) {
            Iterator records = consumer.poll(Duration.ofSeconds(1)).iterator();
            while (records.hasNext()) {
                ConsumerRecord record = (ConsumerRecord) records.next();
                producer.send(new ProducerRecord(copy, Integer.valueOf(partition), Long.valueOf(record.timestamp()), record.key(),
                    record.value(), record.headers()));
            }
        }
    }
}
