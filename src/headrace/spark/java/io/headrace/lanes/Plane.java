package io.headrace.lanes;

import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * The data plane: one long-lived Spark job, whose tasks drive lanes. This is the driver's side: which lane has which feed, and how far
 * each has come. Python adds and removes feeds, and takes what is new (`headrace.spark.plane`).
 */
public final class Plane {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<Long, Plane> PLANES = new ConcurrentHashMap<>();
    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final long AGAIN_MS = 1000;
    private static final long UNUSED_MS = 30_000;

    private final long number = NUMBERS.incrementAndGet();
    private final JavaSparkContext context;
    private final Driven[] tasks;
    private final Map<Long, Feed> feeds = new LinkedHashMap<>();
    private final Map<Long, LaneInfo> lanes = new LinkedHashMap<>();
    private final Set<Long> news = new HashSet<>(); // feeds that Python has not heard the last of
    private final Object heard = new Object(); // notified when there is something urgent
    private boolean urgent; // guarded by heard
    private boolean stopped; // guarded by this, as is all the rest
    private long nextFeed;
    private long nextLane;

    /** A Spark task. */
    private static final class Driven {
        private final Object bell = new Object();
        private final List<Message.Numbered> outbox = new ArrayList<>();
        private long attempt = -1;
        private long numbered;
    }

    /** A lane, and what it reads. */
    private static final class LaneInfo {
        private final long id;
        private final int task;
        private final FeedSpec.Settings settings;
        private final Map<TopicPartition, Long> partitions = new HashMap<>(); // by feed
        private long unusedSinceMs = System.currentTimeMillis();

        LaneInfo(long id, int task, FeedSpec.Settings settings) {
            this.id = id;
            this.task = task;
            this.settings = settings;
        }
    }

    /** A feed, and what its parts have reported. */
    private static final class Feed {
        private final List<Part> parts = new ArrayList<>();
        private boolean removing;
        private final Set<String> topics = new HashSet<>();
        private final Set<String> keySchemas = new HashSet<>();
        private final Set<String> valueSchemas = new HashSet<>();
        private final List<String> failures = new ArrayList<>();
        private final Set<String> written = new HashSet<>();
        private final Set<String> everWritten = new HashSet<>();
        private final List<Integer> transactions = new ArrayList<>();
        private final Map<TopicPartition, Report.OfPartition> partitions = new LinkedHashMap<>(); // that have changed
    }

    private static final class Part {
        private FeedSpec spec;
        private final LaneInfo lane;
        private String state = "RUNNING";
        private Report.Failure failure;
        private Report.Counts counts;
        private final Map<TopicPartition, Long> offsets = new HashMap<>(); // where its next attempt begins

        Part(FeedSpec spec, LaneInfo lane) {
            this.spec = spec;
            this.lane = lane;
        }

        /** What its next attempt is told: what it has learned, at where it has come to. */
        FeedSpec now() {
            List<Partition> partitions = new ArrayList<>();
            for (Partition partition : spec.partitions()) {
                partitions.add(partition.at(offsets.getOrDefault(partition.source(), partition.offset())));
            }
            return spec.with(spec.part(), partitions);
        }
    }

    private Plane(JavaSparkContext context, int tasks) {
        this.context = context;
        this.tasks = new Driven[tasks];
        for (int i = 0; i < tasks; i++) {
            this.tasks[i] = new Driven();
        }
    }

    /** A plane of so many Spark tasks, running. */
    public static Plane start(JavaSparkContext context, int tasks) {
        Plane plane = new Plane(context, tasks);
        PLANES.put(plane.number, plane);
        Thread thread = new Thread(plane::run, "data-plane");
        thread.setDaemon(true);
        thread.start();
        return plane;
    }

