package io.headrace.lanes;

import java.io.Serializable;
import java.util.List;

/** What the Spark task that drives lanes, and the driver, say to each other. */
interface Message extends Serializable {
    /**
     * Task to driver: who I am, what I have done, what I have heard.
     *
     * @param attempt of the Spark task; the newest has the lanes
     * @param heard the number of the last command that was executed
     */
    record Ask(long plane, int task, long attempt, long heard, List<Report> reports, List<Long> deadLanes) implements Message { }

    /** Driver to task. @param stop end all lanes, and the task */
    record Reply(boolean stop, List<Numbered> commands) implements Message { }

    /** A command and its number. */
    record Numbered(long number, Command command) implements Message { }

    /** What a task is to do. */
    sealed interface Command extends Message permits Add, Remove, GiveUp, Known, Replace, Close { }

    /** Open a lane if there is none of this number, and add a part of a feed to it. */
    record Add(long lane, FeedSpec spec) implements Command { }

    /** Remove a part: read no more of it, and report when nothing is in flight. */
    record Remove(long feed, int part) implements Command { }

    /** Remove a part, and write nothing more of it: what is in flight is given up. */
    record GiveUp(long feed, int part) implements Command { }

    /** A topic is known to exist. */
    record Known(long feed, int part, Target target) implements Command { }

    /** Take another chain for the records that need it. */
    record Replace(long feed, int part, ChainPlan chain, List<String> needs) implements Command { }

    /** Close a lane that has no feeds. */
    record Close(long lane) implements Command { }
}
