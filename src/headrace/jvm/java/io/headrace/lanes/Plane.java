package io.headrace.lanes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * The data plane: one long-lived Spark job, whose tasks drive lanes. This is the driver's side: which lane has which feed, and how far
 * each has come. Python adds and removes feeds, and takes what is new (`headrace.spark.plane`).
 */
public final class Plane {
    private static final Map<Long, Plane> PLANES = new ConcurrentHashMap<>();
    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final long AGAIN_MS = 1000;

    private final long number = NUMBERS.incrementAndGet();
    private final JavaSparkContext context;
    private final Driven[] tasks;
    private final Map<Long, PlacedFeed> feeds = new LinkedHashMap<>();
    private final Placement placement; // guarded by this
    private final Set<Long> news = new HashSet<>(); // feeds that Python has not heard the last of
    private final Object heard = new Object(); // notified when there is something to hear
    private boolean urgent; // guarded by heard
    private boolean reported; // guarded by heard
    private boolean stopped; // guarded by this, as is all the rest
    private long nextFeed;

    /** A Spark task. */
    private static final class Driven {
        private final Bell bell = new Bell();
        private final List<Message.Numbered> outbox = new ArrayList<>();
        private long attempt = -1;
        private long numbered;
    }

    private Plane(JavaSparkContext context, int tasks) {
        this.context = context;
        this.tasks = new Driven[tasks];
        this.placement = new Placement(tasks);
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
            } catch (Throwable e) { // an Error too: without this job no feed is read
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
            task.bell.ring();
        }
        tell(true);
    }

    static Bell bell(long plane, int task) {
        Plane found = PLANES.get(plane);
        return found == null ? new Bell() : found.tasks[task].bell;
    }

    // what Python calls

    /**
     * Begin to read; returns the feed's number.
     *
     * @param json see `headrace.spark.plane.Feed`
     * @param chain what is done with each record
     */
    public long add(String json, ChainPlan chain) throws JsonProcessingException {
        synchronized (this) {
            FeedSpec whole = FeedJson.spec(++nextFeed, json, chain);
            PlacedFeed feed = new PlacedFeed();
            feeds.put(whole.feed(), feed);
            int mostTasks = whole.transactions() == null ? tasks.length : 1; // one producer, one lane
            placement.place(whole.feed(), whole.settings(), whole.partitions(), mostTasks).forEach((lane, partitions) -> {
                FeedSpec spec = whole.with(feed.parts.size(), partitions);
                feed.parts.add(new PlacedFeed.Part(spec, lane));
                send(lane, new Message.Add(lane.id, spec));
            });
            return whole.feed();
        }
    }

    /** Read no more of a feed; its state is REMOVED (or FAILED) once nothing of it is in flight. */
    public synchronized void remove(long feed) {
        PlacedFeed found = feeds.get(feed);
        if (found != null && !found.removing) {
            found.removing = true;
            for (PlacedFeed.Part part : found.parts) {
                send(part.lane, new Message.Remove(feed, part.spec.part()));
            }
        }
    }

    /** As {@link #remove}, and what is in flight is given up: nothing of the feed is written after its state is reported. */
    public synchronized void giveUp(long feed) {
        PlacedFeed found = feeds.get(feed);
        if (found != null) {
            found.removing = true;
            for (PlacedFeed.Part part : found.parts) {
                if (part.isRunning()) {
                    send(part.lane, new Message.GiveUp(feed, part.spec.part()));
                }
            }
        }
    }

    /** Forget a feed, whose state is reported or no longer of interest: its later reports are ignored. */
    public synchronized void forget(long feed) {
        giveUp(feed);
        PlacedFeed found = feeds.remove(feed);
        news.remove(feed);
        if (found != null) {
            for (PlacedFeed.Part part : found.parts) {
                placement.release(part);
            }
        }
    }

    /** A topic exists, for a feed that needs it. */
    public synchronized void known(long feed, String json) throws JsonProcessingException {
        Target target = FeedJson.target(json);
        PlacedFeed found = feeds.get(feed);
        if (found != null) {
            for (PlacedFeed.Part part : found.parts) {
                Map<String, Target> targets = new HashMap<>(part.spec.targets());
                targets.put(target.topic(), target);
                part.spec = part.spec.with(targets);
                send(part.lane, new Message.Known(feed, part.spec.part(), target));
            }
        }
    }

    /**
     * A feed takes another chain for some records.
     *
     * @param needs what it has asked for that this chain knows (column {@link Chain#NEED}), joined by the character 0
     */
    public synchronized void replace(long feed, ChainPlan chain, String needs) {
        PlacedFeed found = feeds.get(feed);
        if (found != null) {
            for (PlacedFeed.Part part : found.parts) {
                part.spec = part.spec.with(chain);
                send(part.lane, new Message.Replace(feed, part.spec.part(), chain, List.of(needs.split("\0"))));
            }
        }
    }

    /**
     * What is new, as soon as something is urgent (a feed has ended, or waits for a topic or a schema), else when there is something and
     * `pauseMs` are over, at the latest after `longestMs`: a JSON array with an object for each feed that has news.
     */
    public String news(long pauseMs, long longestMs) throws InterruptedException {
        long begunMs = System.currentTimeMillis();
        synchronized (heard) {
            while (!urgent) {
                long leftMs = begunMs + (reported ? pauseMs : longestMs) - System.currentTimeMillis();
                if (leftMs <= 0) {
                    break;
                }
                heard.wait(leftMs);
            }
            urgent = false;
            reported = false;
        }
        synchronized (this) {
            ArrayNode all = FeedJson.array();
            for (Long feed : news) {
                PlacedFeed found = feeds.get(feed);
                if (found != null) {
                    all.add(FeedJson.update(feed, found));
                }
            }
            String updates = all.toString(); // without memory for it the next call has them
            for (Long feed : news) {
                PlacedFeed found = feeds.get(feed);
                if (found != null) {
                    found.heard();
                }
            }
            news.clear();
            placement.closeUnused(lane -> send(lane, new Message.Close(lane.id)));
            return updates;
        }
    }

    /** How many lanes there are. */
    public synchronized int lanes() {
        return placement.size();
    }

    /** How many of the Spark tasks have had a task slot until now. */
    public synchronized int started() {
        return (int) Arrays.stream(tasks).filter(task -> task.attempt >= 0).count();
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
            placement.dead(dead);
        }
        task.outbox.removeIf(numbered -> numbered.number() <= ask.heard());
        if (soon || !news.isEmpty()) {
            tell(soon);
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
            for (PlacedFeed.Part part : found.parts) {
                if (tasks[part.lane.task] == task && part.isRunning()) {
                    if (found.removing) {
                        part.state = "REMOVED";
                        news.add(feed);
                    } else {
                        send(part.lane, new Message.Add(part.lane.id, part.again()));
                    }
                }
            }
        });
    }

    /** Returns whether Python should hear of it at once. */
    private boolean take(Report report) {
        PlacedFeed feed = feeds.get(report.feed());
        if (feed == null || report.part() >= feed.parts.size()) {
            return false;
        }
        news.add(report.feed());
        boolean soon = feed.take(report);
        PlacedFeed.Part part = feed.parts.get(report.part());
        if (!part.isRunning()) {
            placement.release(part);
        }
        return soon;
    }

    /** Have Python hear what is new, at once if it is urgent. */
    private void tell(boolean soon) {
        synchronized (heard) {
            urgent |= soon;
            reported = true;
            heard.notifyAll();
        }
    }

    private void send(Placement.LaneInfo lane, Message.Command command) {
        Driven task = tasks[lane.task];
        task.outbox.add(new Message.Numbered(++task.numbered, command));
        task.bell.ring();
    }
}
