"""The feed of a sink whose records a lane writes one by one; offsets are committed to its consumer group."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping

from headrace.connectors.base import Offsets
from headrace.connectors.feed import FeedOwner, FeedSource
from headrace.connectors.sink import KafkaTarget, SinkTask
from headrace.errors import RetriableError
from headrace.kafka.delivered_position import DeliveredPosition
from headrace.kafka.groups import Partition
from headrace.kafka.positions import StartPositions
from headrace.runtime.delivery import FeedPorts, OffsetCommits
from headrace.runtime.routing import counts_after, router
from headrace.runtime.sink.chain import sink_record
from headrace.runtime.sink.delivery import SinkPorts
from headrace.runtime.sink.partitions import AssignedPartitions, SinkPartitions
from headrace.runtime.sink.plan import SinkPlan
from headrace.runtime.tolerance import FailedRecord
from headrace.spark.destination_topic import DestinationTopic
from headrace.spark.feeds import Update

_TOPIC, _PARTITION, _OFFSET = "kafka_topic", "kafka_partition", "kafka_offset"  # names in Connect's REST API


class SinkFeed(FeedOwner):
    """The partitions that a task reads until its assignment changes, for `headrace.runtime.feed_run.FeedRun`."""

    def __init__(
        self, task: SinkTask, plan: SinkPlan, partitions: SinkPartitions, share: AssignedPartitions, start: StartPositions
    ) -> None:
        self.context = task.context
        self._plan, self._partitions, self._share = plan, partitions, share
        self._positions, self._committed = dict(start.positions), dict(start.positions)
        self._records: dict[Partition, int] = {}  # how many had been read by the last update
        self._checked_at = time.monotonic()
        self.check_interval_s = plan.check_interval_s

    def source(self) -> FeedSource:
        """The source of all assigned partitions."""
        return FeedSource(self._positions, self._plan.consumer, sink_record, lambda topic: topic)

    def offsets(self, ends: Mapping[Partition, int]) -> Offsets:
        """The offsets of all partitions: as in Kafka Connect, a commit includes partitions without records."""
        self._positions |= ends
        return [({_TOPIC: t, _PARTITION: p}, {_OFFSET: end}) for (t, p), end in self._positions.items()]

    def offsets_stored(self, ends: Mapping[Partition, int]) -> None:
        """Keep the committed offsets."""
        self._committed |= ends

    def positions(self) -> dict[str, DeliveredPosition] | None:
        """How far each partition is written; None if the cluster cannot be asked now."""
        return self._partitions.positions(dict(self._committed))

    def silent_since_ms(self) -> int | None:
        """Since when (epoch ms) the cluster has not answered; None: it answers."""
        return self._partitions.silent_since_ms()

    def needs_reopening(self) -> bool:
        """Whether the assignment has changed."""
        if time.monotonic() - self._checked_at < self.check_interval_s:
            return False
        self._checked_at = time.monotonic()
        return self._partitions.changed(self._share)

    def feed_begins(self) -> None:
        """Count its records from 0 again."""
        self._records = {}

    def active_topics(self, update: Update) -> Collection[str]:
        """The topics that were read since the last update: they are active whether or not the records were written (KIP-558).

        Those read earlier are not among them: the list may have been reset since. As in Kafka Connect, a record that fails the
        task counts once the converters have read it.
        """
        before = self._records
        self._records = before | {(p.topic, p.partition): p.records for p in update.partitions}
        topics = {p.topic for p in update.partitions if p.records > before.get((p.topic, p.partition), 0)}
        if update.failure is not None and update.failure.kind == "record" and update.failure.report is not None:
            failed = FailedRecord.parse(update.failure.report)
            topics |= {topic for topic in (failed.origin.get("topic"),) if topic and not failed.step.startswith("input.")}
        return topics


def partition_counts(plan: SinkPlan, target: KafkaTarget, share: AssignedPartitions) -> dict[str, int]:
    """Partition counts of the source topics, by target topic; empty if the chain routes by record."""
    after_chain = router(plan.stages)
    return {target.topic(t): n for t, n in counts_after(share.counts, after_chain).items()} if after_chain else {}


def commits(plan: SinkPlan, ports: SinkPorts) -> OffsetCommits:
    """Commits offsets of `SinkFeed.offsets` to the consumer group."""

    def commit(offsets: Offsets) -> None:
        ports.commit_offsets(plan.group, {(p[_TOPIC], p[_PARTITION]): int(o[_OFFSET]) for p, o in offsets})

    return OffsetCommits(commit, ports.recorder)


def feed_ports(ports: SinkPorts, target: KafkaTarget | None, counts: Mapping[str, int]) -> FeedPorts:
    """The ports of a sink's feed.

    target: None for a file, which has no topics; counts: partitions of new topics in the target cluster.
    """
    if target is None:
        return FeedPorts(
            missing_topics=lambda _: set(),
            renew_topics=lambda _: set(),
            ensure_dead_letters=ports.ensure_dead_letters,
            is_active=ports.is_active,
            record_active=ports.record_active,
            look_up=_no_topic,
        )

    def missing(topics: Iterable[str]) -> set[str]:
        for topic in topics:
            if not target.ensure(topic, counts.get(topic, -1)):
                raise RetriableError(
                    f"Topic '{topic}' does not exist in the target cluster. Create it, or set destination.topics.create=true."
                )
        return set()

    return FeedPorts(
        missing_topics=missing,
        renew_topics=lambda topics: {topic for topic in topics if target.renew(topic, counts.get(topic, -1))},
        ensure_dead_letters=ports.ensure_dead_letters,
        is_active=ports.is_active,
        record_active=ports.record_active,
        look_up=target.look_up,
    )


def _no_topic(topic: str) -> DestinationTopic:
    raise AssertionError(f"A feed that writes to a file asks for topic {topic}.")
