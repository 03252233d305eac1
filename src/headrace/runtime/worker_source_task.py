"""The work of a source connector's task: its stream, feed or polls, through the chain to delivery."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from headrace.connectors.base import PollingSourceTask, Props, SourcePartition, SourceTask, StoredOffsets
from headrace.connectors.data_loss import DataLossError, Loss
from headrace.connectors.feed import FeedSource, FeedTask
from headrace.connectors.hosted import HostedPoll
from headrace.errors import HeadraceError
from headrace.kafka.coalesced_requests import follow_silence
from headrace.runtime import plugin_instances
from headrace.runtime.chain import SourceChain
from headrace.runtime.delivery import Delivery, Ports
from headrace.runtime.exactly_once import ExactlyOnce
from headrace.runtime.feed_batches import FeedBatches
from headrace.runtime.feed_dependencies import FeedDependencies
from headrace.runtime.feed_plans import source_plans
from headrace.runtime.feed_run import FeedRun
from headrace.runtime.metrics import TaskRecorder
from headrace.runtime.metrics.events import Lost
from headrace.runtime.plan import TaskPlan
from headrace.runtime.query_run import QueryRun, QueryStart
from headrace.runtime.record_counts import RecordCounts
from headrace.runtime.routing import routing
from headrace.runtime.stream_mode import REAL_TIME, StreamMode, StreamModeReporter, batches_for

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = structlog.get_logger(__name__)

_NOTHING_TO_READ_S = 5.0


@dataclass(frozen=True)
class SourceDependencies:
    """Objects of the worker that a source task uses."""

    spark: Callable[[], SparkSession]
    """The session, which is started at the first use."""
    ports: Ports
    """What delivery writes to."""
    read_offsets: Callable[[list], StoredOffsets]
    """The stored offsets of source partitions."""
    recorder: TaskRecorder
    """Of the task's metrics."""
    record_losses: Callable[[Sequence[Loss]], None]
    """Returns when data losses are recorded."""
    streams: Callable[[StreamMode], None]
    """Takes the stream mode."""
    exactly: ExactlyOnce | None = None
    """The task's transactions, if it delivers exactly once."""


