"""The chain in memory: each side in a process of its own, on all cores, without a broker."""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.java import GC, java
from benchmarks.process import BenchmarkError, Child, write_properties

HEAP = "4G"
"""The largest heap of both sides. Ours keeps the records in it, the peer beside it."""
JVM = (f"-Xms{HEAP}", *GC, "-XX:+AlwaysPreTouch")
"""The other options of both JVMs. Without the last, pages that are touched for the first time cost several times the work."""
TIMEOUT_S = 1800


@dataclass(frozen=True)
class Input:
    """The file of records and the connector's properties; `warm_up` passes over the file, then `rounds` that count."""

    data: Path
    properties: Mapping[str, str]
    warm_up: int
    rounds: int
    decode: Callable[[bytes], Any] = json.loads
    """Of a value that was made."""


@dataclass(frozen=True)
class Round:
    """One pass over the file: how many records and bytes came out, and the CPU time of the whole process."""

    records: int
    seconds: float
    process_cpu: float
    out: int
    bytes: int

    @property
    def rate(self) -> float:
        """Records per second."""
        return self.records / self.seconds

    @property
    def cpu(self) -> float:
        """CPU seconds per million records."""
        return self.process_cpu / self.records * 1e6


@dataclass(frozen=True)
class Outcome:
    """What a loop printed: its rounds, and some of the values that it made, by their id."""

    rounds: list[Round]
    samples: dict[int, Any]


def peer(classes: Path, given: Input, log: Path, more: Sequence[Path] = ()) -> Outcome:
    """Run Kafka Connect's converters and transforms, a chain per core (ChainLoop.java). more: jars of converters."""
    command = java([f"-Xmx{HEAP}", *JVM, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"], classes, more)
    return _run("Kafka Connect (loop)", [*command, "io.headrace.bench.ChainLoop"], given, log)


def ours(given: Input, log: Path) -> Outcome:
    """Run headrace's compiled chain over a cached DataFrame, a Spark slot per core (`benchmarks.transforms.loop`)."""
    return _run("headrace (loop)", [sys.executable, "-m", "benchmarks.transforms.loop"], given, log)


def require_same(one: Outcome, other: Outcome) -> None:
    """Raise BenchmarkError unless both made the same: a number beside that of other work is worth nothing."""
    for number, sample in one.samples.items():
        if sample != other.samples.get(number):
            raise BenchmarkError(f"The outputs differ: {sample} and {other.samples.get(number)}")
    made = {each.out for outcome in (one, other) for each in outcome.rounds}
    if len(made) > 1:
        raise BenchmarkError(f"The numbers of records written differ: {sorted(made)}")
    sizes = {each.bytes for outcome in (one, other) for each in outcome.rounds}
    if max(sizes) > 1.001 * min(sizes):  # a number may have more than one spelling: 1.0E-4 is 0.00010
        raise BenchmarkError(f"The numbers of bytes written differ: {sorted(sizes)}")


def _run(name: str, program: list[str], given: Input, log: Path) -> Outcome:
    properties = write_properties(log.with_suffix(".properties"), given.properties)
    counts = (os.cpu_count() or 1, given.warm_up, given.rounds)
    output = Child(name, [*program, str(properties), str(given.data), *map(str, counts)], log).wait(TIMEOUT_S)
    rounds: list[Round] = []
    samples: dict[int, Any] = {}
    for line in output.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "round":
            found = dict(each.split("=") for each in rest.split())
            numbers = (int(found["records"]), float(found["seconds"]), float(found["process_cpu"]))
            rounds.append(Round(*numbers, int(found["out"]), int(found["bytes"])))
        elif kind == "sample":
            value = given.decode(base64.b64decode(rest))
            samples[(value.get("payload") or value)["id"]] = value
    if len(rounds) != given.rounds or not samples:
        raise BenchmarkError(f"{name} printed {len(rounds)} rounds and {len(samples)} samples:\n{output[-2000:]}")
    return Outcome(rounds, samples)
