"""The numbers of partitions of repartition topics: set by the user, or derived from co-partitioned or upstream topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headrace.errors import TaskAssignmentError, TopologyError
from headrace.streams.topology import java_map
from headrace.values.java_hash import hash_order, slot_order


@dataclass(frozen=True)
class Subtopology:
    """The topics of a sub-topology, by their names on the cluster."""

    number: int
    sources: frozenset[str]
    sinks: frozenset[str]
    repartitions: Mapping[str, int | None]
    """Those among the sources, with the number of partitions that the user gave."""
    stores: tuple[str, ...]
    """By name: those with a changelog."""
    hash_code: int
    """That of Kafka's `TopicsInfo`: it decides the order in which numbers of partitions are derived."""


def repartition_counts(
    groups: list[Subtopology], copartitioned: Iterable[frozenset[str]], sources: Mapping[str, int]
) -> dict[str, int]:
    """The number of partitions of every repartition topic. sources: numbers of partitions of the existing topics.

    Raises TopologyError for topics that have to be co-partitioned and are not (checked, as in Kafka, only if there is a
    repartition topic), TaskAssignmentError if a number cannot be derived.
    """
    requested = {name: count for group in groups for name, count in group.repartitions.items()}
    if not requested:
        return {}
    counts = PartitionCounts(sources, frozenset(name for name, count in requested.items() if count is not None), dict(requested))
    counts.derive_from_upstream(groups)
    for group in copartitioned:
        counts.align_copartitioned(group)
    return {name: count for name, count in counts.repartitions.items() if count is not None}


@dataclass
class PartitionCounts:
    """The numbers of partitions while they are derived."""

    sources: Mapping[str, int]
    """Of topics that exist, by name."""
    enforced: frozenset[str]
    """Repartition topics whose number the user has set."""
    repartitions: dict[str, int | None] = field(default_factory=dict)
    """Of repartition topics, by name; None where it is not known yet."""

    def derive_from_upstream(self, groups: list[Subtopology]) -> None:
        """Set each repartition topic to the greatest number among the source topics of the sub-topology that writes it.

        As in Kafka, to that of the topics whose number is known by then: where such a sub-topology reads a repartition topic,
        too, the number depends on the order.
        """
        ordered = [groups[place] for place in slot_order([group.hash_code for group in groups])]
        names = [name for group in ordered for name in hash_order(group.repartitions)]
        while open_topics := [name for name in names if self.repartitions[name] is None]:
            progress = False
            for name in open_topics:
                upstream = (topic for group in groups if name in group.sinks for topic in group.sources)
                upstream_counts = [count for topic in upstream if (count := self._count(topic)) is not None]
                if upstream_counts:
                    self.repartitions[name], progress = max(upstream_counts), True
            if not progress:
                raise TaskAssignmentError(
                    "Failed to compute number of partitions for all repartition topics, make sure all user input topics are "
                    "created and all Pattern subscriptions match at least one topic in the cluster"
                )

    def align_copartitioned(self, group: frozenset[str]) -> None:
        """Set co-partitioned repartition topics to one number. Raises TopologyError if that is impossible."""
        repartition_topics = sorted(topic for topic in group if topic in self.repartitions)
        external = {topic: self.sources[topic] for topic in group if topic in self.sources}
        if external:
            partitions = self.same(external)
        elif enforced_topics := [topic for topic in repartition_topics if topic in self.enforced]:
            partitions = self._enforced_count(repartition_topics, enforced_topics)
        else:
            partitions = max((self.repartitions[topic] or 0 for topic in repartition_topics), default=0)
        for topic in repartition_topics:
            if topic in self.enforced and self.repartitions[topic] != partitions:
                raise TopologyError(
                    f"Number of partitions [{self.repartitions[topic]}] of repartition topic [{topic}] doesn't match number of "
                    f"partitions [{partitions}] of the source topic."
                )
            self.repartitions[topic] = partitions

    @staticmethod
    def same(counts: Mapping[str, int]) -> int:
        """The common number of partitions of topics, 0 if there are none. Raises TopologyError if they differ."""
        if len(set(counts.values())) > 1:
            raise TopologyError(f"Topics not co-partitioned: [{java_map(counts)}]")
        return next(iter(counts.values()), 0)

    def _enforced_count(self, repartition_topics: list[str], enforced_topics: list[str]) -> int:
        numbers = [self.repartitions[topic] or 0 for topic in enforced_topics]
        if len(set(numbers)) > 1:
            all_counts = {topic: self.repartitions[topic] for topic in repartition_topics}
            raise TopologyError(f"Following topics do not have the same number of partitions: [{java_map(all_counts)}]")
        return numbers[0]

    def _count(self, topic: str) -> int | None:
        return self.repartitions[topic] if topic in self.repartitions else self.sources.get(topic)
