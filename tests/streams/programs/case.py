"""A program: a function that defines a topology, in words that record.py can turn into Java."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Build = Callable[[Any], None]
CLOCK = "@clock"
UNCACHED = {"statestore.cache.max.bytes": "0"}
Input = tuple[tuple[str, str | None, str | None, int], ...]  # topic, key, value, time (ms) of each record


@dataclass(frozen=True)
class Case:
    """`plain`: the function takes a Topology, not a StreamsBuilder. `partitions`: of topics; 4 where nothing is said. `input`:
    records that the topology is given, one after the other, if it is run and not described.
    """

    name: str
    build: Build
    config: Mapping[str, str] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)
    plain: bool = False
    input: Input = ()


def case(
    config: Mapping[str, str] | None = None, partitions: Mapping[str, int] | None = None, input: Input = ()
) -> Callable[[Build], Build]:
    """Give a program settings of Kafka Streams, topics with other numbers of partitions than 4, and records."""

    def note(build: Build) -> Build:
        build.case = (config or {}, partitions or {}, input)  # type: ignore[attr-defined]
        return build

    return note


def records(topic: str, text: str) -> Input:
    """Records of a topic: `a:x@1` has key a and value x at 1 ms; `-` is none."""
    parts = [one.replace("@", ":").split(":") for one in text.split()]
    return tuple((topic, None if k == "-" else k, None if v == "-" else v, int(t)) for k, v, t in parts)


def clock(advance: int) -> Input:
    """The clock of the machine goes on by so many milliseconds: a record of no topic."""
    return ((CLOCK, None, None, advance),)
