package io.headrace.lanes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Feeds and their updates as JSON: what Python says and hears (`headrace.spark.plane`). */
final class FeedJson {
    private static final ObjectMapper JSON = new ObjectMapper();

    private FeedJson() {
    }

    /** A feed, as its one part. */
    static FeedSpec spec(long number, String text, ChainPlan chain) throws JsonProcessingException {
        JsonNode feed = JSON.readTree(text);
        Map<String, Target> targets = new HashMap<>();
        for (JsonNode target : feed.get("targets")) {
            targets.put(target.get("topic").asText(), target(target));
        }
        List<Partition> partitions = new ArrayList<>();
        for (JsonNode partition : feed.get("partitions")) {
            partitions.add(partition(partition));
        }
        JsonNode owner = feed.get("transactions");
        FeedSpec.Transactions transactions = owner.isNull() ? null
            : new FeedSpec.Transactions(owner.get("id").asText(), owner.get("producer_id").asLong(), owner.get("epoch").asInt());
        FeedSpec.Settings settings = new FeedSpec.Settings(texts(feed.get("consumer")), texts(feed.get("producer")),
            feed.get("files").asBoolean());
        JsonNode letterProducer = feed.get("letter_producer");
        JsonNode file = feed.get("file");
        return new FeedSpec(number, 0, feed.get("name").asText(), settings, partitions, chain, targets, feed.get("tolerates").asBoolean(),
            feed.get("letters").asBoolean(), feed.get("skips_refused").asBoolean(), file.isNull() ? null : file.asText(),
            letterProducer.isNull() ? null : texts(letterProducer), transactions, feed.get("commit_ms").asLong());
    }

    static Target target(String text) throws JsonProcessingException {
        return target(JSON.readTree(text));
    }

    /** What is new of a feed. */
    static ObjectNode update(long number, PlacedFeed feed) {
        ObjectNode node = JSON.createObjectNode();
        node.put("feed", number);
        node.put("ended", feed.isEnded());
        ArrayNode counts = node.putArray("counts");
        for (PlacedFeed.Part part : feed.parts) {
            if (part.failure != null) {
                node.set("failure", JSON.valueToTree(part.failure));
            }
            if (part.counts != null) {
                counts.add(JSON.valueToTree(part.counts));
            }
        }
        node.set("partitions", JSON.valueToTree(feed.partitions.values()));
        node.set("topics", JSON.valueToTree(feed.topics));
        node.set("needs", JSON.valueToTree(feed.needs));
        node.set("failures", JSON.valueToTree(feed.failures));
        node.put("unnamed", feed.unnamed);
        node.set("written", JSON.valueToTree(feed.written));
        node.set("transactions", JSON.valueToTree(feed.transactions));
        return node;
    }

    static ArrayNode array() {
        return JSON.createArrayNode();
    }

    private static Target target(JsonNode node) {
        return new Target(node.get("topic").asText(), node.get("partitions").asInt(), node.get("max_message_bytes").asInt(),
            node.get("keeps_partition").asBoolean(), System.currentTimeMillis());
    }

    private static Partition partition(JsonNode node) {
        List<Partition.OffsetRecord> stores = new ArrayList<>();
        for (JsonNode store : node.path("stores")) {
            Base64.Decoder base64 = Base64.getDecoder();
            stores.add(new Partition.OffsetRecord(store.get(0).asText(), base64.decode(store.get(1).asText()),
                base64.decode(store.get(2).asText()), base64.decode(store.get(3).asText())));
        }
        return new Partition(node.get("topic").asText(), node.get("partition").asInt(), node.get("offset").asLong(),
            node.get("destination").asText(), stores.toArray(new Partition.OffsetRecord[0]));
    }

    private static Map<String, String> texts(JsonNode node) {
        Map<String, String> texts = new HashMap<>();
        node.fields().forEachRemaining(field -> texts.put(field.getKey(), field.getValue().asText()));
        return texts;
    }
}
