"""The positions of a task in its topics: where committed offsets or the reset policy put them, and checked against brokers.

A partition that ends before its position was created again, or has lost records. One that begins after it has had records
deleted. The reset policy of the topic (`auto.offset.reset`, `Consumed.with_offset_reset_policy`) says where to read on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import structlog

from headrace.errors import RetriableError, StreamsError
from headrace.kafka.groups import Partition
from headrace.kafka.reset_policy import BY_DURATION
from headrace.streams.engine.cluster import CREATE_INTERNAL_TOPICS, Cluster
from headrace.streams.engine.offset_metadata import OffsetMetadata
from headrace.streams.engine.runtime import TaskRuntime
from headrace.streams.engine.source import Ranges

log = structlog.get_logger(__name__)


class TaskPositions:
    """The offset of the next record in each partition, and the ranges of a batch that is not complete."""

    def __init__(
        self,
        cluster: Cluster,
        runtime: TaskRuntime,
        partitions: Sequence[Partition],
        reset: Mapping[str, str],
        internal: Collection[str],
    ) -> None:
        """partitions: those of the task's topics; reset: reset policies by topic; internal: the repartition topics of the
        application, on the cluster.
        """
        self.partitions = partitions
        self.offsets: dict[Partition, int] = {}
        """By partition, the offset of the next record; empty before `begin`."""
        self.interrupted: dict[Partition, tuple[int, int]] = {}
        """The ranges of a batch that the previous instance has begun, and not completed."""
        self.unfinished: Ranges = {}
        """The ranges of a batch that this instance has begun, and not completed: the next batch has the same."""
        self._cluster, self._runtime = cluster, runtime
        self._reset, self._internal = reset, internal
        self._ends: Mapping[Partition, int] = {}  # at the beginning

    def begin(self, committed: Mapping[Partition, tuple[int, str]], metadata: OffsetMetadata) -> None:
        """Continue at committed offsets; where there is none, the reset policy says where to begin. metadata: theirs.

        Raises StreamsError for the policy `none`, and RetriableError for a topic that does not exist any more.
        """
        first = self._first_offsets([p for p in self.partitions if p not in committed])
        self.offsets = first | {partition: offset for partition, (offset, _) in committed.items()}
        self.unfinished = {}
        self.interrupted = {p: (self.offsets[p], int(fields["to"])) for p, fields in metadata.items() if "to" in fields}

    def take_interrupted(self) -> Ranges:
        """The ranges of the interrupted batch, which is run again now; empty if there is none."""
        ranges, self.interrupted = self.interrupted, {}
        return ranges

    def begin_batch(self, ranges: Ranges) -> None:
        """A batch of these ranges begins: it is unfinished until `advance`."""
        self.unfinished = ranges

    def after(self, ranges: Ranges) -> dict[Partition, int]:
        """The offsets of the next records after a batch."""
        return self.offsets | {p: end for p, (_, end) in ranges.items()}

    def advance(self, ranges: Ranges) -> None:
        """The batch of these ranges is complete: continue after it."""
        self.offsets.update({p: end for p, (_, end) in ranges.items()})
        self.unfinished = {}

    def check(self, *, restoring: bool = False) -> dict[Partition, int]:
        """The end offsets of the partitions. One that ends before its position was recreated or truncated: its reset policy is
        applied. For a repartition topic only a restore does so; otherwise `use_recreated_topics` has to be called.

        restoring: whether this is part of a restore. Raises RetriableError for such a repartition topic, and StreamsError where
        the policy is `none`, or records of the unfinished batch are lost.
        """
        ends = self._cluster.offsets(self.partitions, "latest")
        read = self.offsets | {p: end for p, (_, end) in (self.interrupted | dict(self.unfinished)).items()}
        for partition in [p for p, end in ends.items() if end < read[p]]:
            topic, policy = partition[0], self._reset.get(partition[0], "earliest")
            sentence = (
                f"{topic}-{partition[1]} ends at offset {ends[partition]}, but has been read up to {read[partition]}: it was "
                "created again, or records were lost."
            )
            if topic in self._internal and not restoring:
                raise RetriableError(sentence)
            if policy == "none" or partition in self.unfinished:
                raise StreamsError(f"{sentence} auto.offset.reset is none." if policy == "none" else sentence)
            log.warning("%s It is read on from its %s record.", sentence, policy)
            self.interrupted.pop(partition, None)
            self.offsets |= self._cluster.offsets([partition], policy)
            self._runtime.stop_following()
        if not self._runtime.following:  # at the start, and after a consumer could not continue
            self._skip_deleted_records()
        if restoring:
            self._ends = ends
        return ends

    def are_internal_and_empty(self) -> bool:
        """Whether the task reads nothing but repartition topics, and they have never had a record."""
        internal = all(topic in self._internal for topic, _ in self.partitions)
        return internal and not any(self._cluster.offsets(self.partitions, "latest").values())

    def unread(self, topics: Collection[str], written: Iterable[Mapping[Partition, int]]) -> set[str]:
        """Of deleted repartition topics, those with records that this task has not read: there at the start, or written since by
        complete batches. A failed batch writes its records again; a failed batch of this task needs its records to run again.

        written: by task, its `TaskRuntime.written_offsets`.
        """
        ends = dict(self._ends)
        for partition, end in (entry for offsets in written for entry in offsets.items()):
            ends[partition] = max(end, ends.get(partition, 0))
        for partition, (start, end) in self.unfinished.items():
            ends[partition] = max(end if end > start else 0, ends.get(partition, 0))
        return {p[0] for p in self.partitions if p[0] in topics and ends.get(p, 0) > self.offsets[p]}

    def earliest_offsets(self, topics: Collection[str]) -> dict[Partition, int]:
        """The earliest offsets of recreated internal topics; changes nothing."""
        mine = [p for p in self.partitions if p[0] in topics]
        return self._cluster.offsets(mine, "earliest") if mine else {}

    def use_recreated_topics(self, topics: Collection[str], begin: Mapping[Partition, int]) -> None:
        """Read recreated, empty internal topics from `begin` on."""
        self.offsets |= begin
        self._ends = {p: end for p, end in self._ends.items() if p[0] not in topics}
        self._runtime.forget_topics(topics)
        self._runtime.stop_following()

    def unfinished_ends(self) -> dict[Partition, int]:
        """By partition, the end of the unfinished batch, without partitions of topics that were recreated since it began."""
        # Offsets of deleted topics are lost; recreated topics have no unfinished batch.
        return {p: end for p, (start, end) in self.unfinished.items() if self.offsets[p] == start}

    def _skip_deleted_records(self) -> None:
        """Apply the reset policy to partitions whose next records have been deleted."""
        for partition, first in self._cluster.offsets(self.partitions, "earliest").items():
            if first <= self.offsets[partition]:
                continue
            policy = self._reset.get(partition[0], "earliest")
            sentence = (
                f"{partition[0]}-{partition[1]} begins at offset {first}, but has been read up to {self.offsets[partition]}: "
                "the records between them have been deleted."
            )
            if policy == "none" or partition in self.unfinished:
                raise StreamsError(sentence)
            log.warning("%s It is read on from its %s record.", sentence, policy)
            self.interrupted.pop(partition, None)  # the stores are restored without the rows of the interrupted batch
            self.offsets |= self._cluster.offsets([partition], policy)

    def _first_offsets(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The first offsets of partitions without a committed one."""
        fresh = {p: self._reset.get(p[0], "earliest") for p in partitions}
        offsets: dict[Partition, int] = {}
        for reset_policy in {
            policy for policy in fresh.values() if policy in ("earliest", "latest") or policy.startswith(BY_DURATION)
        }:
            offsets |= self._cluster.offsets([p for p, policy in fresh.items() if policy == reset_policy], reset_policy)
        if missing := [p for p in fresh if p not in offsets]:
            (topic, partition), policy = missing[0], fresh[missing[0]]
            if policy == "none":
                raise StreamsError(f"There is no committed offset for {topic}-{partition}, and auto.offset.reset is none.")
            raise RetriableError(f"The partition {topic}-{partition} is missing. {CREATE_INTERNAL_TOPICS}")
        return offsets
