"""Latency: from the send of a record to the source until a consumer of the copy has it in its hands."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, TopicPartition

from benchmarks.process import BenchmarkError, Child
from benchmarks.throughput import EndOffsets

GRACE_S = 30


@dataclass(frozen=True)
class Load:
    """`rate` records per second: `warmup_s` seconds that are not counted, then `measured_s` seconds that are."""

    rate: int
    warmup_s: float
    measured_s: float

    @property
    def skipped(self) -> int:
        """How many records come before those that are counted."""
        return round(self.rate * self.warmup_s)

    @property
    def total(self) -> int:
        """How many records are sent in all."""
        return self.skipped + round(self.rate * self.measured_s)


@dataclass(frozen=True)
class Route:
    """From topics on the broker `source`, each of so many partitions, to their copies on the broker `destination`."""

    source: str
    topics: Sequence[str]
    destination: str
    copies: Sequence[str]
    partitions: int

    def sender(self, load: Load, log: Path) -> Child:
        """Return a process that sends `load`, in turn to all partitions."""
        numbers = map(str, (load.rate, load.total, self.partitions))
        return Child("the sender", [sys.executable, "-m", "benchmarks.sender", self.source, *numbers, *self.topics], log)


def measure(route: Route, load: Load, check: Callable[[], None], log: Path) -> list[float]:
    """Send `load` along `route` and return the latencies of the counted records in ms.

    A record that arrives twice counts with its first arrival; one with a negative number is not part of the load. `check` is
    called when nothing arrives; it raises if the engine has failed. `log` receives what the sender prints. Raises BenchmarkError
    if a record is missing GRACE_S seconds after the last was sent.
    """
    sender = route.sender(load, log)
    deadline = time.monotonic() + load.warmup_s + load.measured_s + GRACE_S
    try:
        partitions = _await_copies(route, check, deadline)
        arrivals = _arrivals(route.destination, partitions, load, check, deadline)
    finally:
        sender.stop()
    return [latency for number, latency in arrivals.items() if number >= load.skipped]


def _await_copies(route: Route, check: Callable[[], None], deadline: float) -> list[TopicPartition]:
    with EndOffsets(route.destination, *route.copies) as offsets:
        while len(partitions := offsets.partitions()) < len(route.copies) * route.partitions:
            check()
            if time.monotonic() > deadline:
                raise BenchmarkError(f"{len(partitions)} partitions of {', '.join(route.copies)} were created.")
            time.sleep(0.2)
    return partitions


def _arrivals(
    broker: str, partitions: list[TopicPartition], load: Load, check: Callable[[], None], deadline: float
) -> dict[int, float]:
    consumer = Consumer(
        {"bootstrap.servers": broker, "group.id": "bench", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    )
    consumer.assign([TopicPartition(each.topic, each.partition, 0) for each in partitions])
    arrivals: dict[int, float] = {}
    try:
        while len(arrivals) < load.total:
            first = consumer.poll(1)
            if first is None:
                check()
                if time.monotonic() > deadline:
                    raise BenchmarkError(f"{len(arrivals)} of {load.total} records arrived in {partitions[0].topic}.")
                continue
            messages = [first, *consumer.consume(1000, timeout=0)]  # what is there already
            now = time.time_ns()
            for message in messages:
                if (error := message.error()) is not None:
                    if error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                        raise BenchmarkError(f"The consumer of {partitions[0].topic} failed: {error}")
                    continue
                number, sent = map(int, (message.value() or b"").split(b" ", 2)[:2])
                if number >= 0:
                    arrivals.setdefault(number, (now - sent) / 1e6)
        return arrivals
    finally:
        consumer.close()


def percentile(values: list[float], share: float) -> float:
    """Return the value below which the share `share` (0 to 1) of `values` lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
