"""What a sub-topology asks of Kafka."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from headrace.streams.engine.runtime import StreamBatch, TaskRuntime
from headrace.streams.engine.source import Partition, Ranges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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

    def read(self, ranges: Ranges) -> DataFrame:
        """Records of ranges of offsets, those of a partition in their order."""
        ...

    def write(self, rows: Iterable[DataFrame], number: int) -> None:
        """Write what a batch made."""
        ...

    def offsets(self, partitions: Iterable[Partition], which: str) -> dict[Partition, int]:
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
