package org.apache.kafka.connect.mirror;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.File;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigDef;

/** What MirrorMaker's own classes make of the inputs of record.py; the answers are the golden file. In their package to reach them. */
public final class Mirror {
    private static final String[] TOPICS = {"orders", "A.orders", "B.A.orders", "heartbeats", "A.heartbeats", "B.A.heartbeats", "A.",
        ".a", "mm2-offset-syncs.B.internal", "A.checkpoints.internal", "x-internal", "__consumer_offsets", "A__orders", "Aheartbeats",
        "foo.internal", "A.foo.internal", "mm2.foo.internal", "mm2-configs.A.internal", "mm2-offset-syncs__B__internal", "mm2foo_internal",
        "A_checkpoints_internal", "A.checkpoints.x", "x.mm2.internal", "A.mm2-status.B.internal"};

    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT, SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS);
        Map<String, Object> input = json.readValue(new File(args[0]), Map.class);
        Map<String, Object> found = new TreeMap<>();
        found.put("options", options());
        found.put("formats", formats());
        found.put("policies", policies());
        found.put("translations", translations());
        found.put("maker", maker((Map<String, String>) input.get("properties")));
        json.writeValue(new File(args[1]), found);
    }

    private static Map<String, Object> options() {
        Map<String, Object> found = new TreeMap<>();
        found.put("MirrorSourceConnector", options(new MirrorSourceConnector().config()));
        found.put("MirrorCheckpointConnector", options(new MirrorCheckpointConnector().config()));
        found.put("MirrorHeartbeatConnector", options(new MirrorHeartbeatConnector().config()));
        return found;
    }

    private static List<Object> options(ConfigDef definition) {
        List<Object> found = new ArrayList<>();
        for (ConfigDef.ConfigKey key : definition.configKeys().values()) {
            Map<String, Object> one = new TreeMap<>();
            one.put("name", key.name);
            one.put("type", key.type.toString());
            one.put("required", !key.hasDefault());
            one.put("default", key.hasDefault() ? ConfigDef.convertToString(key.defaultValue, key.type) : null);
            one.put("importance", key.importance.toString());
            one.put("doc", key.documentation);
            one.put("validator", key.validator == null ? null : key.validator.toString());
            found.add(one);
        }
        return found;
    }

    private static String text(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    private static Map<String, Object> formats() {
        Map<String, Object> found = new TreeMap<>();
        List<Object> syncs = new ArrayList<>();
        for (long offset : new long[] {0, 1, 100, -1, Long.MAX_VALUE}) {
            OffsetSync sync = new OffsetSync(new TopicPartition("t\u00f6pic", 7), offset, offset / 2);
            syncs.add(Map.of("upstream", offset, "downstream", offset / 2, "key", text(sync.recordKey()), "value", text(sync.recordValue())));
        }
        found.put("offset syncs", syncs);
        Checkpoint checkpoint = new Checkpoint("gr\u00fcppe", new TopicPartition("A.orders", 3), 12L, 7L, "m\u00e9ta");
        found.put("checkpoint", Map.of("key", text(checkpoint.recordKey()), "value", text(checkpoint.recordValue())));
        Heartbeat heartbeat = new Heartbeat("A", "B\u00df", 1700000000123L);
        found.put("heartbeat", Map.of("key", text(heartbeat.recordKey()), "value", text(heartbeat.recordValue())));
        return found;
    }

    private static Map<String, Object> policies() {
        Map<String, Object> found = new TreeMap<>();
        Map<String, Map<String, String>> configs = new LinkedHashMap<>();
        configs.put("default", Map.of());
        configs.put("underscores", Map.of("replication.policy.separator", "__"));
        configs.put("plain internal", Map.of("replication.policy.separator", "_", "replication.policy.internal.topic.separator.enabled", "false"));
        configs.forEach((name, config) -> {
            Map<String, String> all = new TreeMap<>(config);
            all.put("source.cluster.alias", "A");
            for (DefaultReplicationPolicy policy : new DefaultReplicationPolicy[] {new DefaultReplicationPolicy(), new IdentityReplicationPolicy()}) {
                policy.configure(all);
                found.put(name + " " + policy.getClass().getSimpleName(), policy(policy));
            }
        });
        return found;
    }

    private static Map<String, Object> policy(ReplicationPolicy policy) {
        Map<String, Object> found = new TreeMap<>();
        found.put("offset syncs", policy.offsetSyncsTopic("B"));
        found.put("checkpoints", policy.checkpointsTopic("A"));
        for (String topic : TOPICS) {
            Map<String, Object> one = new TreeMap<>();
            one.put("remote", policy.formatRemoteTopic("A", topic));
            one.put("source", policy.topicSource(topic));
            one.put("upstream", policy.upstreamTopic(topic));
            one.put("heartbeats", policy.isHeartbeatsTopic(topic));
            one.put("internal", policy.isInternalTopic(topic));
            one.put("original", policy.originalTopic(topic));
            found.put("topic " + topic, one);
        }
        return found;
    }

    /** A store, without its topic. */
    private static final class Store extends OffsetSyncStore {
        void backingStoreStart() {
        }

        void sync(TopicPartition partition, long upstream, long downstream) {
            OffsetSync sync = new OffsetSync(partition, upstream, downstream);
            handleRecord(new ConsumerRecord<>("syncs", 0, 0L, sync.recordKey(), sync.recordValue()));
        }
    }

    /** Random syncs, some before the store has read its topic to the end, and how offsets translate after each of them. */
    private static List<Object> translations() {
        List<Object> found = new ArrayList<>();
        for (int seed = 0; seed < 12; seed++) {
            Random random = new Random(seed);
            Store store = new Store();
            TopicPartition partition = new TopicPartition("t", 0);
            long upstream = 0;
            long downstream = 0;
            int before = seed % 3 == 0 ? 5 : 0;
            boolean toEnd = seed % 2 == 0;
            List<Object> steps = new ArrayList<>();
            store.initializationMustReadToEnd = toEnd;
            for (int step = 0; step < 60; step++) {
                if (step == before) {
                    store.start(toEnd);
                }
                upstream = step == 40 && seed % 4 == 1 ? upstream / 2 : upstream + 1 + (long) Math.pow(2, random.nextInt(14));
                downstream += 1 + random.nextInt(100);
                store.sync(partition, upstream, downstream);
                Map<String, Object> translated = new TreeMap<>();
                for (int ask = 0; ask < 6; ask++) {
                    long offset = ask == 0 ? upstream : (long) (random.nextDouble() * (upstream + 2));
                    var answer = store.translateDownstream("g", partition, offset);
                    translated.put(Long.toString(offset), answer.isPresent() ? answer.getAsLong() : null);
                }
                steps.add(Map.of("upstream", upstream, "downstream", downstream, "translated", translated));
            }
            found.add(Map.of("to end", toEnd, "before", before, "steps", steps));
        }
        return found;
    }

    private static Map<String, Object> maker(Map<String, String> properties) {
        MirrorMakerConfig config = new MirrorMakerConfig(properties);
        Map<String, Object> found = new TreeMap<>();
        for (SourceAndTarget flow : config.clusterPairs()) {
            Map<String, Object> one = new TreeMap<>();
            one.put("worker", new TreeMap<>(config.workerConfig(flow)));
            for (Class<?> connector : MirrorMaker.CONNECTOR_CLASSES) {
                one.put(connector.getSimpleName(), new TreeMap<>(config.connectorBaseConfig(flow, connector)));
            }
            found.put(flow.toString(), one);
        }
        return found;
    }
}
