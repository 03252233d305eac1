"""Throughput: the end offsets of the copy, asked for every 100 ms."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Self

from confluent_kafka import Consumer, IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from benchmarks.process import BenchmarkError

INTERVAL_S = 0.1
STALLED_S = 5


@dataclass(frozen=True)
class Sample:
    """At `at` seconds (monotonic clock) the topic held `records` records."""

    at: float
    records: int


class EndOffsets:
    """Counts the records of topics that may not exist yet, without ever creating one; a context manager.

    committed: only those that a `read_committed` consumer sees; else those of open transactions count as well.
    """

    def __init__(self, broker: str, *topics: str, committed: bool = False) -> None:
        # A consumer handle: unlike a producer's, its metadata requests never create a topic.
        known = {"group.id": "bench", "allow.auto.create.topics": False}
        self._client = Consumer({"bootstrap.servers": broker, **known})
        self._admin = AdminClient({"bootstrap.servers": broker, "log_level": 0})
        self._isolation = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        self._topics = topics

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions of those topics that exist by now."""
        metadata = self._client.list_topics(self._topics[0] if len(self._topics) == 1 else None, timeout=30).topics
        known = [(topic, metadata[topic]) for topic in self._topics if topic in metadata]
        return [TopicPartition(topic, number) for topic, it in known if not it.error for number in it.partitions]

    def all_there(self, partitions: list[TopicPartition]) -> bool:
        """Whether these are partitions of all topics: those of one that came into being later are missing otherwise."""
        return {partition.topic for partition in partitions} == set(self._topics)

    def ends(self, partitions: list[TopicPartition]) -> list[int]:
        """Return the end offset of each; 0 for one whose leader is not known yet, as its topic is new."""
        latest: dict[TopicPartition, Any] = dict.fromkeys(partitions, OffsetSpec.latest())
        if not latest:
            return []
        found = self._admin.list_offsets(latest, isolation_level=self._isolation, request_timeout=30)
        return [_offset(found[partition]) for partition in partitions]

    def count(self, partitions: list[TopicPartition]) -> int:
        """Return the sum of the end offsets."""
        return sum(self.ends(partitions))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self._client.close()


def _offset(future: Future[Any]) -> int:
    try:
        return future.result().offset
    except KafkaException:
        return 0


def follow(offsets: EndOffsets, total: int, check: Callable[[], None], timeout_s: float) -> list[Sample]:
    """Watch a topic until it holds `total` records and return what was seen.

    `check` is called when nothing has moved for STALLED_S seconds; it raises if the engine has failed.
    """
    partitions: list[TopicPartition] = []
    samples = [Sample(time.monotonic(), 0)]
    moved, deadline = samples[0].at, samples[0].at + timeout_s
    while samples[-1].records < total:
        time.sleep(INTERVAL_S)
        if not offsets.all_there(partitions):
            partitions = offsets.partitions()
        count = offsets.count(partitions)
        now = time.monotonic()
        if count > samples[-1].records:
            moved = now
        elif now - moved > STALLED_S:
            check()
            moved = now
        if now > deadline:
            raise BenchmarkError(f"{samples[-1].records} of {total} records were copied within {timeout_s:.0f} s.")
        samples.append(Sample(now, count))
    return samples


def until_committed(samples: list[Sample], committed: EndOffsets, check: Callable[[], None], timeout_s: float) -> list[Sample]:
    """Wait until a `read_committed` consumer sees the records too; returns the samples, the last at that moment."""
    partitions, deadline = committed.partitions(), time.monotonic() + timeout_s
    while committed.count(partitions) < samples[-1].records:
        check()
        if time.monotonic() > deadline:
            raise BenchmarkError(f"The last transaction was not committed within {timeout_s:.0f} s.")
        time.sleep(INTERVAL_S / 4)
    return [*samples[:-1], Sample(time.monotonic(), samples[-1].records)]


def steady_rate(samples: list[Sample], total: int, skipped: float = 0.1) -> float:
    """Return records/s from the moment that the share `skipped` of `total` had arrived until all had.

    Between two samples the count is taken to grow evenly.
    """
    start, end = (moment(samples, share) for share in (total * skipped, total))
    return total * (1 - skipped) / (end - start)


def moment(samples: list[Sample], records: float) -> float:
    """Return when the topic held so many records (monotonic clock); between two samples the count is taken to grow evenly."""
    after = next(number for number, sample in enumerate(samples) if sample.records >= records)
    low, high = samples[after - 1], samples[after]
    return low.at + (high.at - low.at) * (records - low.records) / (high.records - low.records)
