package io.headrace.lanes;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.VoidFunction;

/**
 * The Spark task that drives lanes: the driver says which feeds they have, and it reports their offsets. It ends when the
 * driver says so, or is killed; its next attempt resumes at the acknowledged offsets.
 */
final class LaneTask implements VoidFunction<Iterator<Integer>> {
    private static final long LOCAL_MS = 200; // between two reports, unless something is urgent
    private static final long IDLE_MS = 1000; // without lanes: there is nothing to report, and the driver rings
    private static final long REMOTE_MS = 100; // between two questions to a driver in another process
    private static final long LEASE_MS = 30_000; // without an answer for so long, another attempt may have taken over
    private static final int PREPARERS = 8;
    private final long plane;

    LaneTask(long plane) {
        this.plane = plane;
    }

    @Override
    public void call(Iterator<Integer> numbers) throws Exception {
        while (numbers.hasNext()) {
            new Run(plane, numbers.next(), TaskContext.get()).drive();
        }
    }

    /** One attempt. */
    private static final class Run {
        private final long plane;
        private final int task;
        private final TaskContext context;
        private final Map<Long, Lane> lanes = new LinkedHashMap<>();
        private final Map<String, Entry> entries = new LinkedHashMap<>();
        private final ExecutorService threads; // for what needs a processor: they wait for nobody
        private final ExecutorService blocking; // for what waits for a cluster: nothing else waits for it
        private final Bell bell;
        private final boolean local;
        private List<Report> reports = new ArrayList<>();
        private volatile boolean ending; // what is being prepared is prepared by the next attempt
        private long heard;
        private long answeredMs = System.currentTimeMillis();

        Run(long plane, int task, TaskContext context) {
            this.plane = plane;
            this.task = task;
            this.context = context;
            this.local = LanePlugin.isDriver();
            this.bell = local ? Plane.bell(plane, task) : new Bell();
            AtomicInteger count = new AtomicInteger();
            ThreadFactory made = work -> {
                Thread thread = new Thread(work, "lanes-" + task + "-" + count.incrementAndGet());
                thread.setDaemon(true);
                return thread;
            };
            this.threads = Executors.newFixedThreadPool(PREPARERS, made);
            this.blocking = Executors.newCachedThreadPool(made);
        }

        void drive() throws Exception {
            try {
                while (exchange()) {
                    context.killTaskIfInterrupted();
                    bell.await(!local ? REMOTE_MS : lanes.isEmpty() ? IDLE_MS : LOCAL_MS);
                }
            } finally {
                end();
            }
            context.killTaskIfInterrupted();
        }

        /** Report, and do what the driver says; returns whether to continue. */
        private boolean exchange() {
            List<Long> dead = new ArrayList<>();
            lanes.values().removeIf(lane -> lane.hasEnded() && close(lane) && dead.add(lane.id));
            collect();
            Message.Reply reply;
            try {
                reply = LanePlugin.ask(new Message.Ask(plane, task, context.taskAttemptId(), heard, reports, dead));
            } catch (Exception e) { // the reports go with the next question
                if (System.currentTimeMillis() - answeredMs > LEASE_MS) {
                    throw new IllegalStateException("The driver has not answered for " + LEASE_MS + " ms", e);
                }
                return true;
            }
            answeredMs = System.currentTimeMillis();
            reports = new ArrayList<>();
            if (reply.stop()) {
                return false;
            }
            for (Message.Numbered numbered : reply.commands()) {
                if (numbered.number() > heard) {
                    heard = numbered.number();
                    execute(numbered.command());
                }
            }
            return true;
        }

        private void collect() {
            Iterator<Entry> all = entries.values().iterator();
            while (all.hasNext()) {
                Report report = all.next().report();
                if (report != null) {
                    reports.add(report);
                    if (!report.state().equals("RUNNING")) {
                        all.remove();
                    }
                }
            }
        }

        private void execute(Message.Command command) {
            if (command instanceof Message.Add add) {
                Entry entry = new Entry(add.spec());
                entries.put(key(add.spec().feed(), add.spec().part()), entry);
                Lane lane = lanes.computeIfAbsent(add.lane(), id -> new Lane(id, add.spec().settings(), bell::ring));
                threads.execute(() -> entry.prepare(lane));
            } else if (command instanceof Message.Close close) {
                Lane lane = lanes.remove(close.lane());
                if (lane != null) {
                    new Thread(() -> stop(lane), "stop-lane-" + lane.id).start();
                }
            } else if (command instanceof Message.Remove remove) {
                of(remove.feed(), remove.part(), entry -> entry.remove(FeedPart::remove));
            } else if (command instanceof Message.GiveUp remove) {
                of(remove.feed(), remove.part(), entry -> entry.remove(FeedPart::giveUp));
            } else if (command instanceof Message.Known known) {
                of(known.feed(), known.part(), entry -> blocking.execute(() -> entry.knows(known.target())));
            } else if (command instanceof Message.Replace replace) {
                of(replace.feed(), replace.part(), entry -> threads.execute(() -> entry.replaces(replace.chain(), replace.needs())));
            }
        }

        private void of(long feed, int part, Consumer<Entry> action) {
            Entry entry = entries.get(key(feed, part));
            if (entry != null) {
                action.accept(entry);
            }
        }

        private static String key(long feed, int part) {
            return feed + "/" + part;
        }

        private static boolean close(Lane ended) {
            ended.producer.end();
            return true;
        }

