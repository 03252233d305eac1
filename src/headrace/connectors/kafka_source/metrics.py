"""Counts and latencies of each source partition, as MirrorMaker measures them (KIP-382, MirrorSourceMetrics). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from headrace.connectors.base import Measured
from headrace.spark.feeds import Ages, PartitionUpdate

OF_TASK, OF_MIRROR, OF_PLUGIN = ("headrace-task", "partition-"), ("mirror-mirrorsourceconnector", ""), ("plugins", "")
"""The group, and how the names begin: of any Kafka source, and those of MirrorMaker, legacy and new (KIP-1280)."""


@dataclass(frozen=True)
class PartitionMetrics:
    """Of one partition: totals, and ages (ms) between the last two updates that had records: least, greatest, average, and of the
    newest record.
    """

    records: int = 0
    bytes: int = 0
    """Of keys and values."""
    age: Mapping[str, float] | None = None
    """Ages of records when they were read."""
    latency: Mapping[str, float] | None = None
    """Ages of records when their copies were acknowledged."""
    counted: PartitionUpdate | None = None
    """The previous update of the same feed."""

    def after(self, update: PartitionUpdate) -> PartitionMetrics:
        """With what has come since the update before."""
        before = self.counted
        records = update.records - (before.records if before else 0)
        size = update.bytes - (before.bytes if before else 0)
        age, latency = _in_words(update.age) or self.age, _in_words(update.latency) or self.latency
        return PartitionMetrics(self.records + records, self.bytes + size, age, latency, update)

    def before_next_feed(self) -> PartitionMetrics:
        """The same; the totals of the next update begin at 0."""
        return replace(self, counted=None)

    def measures(self, named: tuple[str, str], labels: Mapping[str, str]) -> Iterator[Measured]:
        """Under MirrorMaker's names; named: OF_TASK, OF_MIRROR or OF_PLUGIN."""
        group, start = named
        yield group, f"{start}record-count", self.records, labels
        yield group, f"{start}byte-count", self.bytes, labels
        for name, ages in (("record-age-ms", self.age), ("replication-latency-ms", self.latency)):
            for ending, value in (ages or {}).items():
                yield group, start + name + ending, value, labels


def _in_words(ages: Ages) -> dict[str, float] | None:
    if not ages.records:
        return None
    return {"": ages.last, "-min": ages.least, "-max": ages.most, "-avg": ages.sum / ages.records}