    private void run() {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < tasks.length; i++) {
            numbers.add(i);
        }
        while (!isStopped()) {
            try {
                context.setLocalProperty("spark.scheduler.pool", "data-plane");
                context.setJobDescription("data plane: " + tasks.length + " tasks drive the lanes of all feeds");
                context.parallelize(numbers, numbers.size()).foreachPartition(new LaneTask(number));
            } catch (Exception e) {
                if (isStopped() || context.sc().isStopped()) {
                    return;
                }
                org.slf4j.LoggerFactory.getLogger(Plane.class).warn("The job of the data plane has failed and is started again", e);
                try {
                    Thread.sleep(AGAIN_MS);
                } catch (InterruptedException interrupted) {
                    return;
                }
            }
        }
    }

    private synchronized boolean isStopped() {
        return stopped;
    }

    /** End all lanes, and the job. */
    public void stop() {
        synchronized (this) {
            stopped = true;
        }
        for (Driven task : tasks) {
            ring(task);
        }
        hear();
    }

    static Object bell(long plane, int task) {
        Plane found = PLANES.get(plane);
        return found == null ? new Object() : found.tasks[task].bell;
    }

    // what Python calls

    /**
     * Begin to read; returns the feed's number.
     *
     * @param json see `headrace.spark.plane.Feed`
     * @param chain what is done with each record
     */
    public long add(String json, ChainPlan chain) throws JsonProcessingException {
        JsonNode feed = JSON.readTree(json);
        FeedSpec.Settings settings = new FeedSpec.Settings(texts(feed.get("consumer")), texts(feed.get("producer")));
        Map<String, Target> targets = new HashMap<>();
        for (JsonNode target : feed.get("targets")) {
            targets.put(target.get("topic").asText(), target(target));
        }
        List<Partition> partitions = new ArrayList<>();
        for (JsonNode partition : feed.get("partitions")) {
            partitions.add(partition(partition));
        }
        String id = feed.get("transactional_id").isNull() ? null : feed.get("transactional_id").asText();
        synchronized (this) {
            long added = ++nextFeed;
            FeedSpec whole = new FeedSpec(added, 0, feed.get("name").asText(), settings, partitions, chain, targets,
                feed.get("tolerates").asBoolean(), feed.get("letters").asBoolean(), id, feed.get("commit_ms").asLong());
            Feed made = new Feed();
            feeds.put(added, made);
            for (Map.Entry<LaneInfo, List<Partition>> part : place(settings, partitions, id == null ? tasks.length : 1).entrySet()) {
                FeedSpec spec = whole.with(made.parts.size(), part.getValue());
                made.parts.add(new Part(spec, part.getKey()));
                for (Partition partition : part.getValue()) {
                    part.getKey().partitions.put(partition.source(), added);
                }
                send(part.getKey(), new Message.Add(part.getKey().id, spec));
            }
            return added;
        }
    }

    /** Read no more of a feed; its state is REMOVED (or FAILED) once nothing of it is in flight. */
    public synchronized void remove(long feed) {
        Feed found = feeds.get(feed);
        if (found != null && !found.removing) {
            found.removing = true;
            for (Part part : found.parts) {
                send(part.lane, new Message.Remove(feed, part.spec.part()));
            }
        }
    }

    /** Forget a feed, whose state is told or no longer of interest: what it still reports is not heard. */
    public synchronized void forget(long feed) {
        remove(feed);
        Feed found = feeds.remove(feed);
        news.remove(feed);
        if (found != null) {
            for (Part part : found.parts) {
                release(part, feed);
            }
        }
    }

    /** A topic exists, for a feed that needs it. */
    public synchronized void known(long feed, String json) throws JsonProcessingException {
        Target target = target(JSON.readTree(json));
        Feed found = feeds.get(feed);
        if (found != null) {
            for (Part part : found.parts) {
                Map<String, Target> targets = new HashMap<>(part.spec.targets());
                targets.put(target.topic(), target);
                FeedSpec spec = part.spec;
                part.spec = new FeedSpec(spec.feed(), spec.part(), spec.name(), spec.settings(), spec.partitions(), spec.chain(), targets,
                    spec.tolerates(), spec.letters(), spec.transactionalId(), spec.commitMs());
                send(part.lane, new Message.Known(feed, spec.part(), target));
            }
        }
    }

    /** From here on a feed takes another chain, which knows more schemas. */
    public synchronized void replace(long feed, ChainPlan chain) {
        Feed found = feeds.get(feed);
        if (found != null) {
            for (Part part : found.parts) {
                part.spec = part.spec.with(chain);
                send(part.lane, new Message.Replace(feed, part.spec.part(), chain));
            }
        }
    }

    /**
     * What is new, as soon as something is urgent (a feed has ended, or waits for a topic or a schema), else after the time: a JSON array
     * with an object for each feed that has news.
     */
    public String news(long waitMs) throws InterruptedException {
        synchronized (heard) {
            if (!urgent) {
                heard.wait(waitMs);
            }
            urgent = false;
        }
        ArrayNode all = JSON.createArrayNode();
        synchronized (this) {
            for (Long feed : news) {
                Feed found = feeds.get(feed);
                if (found != null) {
                    all.add(json(feed, found));
                }
            }
            news.clear();
            closeUnused();
        }
        return all.toString();
    }

    /** How many lanes there are. */
    public synchronized int lanes() {
        return lanes.size();
    }

    // what the tasks say

    static Message.Reply answer(Message.Ask ask) {
        Plane plane = PLANES.get(ask.plane());
        return plane == null ? new Message.Reply(true, List.of()) : plane.hear(ask);
    }

    private synchronized Message.Reply hear(Message.Ask ask) {
        Driven task = tasks[ask.task()];
        if (ask.attempt() < task.attempt) {
            return new Message.Reply(true, List.of());
        }
        if (ask.attempt() > task.attempt) {
            begin(task, ask);
        }
        boolean soon = false;
        for (Report report : ask.reports()) {
            soon |= take(report);
        }
        for (Long dead : ask.deadLanes()) {
            lanes.remove(dead);
        }
        task.outbox.removeIf(numbered -> numbered.number() <= ask.heard());
        if (soon) {
            hear();
        }
        return new Message.Reply(stopped, List.copyOf(task.outbox));
    }

    /** A new attempt of a task has the lanes of the one before, from where they have come to. */
    private void begin(Driven task, Message.Ask ask) {
        boolean first = task.attempt < 0;
        task.attempt = ask.attempt();
        if (first) {
            return;
        }
        task.outbox.clear();
        task.numbered = 0;
        feeds.forEach((feed, found) -> {
            for (Part part : found.parts) {
                if (tasks[part.lane.task] == task && part.state.equals("RUNNING")) {
                    if (found.removing) {
                        part.state = "REMOVED";
                        news.add(feed);
                    } else {
                        send(part.lane, new Message.Add(part.lane.id, part.now()));
                    }
                }
            }
        });
    }

    /** Returns whether Python should hear of it at once. */
    private boolean take(Report report) {
        Feed feed = feeds.get(report.feed());
        if (feed == null || report.part() >= feed.parts.size()) {
            return false;
        }
        Part part = feed.parts.get(report.part());
        part.counts = report.counts();
        for (Report.OfPartition partition : report.partitions()) {
            TopicPartition source = new TopicPartition(partition.topic(), partition.partition());
            part.offsets.put(source, partition.next());
            feed.partitions.merge(source, partition, Plane::joined);
        }
        feed.topics.addAll(report.topics());
        feed.keySchemas.addAll(report.keySchemas());
        feed.valueSchemas.addAll(report.valueSchemas());
        feed.failures.addAll(report.failures());
        feed.written.addAll(report.written());
        boolean first = feed.everWritten.addAll(report.written());
        feed.transactions.addAll(report.transactions());
        news.add(report.feed());
        boolean ended = !report.state().equals("RUNNING");
        if (ended) {
            part.state = report.state();
            part.failure = report.failure();
            release(part, report.feed());
        }
        return ended || !report.topics().isEmpty() || !report.keySchemas().isEmpty() || !report.valueSchemas().isEmpty()
            || first;
    }

    private static Report.OfPartition joined(Report.OfPartition old, Report.OfPartition now) {
        return new Report.OfPartition(now.topic(), now.partition(), now.next(), now.records(), now.bytes(), now.upstream(),
            now.downstream(), joined(old.age(), now.age()), joined(old.latency(), now.latency()));
    }

    private static long[] joined(long[] a, long[] b) {
        if (a[0] == 0 || b[0] == 0) {
            return a[0] == 0 ? b : a;
        }
        return new long[] {a[0] + b[0], Math.min(a[1], b[1]), Math.max(a[2], b[2]), a[3] + b[3], b[4]};
    }

    private void hear() {
        synchronized (heard) {
            urgent = true;
            heard.notifyAll();
        }
    }

    private void send(LaneInfo lane, Message.Command command) {
        Driven task = tasks[lane.task];
        task.outbox.add(new Message.Numbered(++task.numbered, command));
        ring(task);
    }

    private static void ring(Driven task) {
        synchronized (task.bell) {
            task.bell.notifyAll();
        }
    }

    private static void release(Part part, long feed) {
        for (Partition partition : part.spec.partitions()) {
            part.lane.partitions.remove(partition.source(), feed);
        }
        if (part.lane.partitions.isEmpty()) {
            part.lane.unusedSinceMs = System.currentTimeMillis();
        }
    }

    /** Which lanes read these partitions: spread over as many tasks, each in the lane of its task that has least to read. */
    private Map<LaneInfo, List<Partition>> place(FeedSpec.Settings settings, List<Partition> partitions, int most) {
        Map<LaneInfo, List<Partition>> placed = new LinkedHashMap<>();
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < tasks.length; i++) {
            order.add(i);
        }
        order.sort(Comparator.comparingInt(this::load));
        int width = Math.min(most, Math.min(order.size(), Math.max(1, partitions.size())));
        for (int i = 0; i < partitions.size(); i++) {
            Partition partition = partitions.get(i);
            int task = order.get(i % width);
            LaneInfo lane = null;
            for (LaneInfo candidate : lanes.values()) {
                if (candidate.task == task && candidate.settings.equals(settings)
                    && !candidate.partitions.containsKey(partition.source())) {
                    lane = candidate;
                    break;
                }
            }
            if (lane == null) {
                lane = new LaneInfo(++nextLane, task, settings);
                lanes.put(lane.id, lane);
            }
            placed.computeIfAbsent(lane, made -> new ArrayList<>()).add(partition);
        }
        return placed;
    }

    private int load(int task) {
        int partitions = 0;
        for (LaneInfo lane : lanes.values()) {
            partitions += lane.task == task ? lane.partitions.size() : 0;
        }
        return partitions;
    }

    private void closeUnused() {
        long before = System.currentTimeMillis() - UNUSED_MS;
        lanes.values().removeIf(lane -> {
            boolean unused = lane.partitions.isEmpty() && lane.unusedSinceMs < before;
            if (unused) {
                send(lane, new Message.Close(lane.id));
            }
            return unused;
        });
    }

    // JSON

    private ObjectNode json(long number, Feed feed) {
        ObjectNode node = JSON.createObjectNode();
        node.put("feed", number);
        boolean ended = true;
        for (Part part : feed.parts) {
            ended &= !part.state.equals("RUNNING");
            if (part.failure != null) {
                node.set("failure", JSON.valueToTree(part.failure));
            }
        }
        node.put("ended", ended);
        ArrayNode partitions = node.putArray("partitions");
        for (Report.OfPartition partition : feed.partitions.values()) {
            partitions.add(JSON.valueToTree(partition));
        }
        ArrayNode counts = node.putArray("counts");
        for (Part part : feed.parts) {
            if (part.counts != null) {
                counts.add(JSON.valueToTree(part.counts));
            }
        }
        node.set("topics", JSON.valueToTree(feed.topics));
        node.set("key_schemas", JSON.valueToTree(feed.keySchemas));
        node.set("value_schemas", JSON.valueToTree(feed.valueSchemas));
        node.set("failures", JSON.valueToTree(feed.failures));
        node.set("written", JSON.valueToTree(feed.written));
        node.set("transactions", JSON.valueToTree(feed.transactions));
        feed.partitions.clear();
        feed.topics.clear();
        feed.keySchemas.clear();
        feed.valueSchemas.clear();
        feed.failures.clear();
        feed.written.clear();
        feed.transactions.clear();
        return node;
    }

    private static Target target(JsonNode node) {
        return new Target(node.get("topic").asText(), node.get("partitions").asInt(), node.get("max_message_bytes").asInt(),
            node.get("keeps_partition").asBoolean());
    }

    private static Partition partition(JsonNode node) {
        List<Partition.OffsetRecord> stores = new ArrayList<>();
        for (JsonNode store : node.path("stores")) {
            Base64.Decoder base64 = Base64.getDecoder();
            stores.add(new Partition.OffsetRecord(store.get(0).asText(), base64.decode(store.get(1).asText()),
                base64.decode(store.get(2).asText()), base64.decode(store.get(3).asText())));
        }
        return new Partition(node.get("topic").asText(), node.get("partition").asInt(), node.get("offset").asLong(),
            stores.toArray(new Partition.OffsetRecord[0]));
    }

    private static Map<String, String> texts(JsonNode node) {
        Map<String, String> texts = new HashMap<>();
        node.fields().forEachRemaining(field -> texts.put(field.getKey(), field.getValue().asText()));
        return texts;
    }
}