class WorkerSourceTask:
    """The work of one source task (`headrace.runtime.task.WorkerTask`)."""

    def __init__(self, plan: TaskPlan, task: SourceTask | PollingSourceTask | FeedTask, needs: SourceDependencies) -> None:
        self._plan, self._task, self._needs = plan, task, needs
        self._stopping = task.context.stopping
        self._delivery = Delivery(needs.ports, plan.producer, needs.recorder, plan.tolerance, needs.exactly)
        self._run: QueryRun | FeedRun | FeedBatches | None = None
        self._ended_feed_batches = 0  # `batches` of feeds that have ended
        self._batch_bytes: int | None = None  # `batch_bytes` of the last feed
        self._mode = StreamModeReporter(needs.recorder, needs.streams, self._stopping)
        self._spark: SparkSession | None = None  # set once jobs of the task's thread are in the job group `_jobs`
        # The partitions of a polling task, and their stored offsets.
        self._last_stored: tuple[list[SourcePartition], StoredOffsets] | None = None
        self._jobs = f"{task.context.id}@{uuid.uuid4().hex[:8]}"
        self._follows_plugins = False
        self._follow_plugins()
        needs.recorder.follow_target(follow_silence(plan.producer, plan.admin))

    @property
    def props(self) -> Props:
        """The task's configuration."""
        return self._plan.props

    @property
    def batches(self) -> int:
        """How often records were written, and their offsets stored."""
        run = self._run
        return self._delivery.batches + self._ended_feed_batches + (run.batches if isinstance(run, FeedRun) else 0)

    def prepare(self) -> None:
        """Wait until tasks of earlier generations are fenced, if it delivers exactly once."""
        if self._needs.exactly is not None:
            self._needs.exactly.fence_zombies()

    def once(self) -> float:
        """Run the feed or query until it ends, or deliver one poll; returns the seconds to wait before the next call."""
        try:
            self._follow_plugins()
            if isinstance(self._task, FeedTask):
                return self._run_feed(self._task)
            return self._poll(self._task) if isinstance(self._task, PollingSourceTask) else self._run_query(self._task)
        except BaseException:
            self.close()
            raise

    def _follow_plugins(self) -> None:
        """Add the metrics of the plugins to the task's, again after a failed attempt, which closes and reopens the plugins."""
        if not self._follows_plugins:
            plan, task = self._plan, self._task
            who, before = (plan.connector, plan.task), lambda: task.retries if isinstance(task, HostedPoll) else 0
            plugin_instances.follow(self._needs.recorder, who, plan.stages, plan.all_converters, before)
            self._follows_plugins = True

    def close(self) -> None:
        """Close the plugins, and end the transactions."""
        self._follows_plugins = False
        self._needs.recorder.end_plugins()
        plugin_instances.close(self._plan.stages, self._plan.all_converters)
        if self._needs.exactly is not None:
            self._needs.exactly.end()

    def _stored(self, spark: SparkSession) -> StoredOffsets:
        """The stored offsets; with exactly-once delivery, earlier producers are fenced first."""
        if self._needs.exactly is not None:
            self._needs.exactly.begin(spark)
        return self._needs.read_offsets(self._task.partitions())

    def end(self, timeout_s: float) -> None:
        """End the run; a batch in flight has `timeout_s` to be committed. Also ends a wait for polled records of a host."""
        run = self._run  # the task's thread forgets it when it has ended
        if run is not None:
            run.stop(timeout_s)
        if isinstance(self._task, HostedPoll):
            self._task.wake_up()

    def cut_off(self) -> None:
        """Store no more offsets and write no more records, as a successor may run."""
        run = self._run
        try:  # before `abandon`, which waits while offsets are stored
            if isinstance(run, FeedRun):
                run.cut_off()
            if self._spark is not None:
                context: Any = self._spark.sparkContext
                context._jsc.sc().cancelJobGroupAndFutureJobs(self._jobs)  # a batch has several jobs, one after the other
        finally:  # the JVM may have ended
            self._delivery.commits.abandon()

    def _put_jobs_in_group(self, spark: SparkSession) -> None:
        """Put the jobs of this thread, the task's, in its job group. Not for a lane: what it shares must not be cancelled."""
        if self._spark is None:
            spark.sparkContext.setJobGroup(self._jobs, self._jobs, interruptOnCancel=True)
            self._spark = spark

    def _run_query(self, task: SourceTask) -> float:
        """Run the stream of a data source of Spark's own until it ends."""
        spark = self._needs.spark()
        stream = task.open(spark, self._stored(spark))
        if stream is None:
            return _NOTHING_TO_READ_S
        counts = RecordCounts(spark)
        chain = SourceChain(self._plan, stream.record)
        frame = chain.incoming(counts.reading(stream.frame))
        if not chain.learns:
            frame = chain.outgoing(frame)
        topic_routing, learns = routing(self._plan.stages, stream), chain.learns

        def deliver(frame: DataFrame, start: str | None, end: str) -> None:
            progress = task.progress(start, end)
            if learns:
                chain.learn(frame)
                frame = chain.outgoing(frame)
            self._delivery(frame, progress, topic_routing, counts)
            task.committed(progress)

        who = (self._plan.connector, self._plan.task)
        self._run = run = QueryRun(spark, who, deliver, self._delivery.commits.abandon, self._needs.recorder)
        if not self._stopping.is_set():
            run.run(frame, query_start=QueryStart(stream.after, stream.interval_ms))
        return 0.0

    def _run_feed(self, task: FeedTask) -> float:
        """Run a feed in a lane, or in batches if the chain cannot process single records."""
        spark = self._needs.spark()
        source = self._open(task, self._stored(spark))
        if source is None:
            return _NOTHING_TO_READ_S
        if source.initial:
            self._delivery.commits.store(source.initial, "the partitions to be read")
        plans = source_plans(spark, self._plan, source)
        plan = plans.first()
        self._needs.recorder.follow_positions(task.positions, task.silent_since_ms)
        run: FeedRun | FeedBatches
        if isinstance(plan, str):
            self._mode.report(batches_for(plan))
            self._put_jobs_in_group(spark)
            run = FeedBatches(task, self._plan, self._delivery, source, self._stopping)
        else:
            self._mode.report(REAL_TIME)
            needs = self._needs
            needs_of_run = FeedDependencies(
                name=f"{self._plan.connector}-{self._plan.task}",
                task=task,
                producer=self._plan.producer,
                tolerance=self._plan.tolerance,
                ports=needs.ports,
                commits=self._delivery.commits,
                recorder=needs.recorder,
                stopping=self._stopping,
                exactly=needs.exactly,
                has_plugins=plugin_instances.has_any(self._plan.stages, self._plan.all_converters),
                skips_refused=self._plan.tolerance.all and not self._plan.tolerance.dead_letters and not needs.exactly,
            )
            run = FeedRun(needs_of_run, source, routing(self._plan.stages, source), plans, self._batch_bytes)
        self._run = run
        try:
            if not self._stopping.is_set():
                run.run(spark, plan)
        finally:
            self._ended_feed_batches += run.batches
            self._batch_bytes = run.batch_bytes if isinstance(run, FeedRun) else None
            self._run = None
            if self._needs.exactly is not None:
                self._needs.exactly.end()  # a fence is for one producer
        return 0.0

    def _open(self, task: FeedTask, stored: StoredOffsets) -> FeedSource | None:
        try:
            source = task.open(stored)
        except DataLossError as error:
            self._report_losses(error.losses)
            try:
                self._needs.record_losses(error.losses)
            except HeadraceError as e:  # the task fails with the data loss itself
                log.warning("source.data.loss.not-recorded", cause=str(e))
            raise
        if source is not None and source.losses:
            self._needs.record_losses(source.losses)  # a loss must be recorded before records behind it are read
            self._report_losses(source.losses)
        return source

    def _report_losses(self, losses: Sequence[Loss]) -> None:
        for loss in losses:
            log.warning("source.data.loss", **loss.fields())
            self._needs.recorder.record(Lost(loss.records))

    def _poll(self, task: PollingSourceTask) -> float:
        begun, spark = time.monotonic(), self._spark or self._needs.spark()
        self._put_jobs_in_group(spark)
        # Read once: only this task changes them while it runs, and a request at each poll would be the main cost of an idle task.
        (partitions, stored), self._last_stored = self._stored_for(spark, task.partitions()), None
        poll = task.poll(spark, stored)
        if poll is None or self._stopping.is_set():
            self._last_stored = partitions, stored
            return task.poll_interval_s
        counts, chain = RecordCounts(spark), SourceChain(self._plan, poll.record)
        frame = chain.incoming(counts.reading(poll.frame))
        if chain.learns:
            chain.learn(frame)
        self._delivery(chain.outgoing(frame), poll.progress, routing(self._plan.stages, poll), counts)
        self._last_stored = partitions, stored.after(poll.progress.offsets)
        task.committed(poll.progress)
        return max(0.0, begun + (task.context.interval_ms or 0) / 1000 - time.monotonic())

    def _stored_for(self, spark: SparkSession, partitions: list[SourcePartition]) -> tuple[list[SourcePartition], StoredOffsets]:
        """The stored offsets of these partitions: kept from the last poll, or read if the partitions changed or it failed."""
        known = self._last_stored
        return known if known is not None and known[0] == partitions else (partitions, self._stored(spark))
