"""Counts and latencies of each source partition, as MirrorMaker measures them (KIP-382, MirrorSourceMetrics). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from headrace.connectors.base import Measured
from headrace.spark.marks import Ages, Read, Written
from headrace.spark.seen import Passed

OF_TASK, OF_MIRROR = ("headrace-task", "partition-"), ("mirror-mirrorsourceconnector", "")
"""The group, and how the names begin: of any Kafka source, and those of MirrorMaker."""


@dataclass(frozen=True)
class PartitionMetrics:
    """Of one partition: totals, and ages (ms) in the last batch that had records, or between two times that offsets were stored
    in real-time mode: least, greatest, average, of the newest record.

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

    def during(self, read: Read, copy: Written | None) -> PartitionMetrics:
        """With what came by in real-time mode since the last time; copy: where it was written to, if that has nothing else."""
        total, size = self.records + read.ages.records, self.bytes + read.bytes
        latency = _told(copy.ages) if copy else None
        return replace(self, records=total, bytes=size, age=_told(read.ages) or self.age, latency=latency or self.latency)

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


def _told(ages: Ages) -> dict[str, float] | None:
    if not ages.records:
        return None
    return {"": ages.last, "-min": ages.least, "-max": ages.most, "-avg": ages.sum / ages.records}
