"""Delivers one batch of a sink: write failed records as dead letters → put the others → commit the offsets.

In this order for every sink: an offset is committed only after its records are written, or are dead letters (at least once).
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import structlog

from headrace.connectors.sink import SinkBatch, SinkTask
from headrace.errors import ConnectError, HeadraceError, RetriableError
from headrace.kafka.groups import Partition
from headrace.kafka.positions import halved
from headrace.retry import Backoff
from headrace.runtime.chain import TooManySchemasError
from headrace.runtime.failed_records import failed_at, log_failed, only_failures
from headrace.runtime.metrics import TaskRecorder
from headrace.runtime.metrics.events import Committed, Retried
from headrace.runtime.sink.chain import SinkChain
from headrace.runtime.sink.plan import SinkPlan
from headrace.runtime.stream_mode import StreamMode
from headrace.runtime.tolerance import FailedRecord
from headrace.spark import failure
from headrace.spark.destination_topic import fitting
from headrace.spark.kafka import ORIGIN, write
from headrace.values.scope import filter_here
from headrace.values.sql import lit, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class SinkPorts:
    """Functions by which a sink's delivery reaches Kafka and the stores."""

    commit_offsets: Callable[[str, Mapping[Partition, int]], None]
    """Takes a group and the next offsets to read; returns when they are committed (raises KafkaFailure)."""
    ensure_dead_letters: Callable[[str, int], None]
    """Returns when the dead letter topic exists; creates it with this replication factor if it is missing."""
    message_limits: Callable[[Sequence[str]], Mapping[str, int] | None]
    """`headrace.spark.destination_topic.max_message_bytes` of dead letter topics."""
    is_active: Callable[[str], bool]
    """Whether this topic is an active one of the connector already."""
    record_active: Callable[[str], None]
    """Adds this topic to them."""
    are_available: Callable[[Mapping[Partition, tuple[int, int]]], bool]
    """Whether these offset ranges are still in the log."""
    recorder: TaskRecorder
    """Records the metrics."""
    streams: Callable[[StreamMode], None]
    """Takes the stream mode."""


@dataclass(frozen=True)
class SinkBatchRange:
    """The offset ranges of a batch: see `SinkBatch`."""

    offsets: Mapping[Partition, tuple[int, int]]
    topics: frozenset[str] | None
    partition_counts: Mapping[str, int]
    commit: Mapping[Partition, int]
    """The offsets to commit once it is written."""
    starts: Mapping[Partition, int]
    """The position of every partition of the task before this batch, also of those without a record in it."""
    topic_ids: Mapping[str, str]
    """By topic."""

    @property
    def id(self) -> int:
        """`SinkBatch.id`: of the first offsets alone, as the last ones may be others when the batch comes again.

        Of all partitions, as a batch that comes again may have records of more of them. With the topics' ids, as a topic that is
        recreated begins at the same offsets.
        """
        first = sorted((topic, self.topic_ids.get(topic, ""), p, start) for (topic, p), start in self.starts.items())
        return int.from_bytes(hashlib.sha256(json.dumps(first).encode()).digest()[:8]) >> 1

    def halves(self) -> list[SinkBatchRange]:
        """Two ranges that are delivered one after the other instead of this one; only this one, if it has one offset."""
        ranges = halved(self.offsets)
        if len(ranges) == 1:
            return [self]
        lower, upper = ranges
        reached = {partition: end for partition, (_, end) in lower.items()}
        return [replace(self, offsets=lower, commit=reached), replace(self, offsets=upper, starts={**self.starts, **reached})]

    def batch(self, frame: DataFrame) -> SinkBatch:
        """The batch of these records."""
        return SinkBatch(frame, self.id, self.offsets, frame.sparkSession, self.topics, self.partition_counts)


