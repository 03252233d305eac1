"""The partitions that a sink task reads, and their start offsets.

Tasks are not members of the group: the partitions of all topics, sorted, are assigned round robin, and the group's committed
offsets are read and written by name. So tools that read a group's offsets and lag work as with Kafka Connect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from headrace.config.client_options import client_value
from headrace.errors import ConnectError, HeadraceError
from headrace.kafka.admin import Admin
from headrace.kafka.coalesced_requests import delivered_positions, latest_offsets
from headrace.kafka.delivered_position import DeliveredPosition
from headrace.kafka.groups import Partition
from headrace.kafka.positions import StartPositions, decide, warn
from headrace.kafka.reset_policy import offsets_since
from headrace.kafka.topic_info import TopicInfo
from headrace.runtime.sink.plan import SinkPlan

log = structlog.get_logger(__name__)

_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class AssignedPartitions:
    """A task's partitions."""

    partitions: tuple[Partition, ...]
    counts: Mapping[str, int]
    """By topic, how many partitions it has."""
    waiting: bool
    """Whether topics that the configuration names do not exist."""
    topic_ids: Mapping[str, str] = field(compare=False)


def share(topics: Mapping[str, TopicInfo], task: int, tasks: int) -> tuple[Partition, ...]:
    """The partitions of a task, assigned round robin: every `tasks`-th of all, sorted, from number `task` on. Pure."""
    every = sorted((name, partition) for name, info in topics.items() for partition in info.partitions)
    return tuple(every[task::tasks])


class SinkPartitions:
    """Looks up partitions and offsets for one sink task."""

    def __init__(self, admin: Admin, plan: SinkPlan) -> None:
        """admin: a client with the settings of the task's consumer."""
        self._admin, self._plan = admin, plan

    def assigned(self) -> AssignedPartitions:
        """The current assignment of the task. Raises KafkaFailure."""
        topics = self._named(self._plan.topics) if self._plan.topics is not None else self._matching()
        mine = share(topics, self._plan.task, self._plan.tasks)
        counts = {topic: len(topics[topic].partitions) for topic, _ in mine}
        waiting = self._plan.topics is not None and len(topics) < len(set(self._plan.topics))
        return AssignedPartitions(mine, counts, waiting, {topic: topics[topic].topic_id for topic in counts})

    def changed(self, before: AssignedPartitions) -> bool:
        """Whether the assignment has changed; an error is logged, and the next check retries."""
        try:
            return self.assigned() != before
        except HeadraceError as error:
            log.warning("sink.topics.unknown", cause=str(error))
            return False

    def _named(self, names: Sequence[str]) -> dict[str, TopicInfo]:
        topics = {name: self._admin.describe(name, _TIMEOUT_S) for name in dict.fromkeys(names)}
        if client_value("consumer", self._plan.consumer, "allow.auto.create.topics"):
            for name in (name for name, info in topics.items() if info is None):
                self._admin.request_topic(name, _TIMEOUT_S)
        return {name: info for name, info in topics.items() if info is not None}

    def _matching(self) -> dict[str, TopicInfo]:
        topics = self._admin.topics(_TIMEOUT_S, self._plan.consumes)
        return {name: info for name, info in topics.items() if not info.internal}

    def start(self, partitions: Sequence[Partition]) -> StartPositions:
        """The start positions: the group's committed offsets, else by `auto.offset.reset`; `looked_up` are partitions without a
        committed offset that do not begin at `earliest`, or have no records to read.

        Lost records are reported; reading continues at the earliest offset. Raises KafkaFailure; ConnectError without an offset
        and a reset policy.
        """
        committed = self._admin.committed(self._plan.group, _TIMEOUT_S, partitions)
        self._admin.close_group(self._plan.group)
        first = self._admin.partition_offsets(partitions, "earliest", _TIMEOUT_S)
        end = self.ends(partitions)
        logs = {p: (first[p], end[p]) for p in partitions}
        reset = "earliest" if self._plan.reset == "none" else self._plan.reset
        start = decide(list(partitions), committed, logs, reset, offsets_since(reset, self._admin, partitions, _TIMEOUT_S))
        if self._plan.reset == "none":
            _require_offsets([p for p in partitions if p not in committed or start.positions[p] != committed[p]])
        earliest = {partition: first[partition] for partition, _, _ in start.lost}
        # Partitions without records are committed, too, as Kafka Connect commits their positions.
        at_end = {p for p in partitions if start.positions[p] >= end[p]}
        fresh = tuple(p for p in partitions if p not in committed and p in at_end.union(start.looked_up))
        start = replace(start, positions={**start.positions, **earliest}, looked_up=fresh)
        warn(start, "sink")
        return start

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The end offset of each of these partitions. Raises KafkaFailure."""
        only = self._plan.consumer.get("isolation.level") == "read_committed"
        return self._admin.partition_offsets(list(partitions), "latest", _TIMEOUT_S, read_committed=only)

    def positions(self, positions: Mapping[Partition, int]) -> dict[str, DeliveredPosition] | None:
        """These offsets with the ends of their partitions, by `<topic>-<partition>`; None if the cluster cannot be asked now."""
        return delivered_positions(self._admin, positions)

    def silent_since_ms(self) -> int | None:
        """Since when (epoch ms) the cluster has not answered lag requests; None: it answers, or is not asked."""
        return latest_offsets(self._admin).silent_since_ms

    def are_available(self, ranges: Mapping[Partition, tuple[int, int]]) -> bool:
        """Whether these offsets are still in the log; True if that is unknown."""
        try:
            first = self._admin.partition_offsets(ranges, "earliest", _TIMEOUT_S)
        except HeadraceError as error:
            return getattr(error, "code", "") != "UNKNOWN_TOPIC_OR_PARTITION"
        return all(first[p] <= begin for p, (begin, _) in ranges.items())


def _require_offsets(partitions: Sequence[Partition]) -> None:
    if partitions:
        names = ", ".join(f"{topic}-{partition}" for topic, partition in partitions)
        raise ConnectError(f"Undefined offset with no reset policy for partitions: [{names}]")
