"""The access of sub-topologies to Kafka."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from headrace.errors import RetriableError
from headrace.kafka.groups import Partition
from headrace.streams.engine.runtime import StreamBatch, TaskRuntime
from headrace.streams.engine.source import Ranges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CREATE_INTERNAL_TOPICS = "`headrace streams init` creates internal topics; what they held is lost."
"""What to do about missing topics."""
FIGURES = ("batches", "records", "dropped", "batch-ms", "batch-ms-total", "lag", "rows-read", "block-cache-usage")
"""The metrics of a sub-topology."""


class NotCommittedError(RetriableError):
    """A transaction was certainly not committed; its batch can be run again."""


class Cluster(Protocol):
    """The access of a sub-topology to Kafka; the test driver has its own implementation."""

    def runtime(self, partitions: int) -> TaskRuntime:
        """The runtime of a sub-topology in Spark's JVM. partitions: the number of its topics' partitions."""
        ...

    def run(self, runtime: TaskRuntime, batch: StreamBatch, inputs: Mapping[str, Ranges]) -> None:
        """Compute a batch of these inputs, and write its results; raises as `write`."""
        ...

    def ends(self, runtime: TaskRuntime, inputs: Mapping[str, Mapping[Partition, int]]) -> dict[Partition, int] | None:
        """End offsets, as far as known without a request to brokers; None: unknown. inputs: where the next batch begins."""
        ...

    def limits(self) -> Mapping[str, int]:
        """By topic that is written to, its current maximum record size in bytes."""
        ...

    def read(self, ranges: Ranges) -> DataFrame:
        """The records of ranges of offsets, ordered within each partition."""
        ...

    def write(self, rows: Iterable[DataFrame], number: int) -> None:
        """Write the results of a batch."""
        ...

    def offsets(self, partitions: Iterable[Partition], policy: str) -> dict[Partition, int]:
        """Offsets by a reset policy: `earliest`, `latest`, `by_duration:…`; without partitions that do not exist."""
        ...

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, tuple[int, str]]:
        """Committed offsets with their metadata."""
        ...

    def commit(self, offsets: Mapping[Partition, tuple[int, str]]) -> None:
        """Commit offsets with metadata, all at once."""
        ...

    def transactions(self, subtopology: int) -> BatchTransactions | None:
        """The transactions of a sub-topology's batches; None if they are written at least once."""
        ...


class BatchTransactions(Protocol):
    """Writes batches exactly once."""

    def begin(self, runtime: TaskRuntime) -> None:
        """Fence off other writers of the sub-topology; committed offsets have to be read after it."""
        ...

    def commit(self, runtime: TaskRuntime, offsets: Mapping[Partition, tuple[int, str]]) -> None:
        """Commit the results of a batch together with its offsets. Raises NotCommittedError; after every other error the
        transaction may have been committed.
        """
        ...
