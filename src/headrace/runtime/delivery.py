"""What happens to one batch: topics exist → records are written → offsets are stored → active topics are recorded.

In this order, whatever the connector: a topic has its rule's settings before its first record (KIP-158), an offset is stored only
for acknowledged records (at least once), and a topic is active only once a record is in it (KIP-558).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from headrace.config import Type, parse_type
from headrace.connectors.base import Progress, SourceOffset, SourcePartition
from headrace.errors import ConnectError
from headrace.runtime.target import KAFKA_BATCH_BYTES, Target
from headrace.spark import failure
from headrace.spark.kafka import ORIGIN, write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Ports:
    """What delivery does outside of Spark.

    ensure_topics: returns when these topics exist, creating them if it may (raises ConnectError);
    is_active, record_active: the active topics of this connector;
    store_offsets: returns when Kafka has acknowledged the offsets;
    look_up: describes an existing topic.
    """

    ensure_topics: Callable[[Iterable[str]], None]
    is_active: Callable[[str], bool]
    record_active: Callable[[str], None]
    store_offsets: Callable[[Sequence[tuple[SourcePartition, SourceOffset]]], None]
    look_up: Callable[[str], Target]


@dataclass(frozen=True)
class Routing:
    """Where the records of a stream go.

    destination: how a topic follows from a source topic, None if it depends on the records; partition_counts: see
    `headrace.connectors.base.Stream`.
    """

    destination: Callable[[str], str] | None = None
    partition_counts: Mapping[str, int] | None = None


class Delivery:
    """Delivers the batches of one task; `batches` counts those that are written and committed."""

    def __init__(self, ports: Ports, producer: Mapping[str, str]) -> None:
        """producer: Java producer settings. Raises ConfigError for a batch.size that is none."""
        self._ports = ports
        self._producer = dict(producer)
        self._batch_bytes: int = parse_type("batch.size", producer.get("batch.size", str(KAFKA_BATCH_BYTES)), Type.INT)
        self._known: dict[str, Target] = {}
        self.batches = 0

    def __call__(self, frame: DataFrame, progress: Progress, routing: Routing) -> None:
        """Deliver one batch.

        frame: columns of `headrace.spark.kafka.producer_columns`. Raises ConnectError, or RetriableError if trying the batch
        again may help.
        """
        found = self._new_topics(frame, progress, routing.destination)
        for topic in sorted(found - self._known.keys()):
            self._ports.ensure_topics([topic])
            self._known[topic] = self._ports.look_up(topic)
        self._write(self._place(frame, routing), progress)
        self._ports.store_offsets(progress.offsets)
        self.batches += 1
        for topic in sorted(found):
            if not self._ports.is_active(topic):
                self._ports.record_active(topic)

    def _new_topics(self, frame: DataFrame, progress: Progress, destination: Callable[[str], str] | None) -> set[str]:
        """The topics that have records in the batch, without those known to exist and to be active.

        As long as the destination follows from the source topic, a batch whose topics are all known is not looked at: the pass
        over it is needed for a topic's first batch only (it keeps offsets without records, as compaction and transactions
        leave them, from creating a topic).
        """
        if destination is None or progress.topics is None:
            return self._distinct(frame)
        candidates = {destination(t) for t in progress.topics}
        unsure = {t for t in candidates if t not in self._known or not self._ports.is_active(t)}
        if not unsure:
            return set()
        return self._distinct(frame.where(frame["topic"].isin(sorted(unsure))))

    def _place(self, frame: DataFrame, routing: Routing) -> DataFrame:
        """Keep the source's partition number only where source and destination have the same number of partitions."""
        counts = routing.partition_counts
        if counts is None:
            return frame
        moved = sorted(t for t, known in self._known.items() if counts.get(t) != known.partitions)
        if not moved:
            return frame
        from pyspark.sql import functions as F

        return frame.withColumn("partition", F.when(~frame["topic"].isin(moved), frame["partition"]))

    def _distinct(self, frame: DataFrame) -> set[str]:
        from pyspark.sql import functions as F

        # One row from each partition to one task; `distinct` would make 200 of them (a stream's session plans no adaptive ones).
        row: Any = frame.agg(F.collect_set("topic").alias("topics")).first()
        return set(row["topics"])

    def _write(self, frame: DataFrame, progress: Progress) -> None:
        try:
            write(frame, self._producer | {"batch.size": str(self._batch_size())})
        except Exception as e:
            cause = failure.root(e)
            if cause.java_class.endswith(("RecordTooLargeException", "MessageSizeTooLargeException")):
                raise self._too_large(frame, cause.message, e) from failure.SparkError(cause)
            raise failure.as_error(e, f"Records of {progress.summary} could not be written") from None

    def _batch_size(self) -> int:
        """No more than every topic takes: a batch that is too large is split into batches of this size, again and again, without
        an end if they are too large as well (KAFKA-8350, in clients before 4.2).
        """
        return min([self._batch_bytes, *(known.batch_bytes for known in self._known.values())])

    def _too_large(self, frame: DataFrame, words: str, error: Exception) -> ConnectError:
        """The record that is most likely meant: the largest of the batch."""
        from pyspark.sql import functions as F

        size = F.coalesce(F.length("key"), F.lit(0)) + F.coalesce(F.length("value"), F.lit(0))
        origins = [F.col(c) for c in frame.columns if c.startswith(ORIGIN)]
        row: Any = frame.select(size.alias("size"), "topic", *origins).orderBy(F.desc("size")).first()
        where = ", ".join(f"{k.removeprefix(ORIGIN)}={v}" for k, v in row.asDict().items() if k.startswith(ORIGIN))
        return ConnectError(
            f"The record at {where} has {row['size']} bytes of key and value, too large for topic '{row['topic']}': {words} "
            "Raise max.message.bytes of the topic (or message.max.bytes of its brokers) and, above 32 MiB, "
            "producer.override.max.request.size and producer.override.buffer.memory of the connector."
        )
