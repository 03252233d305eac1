"""Delivers one batch: ensure topics → write records → store offsets → record active topics.

In this order, whatever the connector: a topic has its rule's settings before its first record (KIP-158), an offset is stored
only for acknowledged records (at least once) or in one transaction with them (exactly once, KIP-618), and a topic is active only
once a record is in it (KIP-558).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.connectors.base import Offsets, Progress
from headrace.errors import RetriableError
from headrace.runtime.exactly_once import ExactlyOnce
from headrace.runtime.failed_records import failed_at, log_failed, stop_at_failure, take_out_failures
from headrace.runtime.metrics import TaskRecorder
from headrace.runtime.metrics.events import Committed
from headrace.runtime.record_counts import RecordCounts
from headrace.runtime.tolerance import NO_TOLERANCE, Tolerance, report
from headrace.runtime.topic_watch import TopicWatch
from headrace.spark.destination_topic import DestinationTopic
from headrace.spark.kafka import origin_columns
from headrace.spark.topic_writer import TopicWriter, topics_in
from headrace.values.scope import filter_here
from headrace.values.sql import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class FeedPorts:
    """Functions by which a feed reaches Kafka and the stores."""

    missing_topics: Callable[[Iterable[str]], set[str]]
    """Creates these topics if allowed (raises ConnectError); returns those that somebody else has to create."""
    renew_topics: Callable[[Iterable[str]], set[str]]
    """Recreates deleted topics, if allowed, and returns their names."""
    ensure_dead_letters: Callable[[str, int], None]
    """Ensures a dead letter topic with its replication factor."""
    is_active: Callable[[str], bool]
    """Whether this topic is an active one of the connector already."""
    record_active: Callable[[str], None]
    """Adds this topic to them."""
    look_up: Callable[[str], DestinationTopic]
    """Describes an existing topic."""


@dataclass(frozen=True)
class Ports(FeedPorts):
    """Functions by which delivery reaches Kafka and the stores."""

    ensure_topics: Callable[[Iterable[str]], None]
    """Returns when these topics exist; creates them if allowed (raises ConnectError)."""
    store_offsets: Callable[[Offsets], None]
    """Returns when Kafka has acknowledged the offsets."""


@dataclass(frozen=True)
class Routing:
    """The destination topics of a stream."""

    destination: Callable[[str], str | None] | None = None
    """Destination topic of a source topic (None: its records are dropped); None if the records decide."""
    partition_counts: Mapping[str, int] | None = None
    """See `headrace.connectors.base.Stream`."""


class OffsetCommits:
    """Stores the offsets of one task until `abandon`."""

    def __init__(self, store_offsets: Callable[[Offsets], None], recorder: TaskRecorder) -> None:
        self._store_offsets, self._recorder = store_offsets, recorder
        self._abandoned = threading.Event()
        self._storing = threading.Lock()

    def abandon(self) -> None:
        """Store no more offsets once this returns: the task was stopped, and another one may be running in its place."""
        self._abandoned.set()
        with self._storing:  # returns after a store in flight
            pass

    def check(self, summary: str) -> None:
        """Raise RetriableError after `abandon`: what a task writes then, its successor writes again. summary: as of `store`."""
        if self._abandoned.is_set():
            raise RetriableError(f"The task was stopped before {summary} was written.")

    def store(self, offsets: Offsets, summary: str) -> None:
        """Return when Kafka has acknowledged the offsets. summary: what they cover, in words.

        Raises RetriableError, also after `abandon`.
        """
        begun, ok = time.monotonic(), False
        with self._storing:
            if self._abandoned.is_set():
                raise RetriableError(f"The task was stopped before the offsets of {summary} were stored.")
            try:
                if offsets:
                    self._store_offsets(offsets)
                ok = True
            finally:
                self._recorder.record(Committed(ok, (time.monotonic() - begun) * 1000))


class Delivery:
    """Delivers the batches of one task; `batches` counts the committed ones."""

    def __init__(
        self,
        ports: Ports,
        producer: Mapping[str, str],
        recorder: TaskRecorder,
        tolerance: Tolerance = NO_TOLERANCE,
        exactly: ExactlyOnce | None = None,
    ) -> None:
        """producer: Java producer settings; tolerance: for failed records; exactly: the task's transactions (None: at least
        once). Raises ConfigError for an invalid batch.size.
        """
        self._ports, self._recorder, self._tolerance, self._exactly = ports, recorder, tolerance, exactly
        self._writer = TopicWriter(producer, ports.look_up, exactly.task if exactly else None)
        self._watch = TopicWatch(ports.renew_topics)
        self.commits = OffsetCommits(ports.store_offsets, recorder)
        self.batches = 0

    def __call__(self, frame: DataFrame, progress: Progress, routing: Routing, counts: RecordCounts) -> None:
        """Deliver one batch.

        frame: columns of `headrace.spark.kafka.producer_columns`; counts: counters of its records. Raises ConnectError, or
        RetriableError if a retry may succeed.
        """
        counts.begin()
        while self._watch.renewed:
            self._writer.descriptions.pop(
                self._watch.renewed.pop(), None
            )  # recreated by its creation rule, whatever created it before
        if "failure" in frame.columns:
            self._dead_letters()
        topics = self._new_topics(frame, progress, routing.destination)
        if self._exactly is not None:
            self._exactly.check(topics)
        for topic in sorted(topics - self._writer.descriptions.keys()):
            self._ports.ensure_topics([topic])
            self._writer.learn(topic)
        failures = None
        if "failure" in frame.columns and self._exactly is not None and not self._tolerance.all:
            # Records before the failed one may not be committed alone: the offsets are those of the whole batch.
            origins = [quoted(column) for column in origin_columns(frame)]
            frame = stop_at_failure(frame, report(origins, self._tolerance.messages)).drop("failure")
        elif "failure" in frame.columns:
            failures = take_out_failures(frame, self._tolerance)
            frame = failures.frame
        placed = self._writer.place(frame, routing.partition_counts)
        try:
            with self._watch.over(self._written_to(topics, progress, routing.destination)):
                left = self._write(counts.writing(placed), progress)
        finally:
            failed, unnamed = (failures.count, failures.unnamed) if failures else (0, 0)
            self._recorder.record(counts.batch(failed, self._tolerance, letters_written=True, unnamed=unnamed))
        records = failures.logged() if failures else []
        if records and not self._tolerance.all:
            self.commits.store(progress.before([record.origin for record in records]), progress.summary)
            raise records[0].error()
        self.commits.store(left, progress.summary)
        if self._exactly is not None:
            self._exactly.copy_offsets(progress.offsets)
        self.batches += 1
        for topic in sorted(topics):
            if not self._ports.is_active(topic):
                self._ports.record_active(topic)

    def _write(self, frame: DataFrame, progress: Progress) -> Offsets:
        """Write the records; returns the offsets that the write has not committed."""
        self.commits.check(progress.summary)
        exactly = self._exactly
        if exactly is None:
            self._writer.write(frame, progress.summary)
            progress.check()
            return progress.offsets
        progress.check()  # the offsets are committed with the records
        left: list[Offsets] = []
        try:
            self._writer.write(frame, progress.summary, lambda rows, to: left.append(exactly.write(rows, to, progress)))
        except Exception as e:
            record = failed_at(e)
            if record is None:
                raise
            log_failed([record], self._tolerance)
            error = record.error()
            raise error from error.__cause__
        return left[0]

    def _new_topics(self, frame: DataFrame, progress: Progress, destination: Callable[[str], str | None] | None) -> set[str]:
        """The topics with records in the batch, except those known to exist and to be active.

        If the source topic decides the destination, a batch whose topics are all known is not scanned: the scan is needed for a
        topic's first batch only (it keeps offsets without records, as compaction and transactions leave them, from creating a
        topic).
        """
        good = filter_here(frame, "failure IS NULL") if "failure" in frame.columns else frame
        if destination is None or progress.topics is None:
            return topics_in(good)
        candidates = {name for t in progress.topics if (name := destination(t)) is not None}
        return topics_in(good, [t for t in candidates if t not in self._writer.descriptions or not self._ports.is_active(t)])

    def _written_to(self, topics: set[str], progress: Progress, destination: Callable[[str], str | None] | None) -> set[str]:
        """The known topics that the batch may have records for."""
        if destination is None or progress.topics is None:
            return topics
        return {
            name for topic in progress.topics if (name := destination(topic)) in self._writer.descriptions and name is not None
        }

    def _dead_letters(self) -> None:
        letters = self._tolerance.dead_letters
        if letters is not None and letters.topic not in self._writer.descriptions:
            self._ports.ensure_dead_letters(letters.topic, letters.replication_factor)
            self._writer.learn(letters.topic)
