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
 * No offsets are stored, nothing is looked at. Copies for as long as it runs.
 *
 * <p>Arguments: source brokers, topic, number of partitions, destination brokers, copy, batch.size.
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
        settings.put("bootstrap.servers", args[3]);
        settings.put("acks", "all");
        settings.put("batch.size", args[5]);
        settings.put("linger.ms", "5");
        KafkaProducer producer = new KafkaProducer(settings, new ByteArraySerializer(), new ByteArraySerializer());
        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
            new Thread(new RawLoop(args, i, producer)).start();
        }
    }

    public void run() {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", args[0]);
        settings.put("max.poll.records", "10000");
        KafkaConsumer consumer = new KafkaConsumer(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        TopicPartition from = new TopicPartition(args[1], partition);
        consumer.assign(Collections.singletonList(from));
        consumer.seekToBeginning(Collections.singletonList(from));
        while (true) {
            Iterator records = consumer.poll(Duration.ofSeconds(1)).iterator();
            while (records.hasNext()) {
                ConsumerRecord record = (ConsumerRecord) records.next();
                producer.send(new ProducerRecord(args[4], Integer.valueOf(partition), Long.valueOf(record.timestamp()), record.key(),
                    record.value(), record.headers()));
            }
        }
    }
}
