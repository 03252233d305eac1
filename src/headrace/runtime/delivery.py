"""What happens to one batch: topics exist → records are written → offsets are stored → active topics are recorded.

In this order, whatever the connector: a topic has its rule's settings before its first record (KIP-158), an offset is stored only
for acknowledged records (at least once), and a topic is active only once a record is in it (KIP-558).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from headrace.config import Type, parse_type
from headrace.connectors.base import Offsets, Progress, SourceOffset, SourcePartition
from headrace.errors import ConnectError, RetriableError
from headrace.runtime import large_records
from headrace.runtime.gate import Gate
from headrace.runtime.target import KAFKA_BATCH_BYTES, Target
from headrace.runtime.tolerance import NO_TOLERANCE, Tolerance
from headrace.spark import failure
from headrace.spark.kafka import write
from headrace.values.scope import kept
from headrace.values.sql import lit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)

_FEW = 4  # topics that are looked for one by one


@dataclass(frozen=True)
class Ports:
    """What delivery does outside of Spark.

    ensure_topics: returns when these topics exist, creating them if it may (raises ConnectError); ensure_dead_letters: the same
    for a dead letter topic and its replication factor;
    is_active, record_active: the active topics of this connector;
    store_offsets: returns when Kafka has acknowledged the offsets;
    look_up: describes an existing topic.
    """

    ensure_topics: Callable[[Iterable[str]], None]
    ensure_dead_letters: Callable[[str, int], None]
    is_active: Callable[[str], bool]
    record_active: Callable[[str], None]
    store_offsets: Callable[[Sequence[tuple[SourcePartition, SourceOffset]]], None]
    look_up: Callable[[str], Target]


@dataclass(frozen=True)
class Routing:
    """Where the records of a stream go.

    destination: how a topic follows from a source topic (to None where no record comes through), None if it depends on the
    records; partition_counts: see `headrace.connectors.base.Stream`.
    """

    destination: Callable[[str], str | None] | None = None
    partition_counts: Mapping[str, int] | None = None


class Delivery:
    """Delivers the batches of one task; `batches` counts those that are written and committed."""

    def __init__(self, ports: Ports, producer: Mapping[str, str], tolerance: Tolerance = NO_TOLERANCE) -> None:
        """producer: Java producer settings; tolerance: of records that failed. Raises ConfigError for a batch.size that is
        none.
        """
        self._ports, self._tolerance = ports, tolerance
        self._producer = dict(producer)
        self._batch_bytes: int = parse_type("batch.size", producer.get("batch.size", str(KAFKA_BATCH_BYTES)), Type.INT)
        self._compresses = producer.get("compression.type", "none").strip().lower() != "none"
        self._known: dict[str, Target] = {}
        self._abandoned = False
        self._storing = threading.Lock()
        self.batches = 0

    def abandon(self) -> None:
        """Store no more offsets once this returns: the task was stopped, and another one may be running in its place."""
        with self._storing:
            self._abandoned = True

    def __call__(self, frame: DataFrame, progress: Progress, routing: Routing) -> None:
        """Deliver one batch.

        frame: columns of `headrace.spark.kafka.producer_columns`. Raises ConnectError, or RetriableError if trying the batch
        again may help.
        """
        if "failure" in frame.columns:
            self._dead_letters()
        found = self._new_topics(frame, progress, routing.destination)
        for topic in sorted(found - self._known.keys()):
            self._ports.ensure_topics([topic])
            self._known[topic] = self._ports.look_up(topic)
        gate = Gate(frame, self._tolerance) if "failure" in frame.columns else None
        self._write(self._place(gate.frame if gate else frame, routing), progress)
        failed = gate.failed() if gate else []
        if failed and not self._tolerance.all:
            self._store(progress.before([record.origin for record in failed]), progress)
            raise failed[0].error()
        self._store(progress.offsets, progress)
        self.batches += 1
        for topic in sorted(found):
            if not self._ports.is_active(topic):
                self._ports.record_active(topic)

    def _store(self, offsets: Offsets, progress: Progress) -> None:
        with self._storing:
            if self._abandoned:
                raise RetriableError(f"The task was stopped before the offsets of {progress.summary} were stored.")
            self._ports.store_offsets(offsets)

    def _new_topics(self, frame: DataFrame, progress: Progress, destination: Callable[[str], str | None] | None) -> set[str]:
        """The topics that have records in the batch, without those known to exist and to be active.

        As long as the destination follows from the source topic, a batch whose topics are all known is not looked at: the pass
        over it is needed for a topic's first batch only (it keeps offsets without records, as compaction and transactions
        leave them, from creating a topic).
        """
        good = "failure IS NULL" if "failure" in frame.columns else "true"
        if destination is None or progress.topics is None:
            return self._distinct(kept(frame, good))
        candidates = {name for t in progress.topics if (name := destination(t)) is not None}
        unsure = sorted(t for t in candidates if t not in self._known or not self._ports.is_active(t))
        if len(unsure) <= _FEW:  # the first record of each ends its look
            return {t for t in unsure if kept(frame, f"{good} AND topic = {lit(t)}").select("topic").head(1)}
        return self._distinct(kept(frame, f"{good} AND topic IN ({', '.join(map(lit, unsure))})"))

    def _dead_letters(self) -> None:
        letters = self._tolerance.dead_letters
        if letters is not None and letters.topic not in self._known:
            self._ports.ensure_dead_letters(letters.topic, letters.replication_factor)
            self._known[letters.topic] = self._ports.look_up(letters.topic)

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
            write(large_records.guarded(frame, self._limits()), self._producer | self._batch_size())
        except Exception as e:
            error = self._too_large(frame, e) or failure.as_error(e, _not_written(e, progress))
            raise error from error.__cause__

    def _limits(self) -> dict[str, int]:
        """`max.message.bytes` by topic; empty where it says nothing, as one of them is not known, or records get smaller."""
        limits = {topic: known.max_message_bytes for topic, known in self._known.items() if known.max_message_bytes is not None}
        return limits if len(limits) == len(self._known) and not self._compresses else {}

    def _batch_size(self) -> dict[str, str]:
        """No more than every topic takes: the producer splits batches that are too large into batches of this size, without an
        end if those are too large as well (KAFKA-8350).
        """
        limits = [known.max_message_bytes or KAFKA_BATCH_BYTES for known in self._known.values()]
        return {"batch.size": str(min([self._batch_bytes, *limits]))}

    def _too_large(self, frame: DataFrame, error: Exception) -> ConnectError | None:
        """What to raise if a record was too large, None if none was."""
        record = large_records.found(error)
        if record is None:
            cause = failure.root(error)
            refused = cause.java_class.endswith("RecordTooLargeException")
            return large_records.too_large(large_records.largest(frame), cause.message) if refused else None
        before, now = self._known[record.topic].max_message_bytes or 0, self._ports.look_up(record.topic)
        self._known[record.topic] = now
        if (now.max_message_bytes or 0) > before:
            return RetriableError(f"max.message.bytes of topic '{record.topic}' was raised to {now.max_message_bytes}.")
        return large_records.too_large(record)


def _not_written(error: Exception, progress: Progress) -> str:
    """What to say of records that could not be written: Kafka Connect's words for what the producer or the broker refuses."""
    if failure.root(error).java_class.startswith("org.apache.kafka.common."):
        return f"Unrecoverable exception from producer send callback for records of {progress.summary}"
    return f"Records of {progress.summary} could not be written"
