"""What a sub-topology asks of Kafka."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from headrace.errors import StreamsError
from headrace.streams.durations import BY_DURATION
from headrace.streams.engine.runtime import StreamBatch, TaskRuntime
from headrace.streams.engine.source import Partition, Ranges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FIGURES = ("batches", "records", "dropped", "batch-ms", "batch-ms-total", "lag", "rows-read", "block-cache-usage")
"""What is counted of a sub-topology."""


class Cluster(Protocol):
    """What a sub-topology asks of Kafka; the driver for tests has one of its own."""

    def runtime(self, partitions: int) -> TaskRuntime:
        """What a sub-topology has in Spark's JVM. partitions: how many its topics have."""
        ...

    def run(self, runtime: TaskRuntime, batch: StreamBatch, inputs: Mapping[str, Ranges]) -> None:
        """Compute a batch of what these inputs have, and write what it makes; raises what `write` does."""
        ...

    def ends(self, runtime: TaskRuntime, inputs: Mapping[str, Mapping[Partition, int]]) -> dict[Partition, int] | None:
        """Where topics end, as far as is known without asking brokers; None: ask. inputs: where the next batch begins."""
        ...

    def limits(self) -> Mapping[str, int]:
        """By topic that is written to, how many bytes of a record it takes now."""
        ...

    def read(self, ranges: Ranges) -> DataFrame:
        """Records of ranges of offsets, those of a partition in their order."""
        ...

    def write(self, rows: Iterable[DataFrame], number: int) -> None:
        """Write what a batch made."""
        ...

    def offsets(self, partitions: Iterable[Partition], policy: str) -> dict[Partition, int]:
        """Offsets by a reset policy: `earliest`, `latest`, `by_duration:…`; partitions that are not there are left out."""
        ...

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, tuple[int, str]]:
        """Committed offsets with their notes."""
        ...

    def commit(self, offsets: Mapping[Partition, tuple[int, str]]) -> None:
        """Commit offsets with notes, all at once."""
        ...


class BatchTransactions(Protocol):
    """What writes batches exactly once."""

    def begin(self, runtime: TaskRuntime) -> None:
        """Become the only one who writes for the sub-topology: committed offsets are to be read after it."""
        ...

    def commit(self, runtime: TaskRuntime, offsets: Mapping[Partition, tuple[int, str]]) -> None:
        """Commit what a batch made, and the offsets with it."""
        ...


def first_offsets(cluster: Cluster, partitions: Iterable[Partition], reset: Mapping[str, str]) -> dict[Partition, int]:
    """Where partitions without a committed offset begin. reset: policies by topic. Raises StreamsError where that is none."""
    fresh = {p: reset.get(p[0], "earliest") for p in partitions}
    offsets: dict[Partition, int] = {}
    for reset_policy in {
        policy for policy in fresh.values() if policy in ("earliest", "latest") or policy.startswith(BY_DURATION)
    }:
        offsets |= cluster.offsets([p for p, policy in fresh.items() if policy == reset_policy], reset_policy)
    if missing := [p for p in fresh if p not in offsets]:
        raise StreamsError(f"There is no committed offset for {missing[0][0]}-{missing[0][1]}, and auto.offset.reset is none.")
    return offsets
