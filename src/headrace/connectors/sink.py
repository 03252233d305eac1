"""The base classes of sinks: connectors that get Kafka's records in batches, as DataFrames.

Reading the topics, converting, transforming, dead letters and the offsets of the consumer group are the runtime's
(`headrace.runtime`), the same for every sink. A sink's task says in which form it wants the records, and has Spark write them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from headrace.connectors.base import Connector, Props, Task
from headrace.converters.base import Writers
from headrace.kafka.positions import summary
from headrace.plugins import Kind
from headrace.spark.destination_topic import DestinationTopic
from headrace.sql_functions import F
from headrace.values.sql import Sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TopicPartition = tuple[str, int]

COLUMNS = (
    "topic", "partition", "offset", "timestamp", "key", "value", "headers", "original_topic", "original_partition",
)  # fmt: skip
"""The columns of `SinkBatch.frame`."""


@dataclass(frozen=True)
class SinkBatch:
    """The records that a sink is to write now."""

    frame: DataFrame
    """One row a record, of each partition in the order of its offsets, and of each topic partition within one Spark partition; it
    is computed again each time it is used. Columns (COLUMNS): topic (string, as the transforms left it), partition (int, may be
    NULL when a transform took it away), offset (bigint), timestamp (bigint, ms since the epoch, may be NULL), key, value (in the
    form of `SinkTask.writers`; binary by default), headers (array<struct<key:string,value:binary>>, never NULL), original_topic
    (string) and original_partition (int): where Kafka has the record, before the transforms (KIP-793).
    """
    id: int
    """The same when a batch that begins at the same offsets is delivered again to a task with the same partitions; else another
    one, in no order. After a crash the range may be a longer one that begins at the same offsets: a sink that must not write
    twice stores the ends of `offsets` together with the data, and writes `beyond(ends)`.
    """
    offsets: Mapping[TopicPartition, tuple[int, int]]
    """What the batch covers, by original topic and partition: the first offset and the one after the last. Some of these may have
    no row: dropped by a filter, failed, or taken by compaction and transactions. A batch without any row is handed over, too.
    """
    spark: SparkSession
    topics: frozenset[str] | None
    """Every name that `topic` can have in this batch, some perhaps without a row; None: only the records tell, as their content
    decides.
    """
    partition_counts: Mapping[str, int]
    """By topic as in the frame, how many partitions the original topic has now; a topic that is made of several with different
    counts has none.
    """

    @property
    def summary(self) -> str:
        """The covered range in words, for logs and errors."""
        return summary(self.offsets)

    def beyond(self, ends: Mapping[TopicPartition, int]) -> DataFrame:
        """The frame without the records that have been written already.

        ends: by original topic and partition, the offset after the last one written, as stored from `offsets` of earlier batches.
        """
        done = F.lit(False)
        for (topic, partition), end in ends.items():
            first, _ = self.offsets.get((topic, partition), (end, end))
            if first < end:
                in_partition = (F.col("original_topic") == topic) & (F.col("original_partition") == partition)
                done = done | (in_partition & (F.col("offset") < end))
        return self.frame.where(~done)


@dataclass(frozen=True)
class KafkaTarget:
    """A Kafka cluster that a sink writes to, for a lane of the data plane that does so record by record."""

    producer: Mapping[str, str]
    """Java settings."""
    written: Mapping[str, Sql]
    """How columns that are written (topic, partition, headers) follow from those of `COLUMNS`, where they are not the same."""
    ensure: Callable[[str, int], bool]
    """Takes a topic and how many partitions it gets if it is created (-1: the cluster's default); returns whether it exists now.
    Raises RetriableError, KafkaFailure.
    """
    renew: Callable[[str, int], bool]
    """Recreates a deleted topic, with as many partitions; returns whether it was recreated."""
    look_up: Callable[[str], DestinationTopic]
    """Describes a topic that exists."""
    topic: Callable[[str], str]
    """The name in the target cluster of a topic, as the chain left it."""
    silent_since_ms: Callable[[], int | None]
    """Since when (epoch ms) the cluster has given no answer; None: it does. Asks it without waiting."""
    keeps_partition: bool
    """Whether a record keeps its partition in any case; else only in a topic of as many partitions as its original topic has."""


@dataclass(frozen=True)
class FileTarget:
    """A file that a lane of the data plane appends values to, as lines."""

    path: str
    """Empty: the standard output."""


class SinkTask(Task):
    """One query of a sink connector: the records of its share of the topic partitions, batch by batch.

    Life: `start` → `writers` → `put`* → `stop`. Everything is called in the driver, on threads of the task's own, never two at
    once.
    """

    batch_max_records: ClassVar[int] = 500_000
    """The most records of one batch, if neither worker nor connector says otherwise by `max.poll.records`."""

    def start(self, props: Props) -> None:
        """Keep the task's configuration as `props`; make clients. Raises a HeadraceError to become FAILED."""
        self.props = dict(props)

    def writers(self, own: Writers) -> Writers:
        """The form in which this sink wants its records: what makes the columns key, value and headers of their Connect data.

        own: the connector's converters, or the worker's: they have read the record, and write it as bytes of the same format.
        Called once, after `start`; the answer's `write` is called for each chain that is compiled. Default: `own`.
        """
        return own

    def lane_target(self) -> KafkaTarget | FileTarget | None:
        """Where a lane can write the records of this sink to; called after `start`.

        A lane moves the records then, one by one, and `put` is called only where the chain takes many records at once. Default:
        None, `put` gets all.
        """
        return None

    @abstractmethod
    def put(self, batch: SinkBatch) -> None:
        """Have Spark write a batch; its offsets are committed once this returns.

        Raises RetriableError to be handed the same batch again after a pause, which grows, without end; anything else ends the
        task as FAILED. What Spark raises is best passed on through `headrace.spark.failure.as_error`, which tells the one from
        the other. `context.stopping` is set while the task is being stopped.
        """


class SinkConnector(Connector):
    """Writes Kafka's records to elsewhere.

    `topics` or `topics.regex`, and the consumer's settings, are the runtime's business. Task n of N gets every N-th topic
    partition.
    """

    plugin_kind: ClassVar[Kind] = Kind.SINK
    task_class: ClassVar[type[SinkTask]]

    def start(self, props: Props) -> None:
        """Keep the configuration."""
        self.props = dict(props)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """`max_tasks` times the connector's own configuration, as Kafka's sinks do."""
        return [dict(self.props) for _ in range(max_tasks)]

    def stop(self) -> None:
        """Nothing to end."""

    @classmethod
    def alter_offsets(cls, config: Props, offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Agree to consumer offsets that an administrator sets (None: removes) while the connector is stopped (KIP-875).

        Returns whether the connector's offsets are all in the consumer group, and none in the system that it writes to. Raises
        ConnectError for what cannot be right.
        """
        return False
