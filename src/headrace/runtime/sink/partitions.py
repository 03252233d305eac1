"""Which topic partitions a sink task reads, and from which offsets on.

There is no group membership: the partitions of all topics, sorted, are dealt to the tasks in turn, and the group's committed
offsets are read and written by name. So what reads a group's offsets and lag works as it does for Kafka Connect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from headrace.config.client_options import client_value
from headrace.errors import ConnectError, HeadraceError
from headrace.kafka.admin import Admin, TopicInfo
from headrace.kafka.coalesced_requests import behind, latest_offsets
from headrace.kafka.groups import Partition
from headrace.kafka.positions import StartPositions, decide, warn
from headrace.runtime.sink.plan import SinkPlan

log = structlog.get_logger(__name__)

_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class AssignedPartitions:
    """What a task reads: its partitions, how many its topics have, and whether topics that are asked for do not exist (yet)."""

    partitions: tuple[Partition, ...]
    counts: Mapping[str, int]
    waiting: bool


def share(topics: Mapping[str, TopicInfo], task: int, tasks: int) -> tuple[Partition, ...]:
    """Every `tasks`-th partition of all, sorted, beginning with number `task`. Pure."""
    every = sorted((name, partition) for name, info in topics.items() for partition in info.partitions)
    return tuple(every[task::tasks])


class SinkPartitions:
    """Looks partitions and offsets up for one sink task."""

    def __init__(self, admin: Admin, plan: SinkPlan) -> None:
        """admin: a client with the settings of the task's consumer."""
        self._admin, self._plan = admin, plan

    def assigned(self) -> AssignedPartitions:
        """The task's share now. Raises KafkaFailure."""
        topics = self._named(self._plan.topics) if self._plan.topics is not None else self._matching()
        mine = share(topics, self._plan.task, self._plan.tasks)
        counts = {topic: len(topics[topic].partitions) for topic, _ in mine}
        return AssignedPartitions(
            mine, counts, waiting=self._plan.topics is not None and len(topics) < len(set(self._plan.topics))
        )

    def changed(self, before: AssignedPartitions) -> bool:
        """Whether the share is another one now; what keeps it from being known is logged, and the next look tries again."""
        try:
            return self.assigned() != before
        except HeadraceError as error:
            log.warning("sink.topics.unknown", cause=str(error))
            return False

    def _named(self, names: Sequence[str]) -> dict[str, TopicInfo]:
        topics = {name: self._admin.describe(name, _TIMEOUT_S) for name in dict.fromkeys(names)}
        if client_value("consumer", self._plan.consumer, "allow.auto.create.topics"):
            for name in (name for name, info in topics.items() if info is None):
                self._admin.ask_for(name, _TIMEOUT_S)
        return {name: info for name, info in topics.items() if info is not None}

    def _matching(self) -> dict[str, TopicInfo]:
        topics = self._admin.topics(_TIMEOUT_S, self._plan.selects)
        return {name: info for name, info in topics.items() if not info.internal}

    def start(self, partitions: Sequence[Partition]) -> StartPositions:
        """Where to begin: at the committed offsets of the group, else as `auto.offset.reset` says; `looked_up` are the partitions
        without a committed offset and without records to read.

        What is gone from a log is reported; reading continues with what is left of it. Raises KafkaFailure, ConnectError if there
        is no offset and no reset policy.
        """
        committed = self._admin.committed(self._plan.group, _TIMEOUT_S, partitions)
        self._admin.close_group(self._plan.group)
        first = self._admin.partition_offsets(partitions, "earliest", _TIMEOUT_S)
        end = self.ends(partitions)
        logs = {p: (first[p], end[p]) for p in partitions}
        start = decide(list(partitions), committed, logs, "latest" if self._plan.reset == "latest" else "earliest")
        if self._plan.reset == "none":
            _refuse([p for p in partitions if p not in committed or start.positions[p] != committed[p]])
        earliest = {partition: first[partition] for partition, _, _ in start.lost}
        # What has no records to read yet is committed all the same, as Kafka Connect commits the position there.
        fresh = tuple(p for p in partitions if p not in committed and start.positions[p] >= end[p])
        start = replace(start, positions={**start.positions, **earliest}, looked_up=fresh)
        warn(start, "sink")
        return start

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Up to which offset each of these can be read now. Raises KafkaFailure."""
        only = self._plan.consumer.get("isolation.level") == "read_committed"
        return self._admin.partition_offsets(list(partitions), "latest", _TIMEOUT_S, read_committed=only)

    def behind(self, positions: Mapping[Partition, int]) -> dict[str, int] | None:
        """How many records there are after these offsets, by `<topic>-<partition>`; None if the cluster cannot be asked now."""
        return behind(self._admin, positions)

    def silent_since_ms(self) -> int | None:
        """Since when the cluster has given no answer to that; None: it does, or is not asked."""
        return latest_offsets(self._admin).silent_since_ms

    def still_there(self, ranges: Mapping[Partition, tuple[int, int]]) -> bool:
        """Whether these offsets are still in the log; True where that cannot be known now."""
        try:
            first = self._admin.partition_offsets(ranges, "earliest", _TIMEOUT_S)
        except HeadraceError as error:
            return getattr(error, "code", "") != "UNKNOWN_TOPIC_OR_PARTITION"
        return all(first[p] <= begin for p, (begin, _) in ranges.items())


def _refuse(partitions: Sequence[Partition]) -> None:
    if partitions:
        names = ", ".join(f"{topic}-{partition}" for topic, partition in partitions)
        raise ConnectError(f"Undefined offset with no reset policy for partitions: [{names}]")
