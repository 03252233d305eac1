"""What a sub-topology asks of Kafka."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from headrace.streams.engine.runtime import TaskRuntime
from headrace.streams.engine.source import Partition, Ranges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Cluster(Protocol):
    """What a sub-topology asks of Kafka; the driver for tests has one of its own."""

    def runtime(self, partitions: int) -> TaskRuntime:
        """What a sub-topology has in Spark's JVM. partitions: how many its topics have."""
        ...

    def feed(self, runtime: TaskRuntime, name: str, ranges: Ranges) -> None:
        """Say what an input has in the batch that was begun."""
        ...

    def run(self, runtime: TaskRuntime, job: Any, number: int, partitions: Sequence[int]) -> None:
        """Run the batch that was begun, and write what it makes unless it `holds`; raises what `write` does."""
        ...

    def read(self, ranges: Ranges) -> DataFrame:
        """Records of ranges of offsets, those of a partition in their order."""
        ...

    def write(self, rows: Iterable[DataFrame], number: int) -> None:
        """Write what a batch made."""
        ...

    def offsets(self, partitions: Iterable[Partition], which: str) -> dict[Partition, int]:
        """`earliest` or `latest` offsets; partitions that are not there are left out."""
        ...

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, tuple[int, str]]:
        """Committed offsets with their notes."""
        ...

    def commit(self, offsets: Mapping[Partition, tuple[int, str]]) -> None:
        """Commit offsets with notes, all at once."""
        ...


class BatchTransactions(Protocol):
    """What writes batches exactly once."""

    def begin(self) -> None:
        """Become the only one who writes for the sub-topology: committed offsets are to be read after it."""
        ...

    def write(self, rows: Iterable[DataFrame], number: int, offsets: Mapping[Partition, tuple[int, str]]) -> bool:
        """Write what a batch made and commit the offsets with it; whether there was anything to write, else nothing is done."""
        ...

    def end(self) -> None:
        """The work is over."""
        ...
