package io.headrace.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;
import org.apache.kafka.connect.storage.Converter;

/**
 * Reads its partitions from their beginning with a consumer as MirrorSourceTask sets one up, and converts the values. Keys stay bytes.
 * It never looks at stored offsets: it exists for one measurement.
 */
public final class JsonTopicTask extends SourceTask {
    static final String PARTITIONS = "source.partitions";
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private KafkaConsumer consumer;
    private Converter converter;
    private Map positions;

    public void start(Map props) {
        try {
            converter = ChainLoop.converter(props, "source.value.converter");
        } catch (Exception e) {
            throw new ConnectException("no source.value.converter", e);
        }
        Map config = new HashMap();
        config.put("bootstrap.servers", props.get("source.bootstrap.servers"));
        config.put("enable.auto.commit", "false");
        config.put("auto.offset.reset", "earliest");
        consumer = new KafkaConsumer(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        positions = new HashMap();
        String[] names = ((String) props.get(PARTITIONS)).split(",");
        for (int i = 0; i < names.length; i++) {
            int colon = names[i].indexOf(':');
            TopicPartition partition =
                new TopicPartition(names[i].substring(0, colon), Integer.parseInt(names[i].substring(colon + 1)));
            Map position = new HashMap();
            position.put("topic", partition.topic());
            position.put("partition", Integer.valueOf(partition.partition()));
            positions.put(partition, position);
        }
        consumer.assign(positions.keySet());
    }

    public synchronized List poll() {
        ConsumerRecords polled;
        try {
            polled = consumer.poll(TIMEOUT);
        } catch (WakeupException e) {
            return null;
        }
        if (polled.isEmpty()) {
            return null;
        }
        List records = new ArrayList(polled.count());
        for (Iterator i = polled.iterator(); i.hasNext();) {
            ConsumerRecord record = (ConsumerRecord) i.next();
            Map position = (Map) positions.get(new TopicPartition(record.topic(), record.partition()));
            SchemaAndValue value = converter.toConnectData(record.topic(), (byte[]) record.value());
            records.add(new SourceRecord(position, Collections.singletonMap("offset", Long.valueOf(record.offset())), record.topic(),
                Integer.valueOf(record.partition()), Schema.OPTIONAL_BYTES_SCHEMA, record.key(), value.schema(), value.value(),
                Long.valueOf(record.timestamp())));
        }
        return records;
    }

    public void stop() {
        consumer.wakeup();
        close();
    }

    private synchronized void close() {
        consumer.close();
    }

    public String version() {
        return "1";
    }
}
