"""Counts and latencies of each source partition, as MirrorMaker measures them (KIP-382, MirrorSourceMetrics). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headrace.connectors.base import Measured
from headrace.spark.seen import Passed

OF_TASK, OF_MIRROR = ("headrace-task", "partition-"), ("mirror-mirrorsourceconnector", "")
"""The group, and how the names begin: of any Kafka source, and those of MirrorMaker."""


@dataclass(frozen=True)
class PartitionMetrics:
    """Of one partition: totals, and ages (ms) in the last batch that had records: least, greatest, average, of the newest record.

    age: of the records when they were read; latency: when their copies were acknowledged.
    """

    records: int = 0
    bytes: int = 0
    age: Mapping[str, float] | None = None
    latency: Mapping[str, float] | None = None

    def after(self, batch: Passed, begun_ms: int, done_ms: int) -> PartitionMetrics:
        """With one more batch, which was begun and acknowledged at these times (epoch ms)."""
        total, size = self.records + batch.records, self.bytes + batch.bytes
        return PartitionMetrics(total, size, _ages(batch, begun_ms), _ages(batch, done_ms))

    def measures(self, named: tuple[str, str], labels: Mapping[str, str]) -> Iterator[Measured]:
        """Under MirrorMaker's names; named: OF_TASK or OF_MIRROR."""
        group, start = named
        yield group, f"{start}record-count", self.records, labels
        yield group, f"{start}byte-count", self.bytes, labels
        for name, ages in (("record-age-ms", self.age), ("replication-latency-ms", self.latency)):
            for ending, value in (ages or {}).items():
                yield group, start + name + ending, value, labels


def _ages(batch: Passed, now_ms: int) -> dict[str, float]:
    newest, oldest = max(0, now_ms - batch.newest_ms), max(0, now_ms - batch.oldest_ms)
    average = max(0.0, now_ms - batch.sum_ms / batch.records)
    return {"": newest, "-min": newest, "-max": oldest, "-avg": average}