class SinkDelivery:
    """Delivers the batches of one sink task; `batches` counts the committed ones."""

    def __init__(self, plan: SinkPlan, task: SinkTask, ports: SinkPorts) -> None:
        self._plan, self._task, self._ports = plan, task, ports
        self._stopping = task.context.stopping
        self._abandoned = False
        self._committing = threading.Lock()
        self.batches = 0

    def abandon(self) -> None:
        """Commit no more offsets once this returns: the task was stopped, and another one may be running in its place."""
        with self._committing:
            self._abandoned = True

    def __call__(self, incoming: DataFrame, chain: SinkChain, covered: SinkBatchRange) -> None:
        """Deliver one batch, of the columns of `SinkChain.incoming`. Raises errors that fail the task, or retriable ones.

        A batch of too many schemas for one plan is delivered as several.
        """
        ranges = [covered]
        while ranges and not (self._stopping.is_set() and ranges[0] is not covered):
            part = ranges.pop(0)
            frame = incoming if part is covered else chain.within(incoming, part.offsets)
            chain.counts.begin()
            try:
                if chain.learns:
                    chain.learn(frame)
            except TooManySchemasError:
                halves = part.halves()
                if len(halves) == 1:
                    raise
                ranges[:0] = halves
            else:
                self._deliver(frame, chain, part, None if part is covered else frame.count())

    def _deliver(self, incoming: DataFrame, chain: SinkChain, covered: SinkBatchRange, read: int | None) -> None:
        """Deliver a batch whose schemas are known. read: the number of its records, None: those that the counters count."""
        transformed, failures, unnamed = chain.transformed(incoming), 0, 0
        if chain.fails and self._plan.tolerance.all:
            failures, unnamed = self._write_failed_as_letters(chain.letters(transformed), covered)
        batch = covered.batch(chain.counts.writing(chain.records(transformed)))
        try:
            self._retry(lambda: self._task.put(batch), covered)
        except Exception as e:
            failures += failed_at(e) is not None
            self._record_active_of_failed(e, incoming, covered)
            ended = self._error_to_raise(e, chain.letters(transformed) if chain.fails else None)
            raise ended from ended.__cause__
        finally:
            counted = chain.counts.batch(failures, self._plan.tolerance, letters_written=False, unnamed=unnamed)
            self._ports.recorder.record(counted if read is None else replace(counted, read=read))
        self._record_active(incoming, covered)
        self._retry(lambda: self._commit(covered), covered)  # retries while the coordinator is unavailable, without limit
        self.batches += 1

    def _commit(self, covered: SinkBatchRange) -> None:
        """Commit the offsets of a batch to the group."""
        begun, ok = time.monotonic(), False
        try:
            with self._committing:
                if self._abandoned:
                    raise RetriableError("The task was stopped before the offsets of its last batch were committed.")
                self._ports.commit_offsets(self._plan.group, covered.commit)
            ok = True
        finally:
            self._ports.recorder.record(Committed(ok, (time.monotonic() - begun) * 1000))

    def _retry(self, step: Callable[[], None], covered: SinkBatchRange) -> None:
        """Retry a step until it succeeds, while the task runs and the batch is still in the log."""
        backoff = Backoff()
        while True:
            try:
                return step()
            except RetriableError as e:
                if failed_at(e) or not self._ports.are_available(covered.offsets):
                    raise
                self._ports.recorder.record(Retried())
                pause_s = backoff.failed()
                log.warning("sink.retry", cause=str(e), pause_s=pause_s)
                if self._stopping.wait(pause_s):
                    raise

    def _error_to_raise(self, error: Exception, letters: DataFrame | None) -> HeadraceError | Exception:
        """The error to raise after an error of the sink: a failed record's, a retriable one, or one that fails the task."""
        record = failed_at(error)
        if record is not None:
            if letters is not None:
                self._report_last_record(record, letters)
            return record.error()
        if failure.is_retriable(error):
            return error  # the task is retried
        ended = ConnectError("Exiting WorkerSinkTask due to unrecoverable exception.")
        ended.__cause__ = failure.as_error(error, "The sink could not write")
        return ended

    def _write_failed_as_letters(self, letters: DataFrame, covered: SinkBatchRange) -> tuple[int, int]:
        """Write the failed records of a batch to the dead letter topic, and log them, as configured.

        Returns their number, and how many are not logged by themselves.
        """
        failed = only_failures(letters, self._plan.tolerance)
        try:
            self._write_letters(failed.frame)
        except HeadraceError:
            offsets = [
                f"{topic}-{partition}: {first} to {end - 1}" for (topic, partition), (first, end) in covered.offsets.items()
            ]
            log.error("sink.letters.refused", offsets=offsets)
            raise
        failed.logged()
        return failed.count, failed.unnamed

    def _report_last_record(self, record: FailedRecord, letters: DataFrame) -> None:
        """Log the record that fails the task, and write it as a dead letter, as Kafka does."""
        log_failed([record], self._plan.tolerance)
        if self._plan.tolerance.dead_letters is not None:
            origin = [f"{quoted(ORIGIN + part)} = {lit(value)}" for part, value in record.origin.items()]
            try:
                self._write_letters(filter_here(letters, " AND ".join(origin)).drop("failure"))
            except RetriableError:
                raise
            except HeadraceError as error:
                log.error(str(error))  # the task fails by the error of the record

    def _write_letters(self, letters: DataFrame) -> None:
        """Write these dead letters, in one job of Spark's.

        Raises ConnectError if a letter is refused, other than Kafka: which of the others are written is not known, and they would
        be lost with the offsets of the batch. Raises RetriableError.
        """
        dead = self._plan.tolerance.dead_letters
        if dead is None:
            letters.write.format("noop").mode("overwrite").save()
            return
        producer = self._letter_producer
        try:
            write(letters, producer)
        except Exception as e:
            error = failure.as_error(e, f"Could not produce message to dead letter queue. topic={dead.topic}")
            raise error from error.__cause__

    @cached_property
    def _letter_producer(self) -> dict[str, str]:
        """Settings with which dead letters fit into their topic, whose limit is asked for once: each batch writes letters."""
        dead = self._plan.tolerance.dead_letters
        assert dead is not None, "letters are written to a topic"
        return fitting(self._plan.letter_producer, self._ports.message_limits([dead.topic]))

    def _record_active_of_failed(self, error: Exception, incoming: DataFrame, covered: SinkBatchRange) -> None:
        """Record the topics of a batch that the sink did not take; of a failed record, once the converters have read it."""
        record = failed_at(error)
        if record is None and not failure.is_retriable(error):
            with suppress(Exception):  # if Spark cannot tell any more, the error of the sink says why
                self._record_active(incoming, covered)
        elif record is not None and not record.step.startswith("input."):
            topic = record.origin.get("topic")
            if topic and not self._ports.is_active(topic):
                self._ports.record_active(topic)

    def _record_active(self, incoming: DataFrame, covered: SinkBatchRange) -> None:
        """Record topics as active once a record was consumed (KIP-558); offsets alone may be transaction markers."""
        for topic in sorted({topic for topic, _ in covered.offsets}):
            if not self._ports.is_active(topic) and filter_here(incoming, f"in_topic = {lit(topic)}").select("in_topic").head(1):
                self._ports.record_active(topic)
