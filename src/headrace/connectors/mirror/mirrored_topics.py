"""The topics and partitions to create so that every mirrored topic has its copy: pure decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headrace.connectors.mirror.filters import Selection
from headrace.errors import ConfigError
from headrace.kafka.groups import Partition
from headrace.kafka.topic_info import TopicInfo


@dataclass(frozen=True)
class MirroredTopics:
    """What is mirrored."""

    counts: Mapping[str, int] = field(default_factory=dict)
    """By topic of the source, its number of partitions."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """By topic of the source, the name of its copy."""

    @property
    def partitions(self) -> list[Partition]:
        """Every partition of the source."""
        return [(topic, p) for topic, count in sorted(self.counts.items()) for p in range(count)]


def select(topics: Mapping[str, TopicInfo], selection: Selection, source: str) -> MirroredTopics:
    """The topics of the source cluster, `source` its alias, that the selection accepts.

    Raises ConfigError if two of them would have one copy, which `replication.policy.renames` makes possible.
    """
    counts = {name: len(info.partitions) for name, info in topics.items() if not info.internal and selection.accepts(name)}
    copies = {topic: selection.policy.remote(source, topic) for topic in counts}
    topic_of: dict[str, str] = {}
    for topic, copy in sorted(copies.items()):
        if (other := topic_of.setdefault(copy, topic)) != topic:
            raise ConfigError(
                f"Topics '{other}' and '{topic}' of cluster {source} would both be mirrored to '{copy}': "
                f"change replication.policy.renames, or leave one of them out by topics.exclude."
            )
    return MirroredTopics(counts, copies)


@dataclass(frozen=True)
class Missing:
    """What the target lacks."""

    create: tuple[str, ...]
    """Topics of the source that have no copy."""
    grow: Mapping[str, int]
    """By name of a copy that lacks partitions, the number that it has to have."""

    def __bool__(self) -> bool:
        return bool(self.create or self.grow)


def missing(expected: MirroredTopics, present: Mapping[str, int]) -> Missing:
    """What the target lacks. A copy with more partitions than its topic is left as it is.

    present: the number of partitions by topic of the target.
    """
    create = tuple(topic for topic in sorted(expected.counts) if expected.copies[topic] not in present)
    counts = {expected.copies[topic]: count for topic, count in expected.counts.items() if topic not in create}
    return Missing(create, {copy: n for copy, n in sorted(counts.items()) if n > present[copy]})


def round_robin(partitions: list[Partition], max_tasks: int) -> list[list[Partition]]:
    """The partitions of each task, dealt like cards; no task is without."""
    count = min(max_tasks, len(partitions))
    return [partitions[n::count] for n in range(count)]


def encode(partitions: list[Partition]) -> str:
    """The value of `task.assigned.partitions`."""
    return ",".join(f"{topic}-{partition}" for topic, partition in partitions)


def decode(text: str) -> list[Partition]:
    """The reverse."""
    pairs = (part.rpartition("-") for part in text.split(",") if part)
    return [(topic, int(number)) for topic, _, number in pairs]
