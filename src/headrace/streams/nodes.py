"""The nodes of a topology, as frozen values."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.streams.operations import Operation
from headrace.streams.options import Consumed, Produced


@dataclass(frozen=True)
class SourceNode:
    """Reads topics, or those that match a pattern."""

    name: str
    topics: tuple[str, ...]
    pattern: re.Pattern[str] | None
    consumed: Consumed

    @property
    def parents(self) -> tuple[str, ...]:
        """A source has no parents."""
        return ()


@dataclass(frozen=True)
class ProcessorNode:
    """Processes the records of its parents; `stores`: the names of the stores that it uses."""

    name: str
    parents: tuple[str, ...]
    operation: Operation
    stores: tuple[str, ...] = ()


@dataclass(frozen=True)
class SinkNode:
    """Writes to a topic, or to the topic that the function returns for each record."""

    name: str
    parents: tuple[str, ...]
    topic: str | Callable[..., Any]
    produced: Produced


Node = SourceNode | ProcessorNode | SinkNode


@dataclass(frozen=True)
class RepartitionTopic:
    """An internal topic between two sub-topologies; its name is without the application's id."""

    name: str
    partitions: int | None = None
    """None if they are derived from upstream topics."""