        private static void stop(Lane lane) {
            try {
                lane.stop();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        /** Stop all lanes, and tell the driver how far they have come. */
        private void end() {
            ending = true;
            boolean interrupted = Thread.interrupted(); // of a task that is killed
            List<Thread> stops = new ArrayList<>();
            for (Lane lane : lanes.values()) {
                Thread thread = new Thread(() -> stop(lane), "stop-lane-" + lane.id);
                thread.start();
                stops.add(thread);
            }
            try {
                for (Thread thread : stops) {
                    thread.join();
                }
                collect();
                LanePlugin.ask(new Message.Ask(plane, task, context.taskAttemptId(), heard, reports, List.of()));
            } catch (Exception e) {
                org.slf4j.LoggerFactory.getLogger(LaneTask.class).info("The last offsets of the lanes did not reach the driver", e);
            }
            entries.values().forEach(Entry::close);
            threads.shutdownNow();
            blocking.shutdownNow();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        /** A part of a feed, from the command to add it on. */
        private final class Entry {
            private final FeedSpec spec;
            private FeedPart part; // guarded by this, as is what follows
            private Transaction transaction; // of a part that is being prepared
            private boolean prepares = true;
            private boolean removed;
            private Report.Failure failure;

            Entry(FeedSpec spec) {
                this.spec = spec;
            }

            /** Compile the chain, and make the clients; on threads of their own. */
            void prepare(Lane lane) {
                try {
                    Chain chain = spec.chain().open();
                    blocking.execute(() -> connect(lane, chain));
                } catch (Throwable e) {
                    failed(e);
                }
            }

            /** Begin, with its transactional id unless it is removed: another one may have that by then. */
            private void connect(Lane lane, Chain chain) {
                Transaction made = null;
                try {
                    lane.open();
                    if (spec.transactions() == null) {
                        begin(lane, new FeedPart(spec, chain, lane, spec.file() != null ? null : lane.producer.get(), null));
                        return;
                    }
                    made = new Transaction(spec, blocking); // without the lock, which those wait for who report
                    if (!keeps(made)) {
                        made.producer.close(Duration.ZERO);
                        begin(lane, null);
                        return;
                    }
                    made.initialize(spec.transactions());
                    FeedPart ready = new FeedPart(spec, chain, lane, made.producer, made);
                    made.of(ready);
                    begin(lane, ready);
                } catch (Throwable e) {
                    if (made != null) {
                        made.producer.close(Duration.ZERO);
                    }
                    failed(e);
                }
            }

            private synchronized boolean keeps(Transaction made) {
                transaction = removed ? null : made;
                return !removed;
            }

            /** Have the lane read it, unless it was removed meanwhile. */
            private void begin(Lane lane, FeedPart ready) {
                synchronized (this) {
                    prepares = false;
                    transaction = null;
                    if (!removed) {
                        part = ready;
                        lane.submit(() -> lane.add(ready));
                    }
                }
                if (part == null) {
                    if (ready != null) {
                        ready.close();
                    }
                    bell.ring();
                } else if (lane.hasEnded() && !ending) {
                    ready.fail(Report.Failure.of(new IllegalStateException("The lane has ended")));
                    bell.ring();
                }
            }

            synchronized void failed(Throwable e) {
                if (ending) {
                    return;
                }
                prepares = false;
                transaction = null;
                failure = removed ? null : Report.Failure.of(e);
                bell.ring();
            }

            /** Have the lane end it; one that is being prepared is given up. */
            synchronized void remove(Consumer<FeedPart> how) {
                removed = true;
                if (part != null) {
                    part.lane.submit(() -> how.accept(part));
                } else if (transaction != null) {
                    threads.execute(close(transaction)); // it may wait for a cluster that is away
                } else {
                    prepares = false; // it will begin nothing
                }
            }

            private static Runnable close(Transaction unused) {
                return () -> unused.producer.close(Duration.ZERO);
            }

            /** The task ends. */
            synchronized void close() {
                removed = true;
                if (part != null) {
                    part.close();
                } else if (transaction != null) {
                    close(transaction).run();
                }
            }

            void knows(Target target) {
                FeedPart to;
                synchronized (this) {
                    to = part;
                }
                if (to == null) {
                    return;
                }
                Producer<byte[], byte[]> producer = to.producer;
                try {
                    producer.partitionsFor(target.topic()); // so that the lane does not wait for metadata
                } catch (org.apache.kafka.common.errors.TimeoutException e) {
                    to.needs(target.topic()); // it may have been deleted again: the driver looks again
                    return;
                } catch (RuntimeException e) {
                    if (to.lane.producer.isClosed(producer)) {
                        to.needs(target.topic()); // the lane has another one by the time of the answer
                    } else {
                        to.fail(Report.Failure.of(e).at(null, target.topic()));
                    }
                    return;
                }
                to.lane.submit(() -> to.knows(target));
            }

            void replaces(ChainPlan plan, List<String> needs) {
                FeedPart to;
                synchronized (this) {
                    to = part;
                }
                if (to == null) {
                    return;
                }
                try {
                    Chain chain = plan.open();
                    to.lane.submit(() -> to.replaces(chain, needs));
                } catch (Throwable e) { // its records wait for the chain
                    to.fail(Report.Failure.of(e));
                }
            }

            synchronized Report report() {
                if (part != null) {
                    return part.report();
                }
                if (failure == null && (!removed || prepares)) {
                    return null;
                }
                Report.Counts none = new Report.Counts(0, 0, 0, 0, 0, 0, 0, 0, false, new Histogram().toArray());
                return new ReportBuffer().report(spec, failure == null ? "REMOVED" : "FAILED", failure, List.of(), none);
            }
        }
    }
}
