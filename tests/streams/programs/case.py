"""A program: a function that defines a topology, in words that record.py can turn into Java."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Build = Callable[[Any], None]


@dataclass(frozen=True)
class Case:
    """`plain`: the function takes a Topology, not a StreamsBuilder. `partitions`: of topics; 4 where nothing is said."""

    name: str
    build: Build
    config: Mapping[str, str] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)
    plain: bool = False


def case(config: Mapping[str, str] | None = None, partitions: Mapping[str, int] | None = None) -> Callable[[Build], Build]:
    """Give a program settings of Kafka Streams and topics with other numbers of partitions than 4."""

    def note(build: Build) -> Build:
        build.case = (config or {}, partitions or {})  # type: ignore[attr-defined]
        return build

    return note
