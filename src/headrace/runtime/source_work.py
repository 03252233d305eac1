"""What the task of a source connector does: its stream, or its polls, through the chain to delivery."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog

from headrace.connectors.base import PollingSourceTask, Props, SourcePartition, SourceTask, StoredOffsets, Stream
from headrace.connectors.loss import DataLossError, Loss
from headrace.errors import HeadraceError
from headrace.runtime.chain import SourceChain
from headrace.runtime.counting import Counts
from headrace.runtime.delivery import Delivery, Ports
from headrace.runtime.exactly_once import ExactlyOnce
from headrace.runtime.lag import is_close
from headrace.runtime.metrics import TaskRecorder
from headrace.runtime.metrics.events import Lost, Streams
from headrace.runtime.mode import CLOSE, Facts, Mode, choose, without_facts, without_slots
from headrace.runtime.plan import TaskPlan
from headrace.runtime.real_time import RealTimeRun
from headrace.runtime.routing import routing
from headrace.runtime.stream import Begin, StreamRun, Watch
from headrace.spark.kafka import is_local
from headrace.spark.marks import Durable, Marks
from headrace.spark.real_time import SHORTEST_MS, SLOTS, most

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = structlog.get_logger(__name__)

_NOTHING_TO_READ_S, _LOOK_S = 5.0, 1.0


@dataclass(frozen=True)
class SourceDependencies:
    """What a source task gets from the worker: Spark (made at the first use), delivery's ports, the stored offsets, and whom to
    tell what is measured; record_losses: returns when it is written down what the source has lost; streams: told how the stream
    runs, where there is a choice; exactly: the task's transactions, if it delivers exactly once.
    """

    spark: Callable[[], SparkSession]
    ports: Ports
    read_offsets: Callable[[list], StoredOffsets]
    recorder: TaskRecorder
    record_losses: Callable[[Sequence[Loss]], None]
    streams: Callable[[Mode], None]
    exactly: ExactlyOnce | None = None


class SourceWork:
    """The work of one source task (`headrace.runtime.task.Work`)."""

    def __init__(self, plan: TaskPlan, task: SourceTask | PollingSourceTask, needs: SourceDependencies) -> None:
        self._plan, self._task, self._needs = plan, task, needs
        self._stopping = task.context.stopping
        self._delivery = Delivery(needs.ports, plan.producer, needs.recorder, plan.tolerance, needs.exactly)
        self._run: StreamRun | RealTimeRun | None = None
        self._mode: Mode | None = None  # that was told last
        self._polling: SparkSession | None = None  # set once a polling task runs, its jobs in the job group `_jobs`
        # What a polling task has stored, by its partitions.
        self._kept: tuple[list[SourcePartition], StoredOffsets] | None = None
        self._jobs = f"{task.context.id}@{uuid.uuid4().hex[:8]}"

    @property
    def props(self) -> Props:
        """The task's configuration."""
        return self._plan.props

    @property
    def batches(self) -> int:
        """How many batches are written and committed."""
        return self._delivery.batches

    def prepare(self) -> None:
        """Wait until no task of a former generation can write in this one's name, if it delivers exactly once."""
        if self._needs.exactly is not None:
            self._needs.exactly.fence_zombies()

    def once(self) -> float:
        """Run the query until it ends, or deliver one poll; returns the seconds to wait before the next look."""
        try:
            return self._poll(self._task) if isinstance(self._task, PollingSourceTask) else self._stream(self._task)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """The task is over, or has failed."""
        if self._needs.exactly is not None:
            self._needs.exactly.end()

    def _stored(self, spark: SparkSession) -> StoredOffsets:
        """Where to go on; nobody else changes that from here on, if the task delivers exactly once."""
        if self._needs.exactly is not None:
            self._needs.exactly.begin(spark)
        return self._needs.read_offsets(self._task.partitions())

    def end(self, timeout_s: float) -> None:
        """End the query, whose batch in flight gets `timeout_s`."""
        if self._run is not None:
            self._run.stop(timeout_s)

    def cut_off(self) -> None:
        """Cancel a poll's jobs: its batch must not be delivered beside its successor's."""
        if self._polling is not None:
            self._polling.sparkContext.cancelJobGroup(self._jobs)

    def _stream(self, task: SourceTask) -> float:
        spark = self._needs.spark()
        stream = self._open(task, spark)
        if stream is None:
            return _NOTHING_TO_READ_S
        if stream.initial:
            self._needs.ports.store_offsets(stream.initial)
        mode = self._real_time(task, spark, stream, task.stream_mode) if task.stream_mode is not None else None
        if mode is None or mode.name == "microbatch":
            caught_up = Watch(_LOOK_S, lambda query: is_close(query, CLOSE))
            self._write_batches(task, spark, stream, caught_up if mode is not None and mode.passing else None)
        return 0.0

    def _chain(self, stream: Stream) -> SourceChain:
        return SourceChain(self._plan, stream.record, Counts(stream.frame.sparkSession))

    def _real_time(self, task: SourceTask, spark: SparkSession, stream: Stream, wanted: str) -> Mode:
        """Tell which mode it is, and write in real-time mode if it is that; returns which it was."""
        slots = most(spark, wanted)
        if (mode := without_facts(wanted, stream.partitions, slots)) is not None:
            return self._tell_mode(mode)
        found = task.real_time(spark)
        continuous, unable = (stream, found) if isinstance(found, str) else (found, None)
        chain = self._chain(continuous)
        mode = choose(wanted, self._facts(chain, stream, is_local(spark), unable))
        with SLOTS.hold(stream.partitions if mode.name == "realtime" else 0, slots) as free:
            mode = self._tell_mode(mode if free else without_slots(wanted))
            if mode.name == "realtime":
                self._write_on(task, continuous, chain)
        return mode

    def _tell_mode(self, mode: Mode) -> Mode:
        if mode != self._mode and not self._stopping.is_set():
            log.info("task.stream-mode", mode=mode.name, reason=mode.reason)
            self._needs.recorder.tell(Streams(mode.name, mode.reason))
            self._needs.streams(mode)
        self._mode = mode
        return mode

    def _facts(self, chain: SourceChain, stream: Stream, local: bool, unable: str | None) -> Facts:
        return Facts(
            local=local,
            unable=unable,
            transactions=self._needs.exactly is not None,
            schemas=chain.learns,
            fallible=not chain.learns and chain.compiled().fails,
            routed=routing(self._plan.stages, stream).destination is not None,
            drops=any(stage.transformation.drops for stage in self._plan.stages),
            interval=self._task.context.interval_ms is not None,
            behind=stream.behind,
        )

    def _write_batches(self, task: SourceTask, spark: SparkSession, stream: Stream, watch: Watch | None) -> None:
        chain = self._chain(stream)
        frame = chain.incoming(stream.frame)
        if not chain.learns:
            frame = chain.outgoing(frame)
        if self._needs.exactly is not None:
            self._needs.exactly.reads(stream)
        who = (self._plan.connector, self._plan.task)
        self._run = run = StreamRun(spark, who, self._deliver(task, stream, chain), self._delivery.abandon, self._needs.recorder)
        if not self._stopping.is_set():
            run.run(frame, watch, Begin(stream.after, stream.interval_ms))

    def _write_on(self, task: SourceTask, stream: Stream, chain: SourceChain) -> None:
        """In real-time mode: the topics first, then everything as it comes."""
        way = routing(self._plan.stages, stream)

        def copies(topics: Iterable[str]) -> set[str]:
            return {name for topic in topics if way.destination and (name := way.destination(topic)) is not None}

        def ended(start: str | None, end: str, records: bool) -> None:
            progress = task.progress(start, end)
            self._delivery.ended(progress, copies(progress.topics or ()) if records else ())
            task.committed(replace(progress, settled=False))

        # Where the chain routes elsewhere, or mixes topics, it is not known whose copies were acknowledged.
        direct = all(
            way.destination and stream.destination and way.destination(t) == stream.destination(t) for t in stream.topics
        )

        def told(durable: Durable) -> None:
            if stream.told is not None:
                stream.told(durable if direct else replace(durable, written={}))

        self._delivery.prepare(copies(stream.topics))
        who = (self._plan.connector, self._plan.task)
        marks = Marks(stream.frame.sparkSession, "{}-{}".format(*who))
        frame = chain.outgoing(chain.incoming(marks.of(stream.frame)))
        store_ms = stream.interval_ms or SHORTEST_MS
        self._run = run = RealTimeRun(who, store_ms, ended, self._delivery.abandon, self._needs.recorder)
        if stream.lag is not None:
            self._needs.recorder.follow_lag(stream.lag)
        if not self._stopping.is_set():
            run.run(frame, marks, lambda frame, start: self._delivery.continuous(frame, way, start), told)

    def _open(self, task: SourceTask, spark: SparkSession) -> Stream | None:
        try:
            stream = task.open(spark, self._stored(spark))
        except DataLossError as error:
            self._tell(error.losses)
            try:
                self._needs.record_losses(error.losses)
            except HeadraceError as e:  # what has happened to the source is what the task fails with
                log.warning("source.data.loss.not-recorded", cause=str(e))
            raise
        if stream is not None and stream.losses:
            self._needs.record_losses(stream.losses)  # not passed over in silence, or not at all
            self._tell(stream.losses)
        return stream

    def _tell(self, losses: Sequence[Loss]) -> None:
        for loss in losses:
            log.warning("source.data.loss", **loss.fields())
            self._needs.recorder.tell(Lost(loss.records))

    def _deliver(self, task: SourceTask, stream: Stream, chain: SourceChain) -> Callable[[DataFrame, str | None, str], None]:
        way, looks = routing(self._plan.stages, stream), chain.learns

        def deliver(frame: DataFrame, start: str | None, end: str) -> None:
            progress = task.progress(start, end)
            if looks:
                chain.learn(frame)
                frame = chain.outgoing(frame)
            self._delivery(frame, progress, way, chain.counts)
            task.committed(progress)

        return deliver

    def _poll(self, task: PollingSourceTask) -> float:
        begun = time.monotonic()
        if self._polling is None:
            self._polling = self._needs.spark()
            self._polling.sparkContext.setJobGroup(self._jobs, self._jobs, interruptOnCancel=True)
        # Read once: nobody else changes them while the task runs, and to ask the brokers at each poll is what an idle task costs.
        (partitions, stored), self._kept = self._known(self._polling, task.partitions()), None
        poll = task.poll(self._polling, stored)
        if poll is None or self._stopping.is_set():
            self._kept = partitions, stored
            return task.poll_interval_s
        chain = SourceChain(self._plan, poll.record, Counts(self._polling))
        frame = chain.incoming(poll.frame)
        if chain.learns:
            chain.learn(frame)
        self._delivery(chain.outgoing(frame), poll.progress, routing(self._plan.stages, poll), chain.counts)
        self._kept = partitions, stored.after(poll.progress.offsets)
        task.committed(poll.progress)
        return max(0.0, begun + (task.context.interval_ms or 0) / 1000 - time.monotonic())

    def _known(self, spark: SparkSession, partitions: list[SourcePartition]) -> tuple[list[SourcePartition], StoredOffsets]:
        """The stored offsets of these partitions: as they were left, or read if there are others, or the last poll has failed."""
        known = self._kept
        return known if known is not None and known[0] == partitions else (partitions, self._stored(spark))
