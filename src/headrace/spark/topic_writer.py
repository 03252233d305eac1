"""Writes batches to topics of one cluster: names records that are too large, keeps partitions where the topics have as many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headrace.config.client_options import client_value
from headrace.errors import ConnectError, RetriableError
from headrace.spark import failure, large_records
from headrace.spark.destination_topic import KAFKA_BATCH_BYTES, DestinationTopic
from headrace.spark.kafka import write
from headrace.values.scope import filter_here
from headrace.values.sql import lit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Kafka Connect's producer settings for source tasks (Worker.baseProducerProps), but for three: with idempotence a retry writes
# nothing twice; big batches and a short linger are worth 40 % of throughput; and a record is only too large when the broker says
# so (docs/decisions/0004).
PRODUCER = {
    "acks": "all",
    "delivery.timeout.ms": "2147483647",
    "enable.idempotence": "true",
    "batch.size": "262144",
    "linger.ms": "5",
    "max.request.size": "33554432",
}
Way = Callable[["DataFrame", Mapping[str, str]], None]
_FEW = 4  # topics that are looked for one by one


class TopicWriter:
    """A producer's settings, and what is `known` of the topics that it writes to."""

    def __init__(self, producer: Mapping[str, str], look_up: Callable[[str], DestinationTopic]) -> None:
        """producer: Java producer settings; look_up: describes an existing topic. Raises ConfigError for a batch.size that is
        none.
        """
        self._producer, self._look_up = dict(producer), look_up
        self._batch_bytes: int = client_value("producer", producer, "batch.size")
        self._compresses = client_value("producer", producer, "compression.type").lower() != "none"
        self.known: dict[str, DestinationTopic] = {}

    def learn(self, topic: str) -> None:
        """Describe a topic that exists and is not known yet."""
        if topic not in self.known:
            self.known[topic] = self._look_up(topic)

    def place(self, frame: DataFrame, counts: Mapping[str, int] | None) -> DataFrame:
        """Keep the partition's number only for topics that have as many partitions as `counts` says (None: keep it for all)."""
        if counts is None:
            return frame
        moved = sorted(t for t, description in self.known.items() if counts.get(t) != description.partitions)
        if not moved:
            return frame
        from pyspark.sql import functions as F

        return frame.withColumn("partition", F.when(~frame["topic"].isin(moved), frame["partition"]))

    def write(self, frame: DataFrame, summary: str, way: Way = write) -> None:
        """Write a batch of `headrace.spark.kafka.producer_columns` and wait until every record is acknowledged.

        what: the batch in words; way: writes a frame, which may be a stream, with these producer settings. Raises ConnectError,
        or RetriableError if trying it again may help.
        """
        try:
            way(large_records.guarded(frame, self._limits()), self._producer | self._batch_size())
        except Exception as e:
            error = self._too_large(frame, e) or failure.as_error(e, _not_written(e, summary))
            raise error from error.__cause__

    def _limits(self) -> dict[str, int]:
        """`max.message.bytes` by topic; empty where it says nothing, as one of them is not known, or records get smaller."""
        limits = {
            topic: description.max_message_bytes
            for topic, description in self.known.items()
            if description.max_message_bytes is not None
        }
        return limits if len(limits) == len(self.known) and not self._compresses else {}

    def _batch_size(self) -> dict[str, str]:
        """No more than every topic takes: the producer splits batches that are too large into batches of this size, without an
        end if those are too large as well (KAFKA-8350).
        """
        limits = [description.max_message_bytes or KAFKA_BATCH_BYTES for description in self.known.values()]
        return {"batch.size": str(min([self._batch_bytes, *limits]))}

    def _too_large(self, frame: DataFrame, error: Exception) -> ConnectError | None:
        """What to raise if a record was too large, None if none was."""
        record = large_records.record_named_in(error)
        if record is None:
            cause = failure.root(error)
            refused = cause.java_class.endswith("RecordTooLargeException") and not frame.isStreaming  # which cannot be read again
            return large_records.too_large(large_records.largest(frame), cause.message) if refused else None
        before, now = self.known[record.topic].max_message_bytes or 0, self._look_up(record.topic)
        self.known[record.topic] = now
        if (now.max_message_bytes or 0) > before:
            return RetriableError(f"max.message.bytes of topic '{record.topic}' was raised to {now.max_message_bytes}.")
        return large_records.too_large(record)


def topics_in(frame: DataFrame, among: Iterable[str] | None = None) -> set[str]:
    """The topics of the records of a batch, by its column `topic`; among: those that are looked for, None: all."""
    if among is None:
        return _distinct(frame)
    topics = sorted(among)
    if len(topics) <= _FEW:  # the first record of each ends its look
        return {t for t in topics if filter_here(frame, f"topic = {lit(t)}").select("topic").head(1)}
    return _distinct(filter_here(frame, f"topic IN ({', '.join(map(lit, topics))})"))


def _distinct(frame: DataFrame) -> set[str]:
    from pyspark.sql import functions as F

    # One row from each partition to one task; `distinct` would make 200 of them (a stream's session plans no adaptive ones).
    row: Any = frame.agg(F.collect_set("topic").alias("topics")).first()
    return set(row["topics"])


def _not_written(error: Exception, summary: str) -> str:
    """What to say of records that could not be written: Kafka Connect's words for what the producer or the broker refuses."""
    if failure.root(error).java_class.startswith("org.apache.kafka.common."):
        return f"Unrecoverable exception from producer send callback for records of {summary}"
    return f"Records of {summary} could not be written"
