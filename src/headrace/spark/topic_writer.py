"""Writes batches to topics of one cluster: names too large records, and keeps partitions of topics with equal counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headrace.config.client_options import client_value
from headrace.errors import ConnectError, RetriableError
from headrace.spark import failure, large_records
from headrace.spark.destination_topic import KAFKA_BATCH_BYTES, DestinationTopic, fitting_batch_bytes, refusal
from headrace.spark.kafka import write
from headrace.sql_functions import F
from headrace.values.scope import filter_here
from headrace.values.sql import lit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Kafka Connect's producer settings for source tasks (Worker.baseProducerProps), but for three: with idempotence a retry writes
# nothing twice; big batches (with Kafka's linger of 5 ms) are worth 40 % of throughput; and a record is only too large when the
# broker says so (docs/decisions/0004). Idempotence is Java's default, and not named here: named, it would make producers refuse
# other settings that exclude it (acks=1, retries=0), which disable the default one.
PRODUCER = {
    "acks": "all",
    "delivery.timeout.ms": "2147483647",
    "batch.size": "262144",
    "max.request.size": "33554432",
}
Way = Callable[["DataFrame", Mapping[str, str]], None]
_SINGLE_LOOKUPS = 4  # topics that are searched one by one


class TopicWriter:
    """Writes with one producer's settings; `descriptions` has the descriptions of its topics."""

    def __init__(
        self, producer: Mapping[str, str], look_up: Callable[[str], DestinationTopic], exactly: str | None = None
    ) -> None:
        """producer: Java producer settings; look_up: describes an existing topic; exactly: `<connector>-<task>`, if exactly once.

        Raises ConfigError for an invalid batch.size.
        """
        self._producer, self._look_up = dict(producer), look_up
        self._exactly = exactly
        self._batch_bytes: int = client_value("producer", producer, "batch.size")
        self._compresses = client_value("producer", producer, "compression.type").lower() != "none"
        self.descriptions: dict[str, DestinationTopic] = {}

    def learn(self, topic: str) -> None:
        """Describe an existing topic, unless it is known."""
        if topic not in self.descriptions:
            self.descriptions[topic] = self._look_up(topic)

    def place(self, frame: DataFrame, counts: Mapping[str, int] | None) -> DataFrame:
        """Keep the partition's number only for topics that have as many partitions as `counts` says (None: keep it for all)."""
        if counts is None:
            return frame
        moved = sorted(t for t, description in self.descriptions.items() if counts.get(t) != description.partitions)
        if not moved:
            return frame
        return frame.withColumn("partition", F.when(~frame["topic"].isin(moved), frame["partition"]))

    def write(self, frame: DataFrame, summary: str, way: Way = write) -> None:
        """Write a batch of `headrace.spark.kafka.producer_columns` and wait until every record is acknowledged.

        summary: the batch in words; way: writes a frame, which may be a stream, with these producer settings. Raises
        ConnectError, or RetriableError if a retry may succeed.
        """
        try:
            way(large_records.guarded(frame, self._limits()), self._producer | self._batch_size())
        except Exception as e:
            error = self._too_large(frame, e) or failure.as_error(e, _not_written(e, summary, self._exactly))
            raise error from error.__cause__

    def _limits(self) -> dict[str, int]:
        """`max.message.bytes` by topic; empty if one of them is unknown, or if records are compressed."""
        limits = {
            topic: description.max_message_bytes
            for topic, description in self.descriptions.items()
            if description.max_message_bytes is not None
        }
        return limits if len(limits) == len(self.descriptions) and not self._compresses else {}

    def _batch_size(self) -> dict[str, str]:
        """`batch.size`, at most the limit of every topic, by name, and Kafka's own for those whose limit is not known."""
        limits = {topic: known.max_message_bytes or KAFKA_BATCH_BYTES for topic, known in self.descriptions.items()}
        return {"batch.size": str(fitting_batch_bytes(limits, self._batch_bytes))}

    def _too_large(self, frame: DataFrame, error: Exception) -> ConnectError | None:
        """The error if a record was too large, None otherwise."""
        record = large_records.record_named_in(error)
        if record is None:
            cause = failure.root(error)
            refused = cause.java_class.endswith("RecordTooLargeException") and not frame.isStreaming  # which cannot be read again
            return large_records.too_large(large_records.largest(frame), cause.message) if refused else None
        before, now = self.descriptions[record.topic].max_message_bytes or 0, self._look_up(record.topic)
        self.descriptions[record.topic] = now
        if (now.max_message_bytes or 0) > before:
            return RetriableError(f"max.message.bytes of topic '{record.topic}' was raised to {now.max_message_bytes}.")
        return large_records.too_large(record)


def topics_in(frame: DataFrame, among: Iterable[str] | None = None) -> set[str]:
    """The topics of the records of a batch, by its column `topic`; among: only these, None: all."""
    if among is None:
        return _distinct(frame)
    topics = sorted(among)
    if len(topics) <= _SINGLE_LOOKUPS:  # the first record of each ends its look
        return {t for t in topics if filter_here(frame, f"topic = {lit(t)}").select("topic").head(1)}
    return _distinct(filter_here(frame, f"topic IN ({', '.join(map(lit, topics))})"))


def _distinct(frame: DataFrame) -> set[str]:
    # One row from each partition to one task; `distinct` would make 200 of them (a stream's session plans no adaptive ones).
    row: Any = frame.agg(F.collect_set("topic").alias("topics")).first()
    return set(row["topics"])


def _not_written(error: Exception, summary: str, exactly: str | None) -> str:
    """The message for records that could not be written."""
    if failure.root(error).java_class.startswith("org.apache.kafka.common."):
        return refusal(f"records of {summary}", exactly)
    return f"Records of {summary} could not be written"
