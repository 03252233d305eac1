"""The work of a sink connector's task: reads its partitions, through the chain, into the sink."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from headrace.connectors.base import Props
from headrace.connectors.sink import KafkaTarget, SinkTask
from headrace.converters.base import Writers
from headrace.errors import ConnectError, RetriableError
from headrace.kafka.groups import Partition
from headrace.kafka.positions import StartPositions, advanced, by_partition, by_topic
from headrace.retry import Backoff
from headrace.runtime import plugin_instances
from headrace.runtime.delivery import Routing
from headrace.runtime.feed_dependencies import FeedDependencies
from headrace.runtime.feed_plans import sink_plans
from headrace.runtime.feed_run import FeedRun
from headrace.runtime.metrics.events import Assigned
from headrace.runtime.query_run import ChangeWatch, QueryRun
from headrace.runtime.record_counts import RecordCounts
from headrace.runtime.routing import counts_after, router
from headrace.runtime.sink.chain import SinkChain
from headrace.runtime.sink.delivery import SinkBatchRange, SinkDelivery, SinkPorts
from headrace.runtime.sink.feed import SinkFeed, commits, feed_ports, partition_counts
from headrace.runtime.sink.partitions import AssignedPartitions, SinkPartitions
from headrace.runtime.sink.plan import SinkPlan
from headrace.runtime.stream_mode import REAL_TIME, StreamMode, StreamModeReporter, batches_for
from headrace.runtime.tolerance import RecordError
from headrace.spark.kafka import parse_offsets, read_stream, with_api_timeout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = structlog.get_logger(__name__)

_BATCHES = StreamMode("microbatch", "the sink takes batches")
_FIRST_CHECK_S, _MISSING_TOPICS_CHECK_S = 0.1, 5.0
"""Pauses between checks for missing topics: they double up to the latter while there is nothing to read."""


class WorkerSinkTask:
    """The work of one sink task (`headrace.runtime.task.WorkerTask`)."""

    def __init__(
        self, plan: SinkPlan, task: SinkTask, partitions: SinkPartitions, ports: SinkPorts, spark: Callable[[], SparkSession]
    ) -> None:
        self._plan, self._task, self._partitions, self._ports, self._spark = plan, task, partitions, ports, spark
        self._stopping = task.context.stopping
        self._delivery = SinkDelivery(plan, task, ports)
        self._writers: Writers | None = None
        self._commits = commits(plan, ports)
        self._mode = StreamModeReporter(ports.recorder, ports.streams, self._stopping)
        self._run: QueryRun | FeedRun | None = None
        self._ended_feed_batches = 0  # `batches` of feeds that have ended
        self._missing_topics = Backoff(_FIRST_CHECK_S, _MISSING_TOPICS_CHECK_S)
        plugin_instances.follow(ports.recorder, (plan.connector, plan.task), plan.stages, plan.all_converters)

    @property
    def props(self) -> Props:
        """The task's configuration."""
        return self._plan.props

    @property
    def batches(self) -> int:
        """How many batches are written and committed."""
        return self._delivery.batches + self._ended_feed_batches + (self._run.batches if isinstance(self._run, FeedRun) else 0)

    def prepare(self) -> None:
        """Do nothing: committed offsets are read from the consumer group."""

    def once(self) -> float:
        """Read the assigned partitions until the assignment changes; returns the seconds to wait before the next call."""
        if self._writers is None:
            writers = self._task.writers(self._plan.converters)
            letters = self._plan.tolerance.dead_letters
            if letters is not None:
                self._ports.ensure_dead_letters(letters.topic, letters.replication_factor)
            self._writers = writers  # last: after a time-out, the next call ensures the topic again
        share = self._partitions.assigned()
        self._ports.recorder.record(Assigned(len(share.partitions)))
        if not share.partitions:
            return min(self._plan.check_interval_s, self._missing_topics.failed())
        self._missing_topics.succeeded()
        check_interval_s = (
            min(self._plan.check_interval_s, _MISSING_TOPICS_CHECK_S) if share.waiting else self._plan.check_interval_s
        )
        start = self._partitions.start(share.partitions)
        if start.looked_up:  # before the first batch, so that a restart does not look up a later end
            self._ports.commit_offsets(self._plan.group, {p: start.positions[p] for p in start.looked_up})
        plan = replace(self._plan, check_interval_s=check_interval_s)
        if not self._run_feed(plan, self._writers, share, start):
            self._run_query(self._writers, share, start, check_interval_s)
        return 0.0

    def end(self, timeout_s: float) -> None:
        """End the feed, or the query; records in flight have `timeout_s` to be committed."""
        run = self._run  # the task's thread forgets it when it has ended
        if run is not None:
            run.stop(timeout_s)

    def cut_off(self) -> None:
        """Commit and write nothing more of a feed; a query is stopped already, and its batch commits nothing."""
        run = self._run
        if isinstance(run, FeedRun):
            run.cut_off()

    def close(self) -> None:
        """Close the plugins of the task."""
        self._ports.recorder.end_plugins()
        plugin_instances.close(self._plan.stages, self._plan.all_converters)

    def _run_feed(self, plan: SinkPlan, writers: Writers, share: AssignedPartitions, start: StartPositions) -> bool:
        """Run a feed in a lane until the assignment changes; returns False if the sink, or its chain, needs batches."""
        target = self._task.lane_target()
        if target is None:
            self._mode.report(_BATCHES)
            return False
        spark = self._spark()
        cluster, file = (target, None) if isinstance(target, KafkaTarget) else (None, target.path)
        if cluster:
            self._ports.recorder.follow_target(cluster.silent_since_ms)
        plans = sink_plans(spark, plan, writers, cluster.written if cluster else {})
        first = plans.first()
        if isinstance(first, str):
            self._mode.report(batches_for(first))
            return False
        self._mode.report(REAL_TIME)
        feed = SinkFeed(self._task, plan, self._partitions, share, start)
        counts = partition_counts(plan, cluster, share) if cluster else {}
        needs = FeedDependencies(
            name=f"{plan.connector}-{plan.task}",
            task=feed,
            producer=cluster.producer if cluster else {},
            tolerance=plan.tolerance,
            ports=feed_ports(self._ports, cluster, counts),
            commits=self._commits,
            recorder=self._ports.recorder,
            stopping=self._stopping,
            letter_producer=plan.letter_producer if plan.tolerance.dead_letters else None,
            has_plugins=plugin_instances.has_any(plan.stages, plan.all_converters),
            file=file,
        )
        self._ports.recorder.follow_positions(feed.positions, feed.silent_since_ms)
        keeps_partition = cluster is None or cluster.keeps_partition
        self._run = run = FeedRun(needs, feed.source(), Routing(None, None if keeps_partition else counts), plans)
        log.info("sink.reading", group=plan.group, partitions=len(share.partitions))
        try:
            if not self._stopping.is_set():
                run.run(spark, first)
        except ConnectError as error:
            if isinstance(error, RetriableError) or isinstance(error.__cause__, RecordError):
                raise
            raise ConnectError("Exiting WorkerSinkTask due to unrecoverable exception.") from error
        finally:
            self._ended_feed_batches += run.batches
            self._run = None
        return True

    def _run_query(self, writers: Writers, share: AssignedPartitions, start: StartPositions, check_interval_s: float) -> None:
        spark, plan = self._spark(), self._plan
        consumer = with_api_timeout(plan.consumer)
        options = {
            "failOnDataLoss": "true",
            "maxOffsetsPerTrigger": str(plan.batch_records or self._task.batch_max_records),
            "kafkaConsumer.pollTimeoutMs": consumer["default.api.timeout.ms"],
        }
        frame = read_stream(spark, consumer, by_topic(start.positions), options)
        chain = SinkChain(plan, writers, frame, RecordCounts(spark))
        deliver = self._deliver(chain, share, start.positions)
        run = QueryRun(spark, (plan.connector, plan.task), deliver, self._delivery.abandon, self._ports.recorder)
        self._run = run
        log.info("sink.reading", group=plan.group, partitions=len(share.partitions))
        if not self._stopping.is_set():
            run.run(
                chain.incoming(chain.counts.reading(frame)),
                ChangeWatch(check_interval_s, lambda _: self._partitions.changed(share)),
            )

    def _deliver(
        self, chain: SinkChain, share: AssignedPartitions, positions: Mapping[Partition, int]
    ) -> Callable[[DataFrame, str | None, str], None]:
        after_chain = router(self._plan.stages)
        counts = counts_after(share.counts, after_chain) if after_chain else {}

        def deliver(frame: DataFrame, before: str | None, after: str) -> None:
            begins, ends = parse_offsets(before) if before else by_topic(positions), parse_offsets(after)
            moved, starts, every = advanced(begins, ends), by_partition(begins), by_partition(ends)
            # As in Kafka Connect, the first commit includes partitions without records.
            commit = {p: end for p, (_, end) in moved.items()} if before else every
            names = {after_chain(topic) for topic, _ in moved} if after_chain else None
            topics = None if names is None else frozenset(name for name in names if name is not None)
            self._delivery(frame, chain, SinkBatchRange(moved, topics, counts, commit, starts, share.topic_ids))

        return deliver
