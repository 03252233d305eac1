"""Tasks whose records the data plane copies one by one, from partitions of a Kafka cluster or lines of files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from headrace.connectors.base import Offsets, OffsetTask, StoredOffsets, TaskContext
from headrace.connectors.data_loss import Loss
from headrace.kafka.delivered_position import DeliveredPosition
from headrace.kafka.groups import Partition
from headrace.record import RecordColumns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headrace.spark.feeds import FeedFailure, PartitionUpdate, Update


ReadBatch = Callable[["SparkSession", Mapping[Partition, tuple[int, int]]], "DataFrame"]
"""Reads ranges of offsets; the columns are those of a lane, without `destination`."""


@dataclass(frozen=True)
class FeedSource:
    """The source of a feed: partitions, start offsets, and the record columns of a lane."""

    positions: Mapping[Partition, int]
    """The first offset to read of each source partition."""
    consumer: Mapping[str, str]
    """Java settings of the consumer; of files, see `headrace.spark.feeds.Feed.files`."""
    record: Callable[[DataFrame], RecordColumns]
    """Columns over a DataFrame with the columns of `headrace.spark.plane.columns`."""
    destination: Callable[[str], str]
    """The name of the copy of a source topic, before the chain: the column `destination` of what `record` is given."""
    record_key: Hashable = None
    """What `record` depends on besides that column: of two sources with equal keys it gives the same columns. None: unknown."""
    partition_counts: Mapping[str, int] | None = None
    """If not None, `RecordColumns.partition` counts only for topics that have exactly this many partitions."""
    initial: Offsets = ()
    """Offsets to store at once, so that a looked-up position is used after a restart, too."""
    losses: Sequence[Loss] = ()
    """Losses of the source since the offsets were stored, to be recorded first."""
    batch_max_records: int = 500_000
    """The most records of a batch, for a chain that cannot go record by record."""
    files: bool = False
    """Whether the partitions are files (`headrace.spark.feeds.Feed.files`)."""
    read_batch: ReadBatch | None = None
    """Reads a batch; None: Spark's Kafka source does."""


class FeedOwner(ABC):
    """The interface of a task for the run of its feed."""

    context: TaskContext
    offset_field: ClassVar[str] = "offset"
    """The field of a Connect offset that has the number."""
    check_interval_s: float = 15.0
    """The longest time between two calls of `needs_reopening`, in seconds, if it is less than the runtime's own."""

    @abstractmethod
    def offsets(self, ends: Mapping[Partition, int]) -> Offsets:
        """The Connect offsets of these positions: everything before them is copied."""

    def check(self, topics: Collection[str]) -> None:  # noqa: B027 - most have nothing to do
        """Raise RetriableError if one of these source topics is another one than when it was opened.

        Nothing may be stored then.
        """

    def needs_reopening(self) -> bool:
        """Check, at intervals, whether what is read still exists; returns whether the task has to be reopened.

        Raises RetriableError to be opened again after a pause.
        """
        return False

    def active_topics(self, update: Update) -> Collection[str]:
        """The topics that are active by what has come (KIP-558): those that were written to."""
        return update.written

    def feed_begins(self) -> None:  # noqa: B027 - most have nothing to do
        """Called before each feed of the task: the totals of its `PartitionUpdate`s begin at 0."""

    def acknowledged(self, partitions: Sequence[PartitionUpdate]) -> None:  # noqa: B027 - most have nothing to do
        """Called with what was acknowledged since the last call. Must neither block for long nor raise."""

    def feed_failed(self, feed_failure: FeedFailure) -> None:  # noqa: B027 - most have nothing to do
        """Called with what has ended the feed, or its part in a lane. Must neither block for long nor raise."""

    def offsets_stored(self, ends: Mapping[Partition, int]) -> None:  # noqa: B027 - most have nothing to do
        """Called when the offsets of everything before these are stored. Must neither block for long nor raise."""

    def positions(self) -> Mapping[str, DeliveredPosition] | None:
        """How far each partition (`<topic>-<number>`) is copied; None if that is not known."""
        return None

    def silent_since_ms(self) -> int | None:
        """Since when (epoch ms) the source has not answered `positions`; None: it answers, or is not asked."""
        return None


class FeedTask(OffsetTask, FeedOwner):
    """A task whose records the data plane moves: from partitions of a Kafka cluster, or files, to topics, record by record.

    Life: `start` → `partitions` → `open` → (`acknowledged` → `check` → `committed`)* → `stop`; after a failure that may pass,
    `open` is called again with the offsets stored by then.
    """

    @abstractmethod
    def open(self, stored: StoredOffsets) -> FeedSource | None:
        """Where to read from; None while there is nothing to read (asked again after a pause).

        Raises RetriableError if the source is out of reach, DataLossError if it has lost records and the task cannot continue.
        """

    def position(self, origin: Mapping[str, str | None]) -> tuple[Partition, int]:
        """The partition and offset of a record with this `RecordColumns.origin`."""
        return (str(origin["topic"]), int(origin["partition"] or 0)), int(origin["offset"] or 0)

    def delivered(self, ends: Mapping[Partition, int]) -> None:
        """Called between two batches: everything before these offsets is written, and nothing from them on is being written.

        A lane has no batches: there `acknowledged` says where each record was written.
        """

    @abstractmethod
    def ends(self, positions: Mapping[Partition, int]) -> Mapping[Partition, int]:
        """Up to which offset each of these partitions can be read now. Raises RetriableError, KafkaFailure."""
