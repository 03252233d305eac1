"""What a sub-topology asks of Kafka."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from headrace.streams.engine.source import Partition, Ranges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Cluster(Protocol):
    """What a sub-topology asks of Kafka; the driver for tests has one of its own."""

    def read(self, ranges: Ranges) -> DataFrame:
        """Records of ranges of offsets."""
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
