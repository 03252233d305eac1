"""The nodes of a topology, as frozen values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from headrace.streams.arguments import check_fields
from headrace.streams.functions import TopicNameExtractor
from headrace.streams.operations import Operation
from headrace.streams.options import Consumed, Produced

_INTERNAL_TO_KAFKA = {"__consumer_offsets", "__transaction_state", "__share_group_state"}


@dataclass(frozen=True)
class SourceNode:
    """Reads topics, or those that match a pattern."""

    name: str
    topics: tuple[str, ...]
    """Empty if it reads by a pattern."""
    pattern: re.Pattern[str] | None
    """None if it reads topics by name."""
    consumed: Consumed

    @property
    def parents(self) -> tuple[str, ...]:
        """A source has no parents."""
        return ()

    def matched(self, topics: Iterable[str]) -> list[str]:
        """The topics that its pattern matches, without the broker's own, as consumers do (`exclude.internal.topics`)."""
        pattern = self.pattern
        return [topic for topic in topics if pattern and pattern.fullmatch(topic) and topic not in _INTERNAL_TO_KAFKA]


@dataclass(frozen=True)
class ProcessorNode:
    """Processes the records of its parents."""

    name: str
    parents: tuple[str, ...]
    """Names of nodes, as in the other nodes."""
    operation: Operation
    stores: tuple[str, ...] = ()
    """The names of the stores that it uses."""


@dataclass(frozen=True)
class SinkNode:
    """Writes to a topic, or to the topic that the function returns for each record. Raises ArgumentError for what is neither."""

    name: str
    parents: tuple[str, ...]
    topic: str | TopicNameExtractor
    """A function takes key, value and context, returns the name; one of a repartition topic is without the application's id."""
    produced: Produced

    def __post_init__(self) -> None:
        check_fields(self)


Node = SourceNode | ProcessorNode | SinkNode


@dataclass(frozen=True)
class RepartitionTopic:
    """An internal topic between two sub-topologies."""

    name: str
    """Without the application's id."""
    partitions: int | None = None
    """None if they are derived from upstream topics."""
