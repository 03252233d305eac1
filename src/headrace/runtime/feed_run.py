"""One run of a feed: from explicit offsets until it is stopped or fails.

The lane reads, transforms and writes (`headrace.spark.plane`); this side serves its requests in the order of all deliveries: a
topic exists with its rule's settings before its first record (KIP-158), an offset is stored only for acknowledged records, and a
topic is active once a record is in it (KIP-558).
"""

from __future__ import annotations

import operator
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import structlog

from headrace.connectors.feed import FeedSource
from headrace.errors import HeadraceError
from headrace.kafka.groups import Partition
from headrace.retry import common_moment
from headrace.runtime.delivery import Routing
from headrace.runtime.failed_records import log_failed
from headrace.runtime.feed_dependencies import FeedDependencies
from headrace.runtime.feed_errors import feed_error
from headrace.runtime.feed_plans import FeedPlans
from headrace.runtime.feed_schemas import FeedSchemas
from headrace.runtime.feed_settings import batch_limit, commit_interval_ms, has_own_code, lane_consumer, lane_producer
from headrace.runtime.feed_targets import FeedTargets, SmallerBatchesError
from headrace.runtime.metrics.events import Batch, InFlight, Transactional
from headrace.runtime.tolerance import FailedRecord
from headrace.spark import feeds, plane
from headrace.spark.feeds import Ages, Feed, FeedPartition, PartitionUpdate, Update
from headrace.spark.plane import DataPlane, Handle

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

_STORE_S, _MAX_STORE_S, _FEEDS_PER_S, _PARTITIONS_PER_S, _STORE_STEPS = 0.25, 10.0, 16, 1000, 8
"""The interval of storing offsets is short; it grows with the number of feeds and partitions, as each store is a request."""
_DRAIN_S, _CHECK_S, _FEEDS_PER_CHECK_S = 15.0, 15.0, 5
_GIVE_UP_S = 2.0
"""How long lanes may take to give up what is in flight: they wait for other feeds that share the producer."""


class FeedRun:
    """Runs the feed of a task in a lane. `batches` counts how often offsets were stored."""

    def __init__(
        self,
        needs: FeedDependencies,
        source: FeedSource,
        routing: Routing,
        plans: FeedPlans,
        batch_bytes: int | None = None,
    ) -> None:
        """batch_bytes: of the run before."""
        self._needs, self._source, self._plans = needs, source, plans
        self._targets = FeedTargets(needs, routing.partition_counts, batch_bytes)
        self._schemas = FeedSchemas(plans, self._wake)
        self._acknowledged: dict[Partition, int] = dict(source.positions)
        self._stored: dict[Partition, int] = dict(source.positions)
        self._counts = feeds.FeedCounts()
        self._partition_bytes: dict[Partition, int] = {}
        self._handle: Handle | None = None
        self._deadline: float | None = None
        self._end_by = float("inf")
        self._stored_at = self._updated_at = self._checked_at = time.monotonic()
        self._outdated, self._ended = False, True
        self.batches = 0

    @property
    def batch_bytes(self) -> int | None:
        """The largest batch that all topics accept, and that a lane's memory has room for; None before the first run."""
        return self._targets.batch_bytes

    def run(self, spark: SparkSession, plan: Any) -> None:
        """Run until `stop`, or until the task has to be opened again (`FeedOwner.needs_reopening`).

        Raises the HeadraceError that ended the feed. plan: `FeedPlans.first`.
        """
        data_plane = plane.data_plane(spark)
        lanes = 1 if self._needs.exactly is not None else data_plane.tasks
        self._targets.limit_batches(batch_limit(self._needs.producer, len(self._acknowledged), lanes))
        while True:
            feed = self._feed()
            self._handle, self._ended = data_plane.add(feed, plan), False
            handle = self._handle
            try:
                return self._follow(handle, data_plane)
            except SmallerBatchesError:
                self._end(handle, _DRAIN_S)
                if self._needs.exactly is not None:  # offsets are read again behind a fence of the transactional id
                    return self._store()
                self._schemas.wait_until_idle()
                plan = self._plans.latest()
            finally:
                try:
                    self._schemas.give_up()
                    if not self._ended:
                        self._end(handle, _DRAIN_S)
                finally:
                    data_plane.forget(handle)

    def stop(self, timeout_s: float) -> None:
        """Stop reading; records in flight have `timeout_s` to be acknowledged, and their offsets to be stored.

        Returns at once.
        """
        self._end_by = time.monotonic() + timeout_s
        self._deadline = self._end_by - min(_GIVE_UP_S, timeout_s / 2)
        self._wake()

    def cut_off(self) -> None:
        """Store no more offsets, and write no more records, as a successor may run."""
        try:  # first: whoever stores offsets right now may wait for a coordinator, and holds up `abandon` as long
            if self._handle is not None:
                self._handle.give_up()
        finally:
            self._needs.commits.abandon()

    def _wake(self) -> None:
        if self._handle is not None:
            self._handle.wake()

    def _feed(self) -> Feed:
        needs, exactly = self._needs, self._needs.exactly
        task, source = needs.task, self._source
        self._targets.ensure_dead_letters()
        producer = lane_producer(needs.producer, self.batch_bytes)
        consumer = source.consumer if source.files else lane_consumer(source.consumer)
        if needs.has_plugins or has_own_code(consumer, producer):
            producer = {**producer, "headrace.feed": needs.name}  # which Kafka ignores; a client.id may have quotas
        letter_producer = None
        if needs.letter_producer is not None and needs.tolerance.dead_letters is not None:
            letter_producer = lane_producer(needs.letter_producer, None)
        positions = self._acknowledged
        stores: Mapping[Partition, Any] = {}
        if exactly is not None:  # a task may keep what it is asked for
            stores = exactly.templates(task.offsets(dict.fromkeys(positions, 1)), task.offset_field, list(positions))
        self._counts, self._partition_bytes = feeds.FeedCounts(), {}
        task.feed_begins()
        return Feed(
            name=needs.name,
            consumer=consumer,
            producer=producer,
            partitions=[
                FeedPartition(t, p, offset, source.destination(t), stores.get((t, p), ()))
                for (t, p), offset in sorted(positions.items())
            ],
            targets=self._targets.all(),
            tolerates=needs.tolerance.all,
            letters=needs.tolerance.dead_letters is not None and needs.tolerance.all,
            skips_refused=needs.skips_refused,
            files=source.files,
            file=needs.file,
            letter_producer=letter_producer,
            transactions=exactly.fenced_id if exactly else None,
            commit_ms=commit_interval_ms(task.context.interval_ms, producer),
        )

    def _follow(self, handle: Handle, data_plane: DataPlane) -> None:
        removed = False
        while True:
            if (self._outdated or self._needs.stopping.is_set()) and not removed:
                removed = True
                handle.remove()
            update = handle.update(self._wait_s(data_plane, removed))
            if update is not None:
                self._ended = update.ended
                self._apply(handle, update)
                if update.failure is not None:
                    self._fail(handle, update)
                if update.ended:
                    return self._store()
            if removed and self._deadline is not None and time.monotonic() > self._deadline:
                self._end(handle, 0.0)
                return self._store()
            if self._is_due(data_plane):
                self._store()
            if not removed:
                self._update_lanes(handle)
            if time.monotonic() >= self._check_at(data_plane):
                self._checked_at = time.monotonic()
                self._outdated = self._needs.task.needs_reopening()

    def _wait_s(self, data_plane: DataPlane, removed: bool) -> float | None:
        if removed:
            return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        due = self._store_at(data_plane) if self._acknowledged != self._stored else self._check_at(data_plane)
        return max(0.0, min(due, self._schemas.due_at, self._targets.due_at) - time.monotonic())

    def _is_due(self, data_plane: DataPlane) -> bool:
        return self._acknowledged != self._stored and time.monotonic() >= self._store_at(data_plane)

    def _store_at(self, data_plane: DataPlane) -> float:
        pause_s = _STORE_S + data_plane.size() / _FEEDS_PER_S + len(self._acknowledged) / _PARTITIONS_PER_S
        pause_s = min(_MAX_STORE_S, pause_s)
        return common_moment(self._stored_at, pause_s, pause_s / _STORE_STEPS)

    def _check_at(self, data_plane: DataPlane) -> float:
        pause_s = min(_CHECK_S + data_plane.size() / _FEEDS_PER_CHECK_S, self._needs.task.check_interval_s)
        return common_moment(self._checked_at, pause_s, pause_s)

    def _apply(self, handle: Handle, update: Update) -> None:
        """Handle an update, except its failure."""
        self._take(update)
        try:
            for topic in sorted(update.topics):
                self._targets.add(handle, topic, update.at)
        except HeadraceError:
            self._settle(handle)
            raise
        if update.needs:
            self._schemas.need(update.needs)
        self._targets.check(handle, update.counts.waiting_ms)

    def _update_lanes(self, handle: Handle) -> None:
        """Hand over chains with new schemas, and topics that were created. Raises HeadraceError, SmallerBatchesError."""
        try:
            for plan, needs in self._schemas.ready():
                handle.replace(plan, needs)
            self._targets.add_created(handle)
        except HeadraceError:  # what precedes their records is stored
            self._settle(handle)
            raise

    def _take(self, update: Update) -> None:
        """Record what happened until an update: metrics, acknowledged positions, failed records, active topics."""
        self._record_metrics(update)
        for partition in update.partitions:
            self._acknowledged[partition.topic, partition.partition] = partition.next
        if update.partitions:
            self._needs.task.acknowledged(update.partitions)
        if update.failure is not None:
            self._needs.task.feed_failed(update.failure)
        if update.failures:
            failed = [FailedRecord.parse(report) for report in update.failures]
            log_failed(failed, self._needs.tolerance, update.unnamed)
        letters = self._needs.tolerance.dead_letters
        for topic in sorted(set(self._needs.task.active_topics(update)) - ({letters.topic} if letters else set())):
            if not self._needs.ports.is_active(topic):
                self._needs.ports.record_active(topic)

    def _record_metrics(self, update: Update) -> None:
        """Record the difference from the last update in the metrics."""
        now, before, tolerance = time.monotonic(), self._counts, self._needs.tolerance
        counts = self._counts = update.counts
        failed = counts.failed - before.failed
        latencies = [partition.latency for partition in update.partitions if partition.latency.records]
        took_ms = batch_ms(latencies, (now - self._updated_at) * 1000)
        self._updated_at = now
        if counts.read > before.read or failed:  # a record may be refused some time after it was read
            batch = Batch(
                read=counts.read - before.read,
                written=counts.written - before.written,
                took_ms=took_ms,
                failed=failed,
                skipped=failed,
                logged=len(update.failures) if tolerance.log else 0,
                letters=counts.letters - before.letters,
            )
            self._needs.recorder.record(batch)
        elif counts.written > before.written or counts.letters > before.letters:
            later = Batch(0, counts.written - before.written, took_ms, letters=counts.letters - before.letters)
            self._needs.recorder.record(later)
        latency = tuple(map(operator.sub, counts.latency, before.latency))
        paused_ms = counts.paused_ms - before.paused_ms
        read_bytes = bytes_read(update.partitions, self._partition_bytes)
        self._needs.recorder.record(InFlight(counts.in_flight, counts.paused, paused_ms, latency, read_bytes))
        if update.transactions:
            self._needs.recorder.record(Transactional(tuple(update.transactions)))

    def _store(self) -> None:
        """Store the offsets of acknowledged records. Raises RetriableError."""
        ends = {p: end for p, end in self._acknowledged.items() if end != self._stored.get(p)}
        if not ends:
            return
        task, exactly = self._needs.task, self._needs.exactly
        offsets = task.offsets(ends)
        task.check({topic for topic, _ in ends})
        if exactly is None:
            self._needs.commits.store(offsets, summary(ends))
        else:
            exactly.copy_offsets(offsets)  # the transactions have stored them
        self._stored |= ends
        self._stored_at = time.monotonic()
        self.batches += 1
        task.offsets_stored(ends)

    def _settle(self, handle: Handle) -> None:
        """Wait for the records in flight, unless the feed has ended, and store the offsets of those acknowledged."""
        if not self._ended:
            self._end(handle, _DRAIN_S)
        self._store()

    def _end(self, handle: Handle, timeout_s: float) -> None:
        """Remove the feed; what is not acknowledged after `timeout_s`, or at the deadline of `stop`, is given up."""
        handle.remove()
        until = time.monotonic() + timeout_s
        while not self._ended and (left := min(until, self._deadline or until) - time.monotonic()) > 0:
            self._drain(handle, left)
        if not self._ended:
            log.info("task.stop.unfinished", in_flight_bytes=self._counts.in_flight)
            handle.give_up()
        until = min(time.monotonic() + _GIVE_UP_S, self._end_by)
        while not self._ended and (left := until - time.monotonic()) > 0:
            self._drain(handle, left)
        self._ended = True  # nothing more is expected of it

    def _drain(self, handle: Handle, timeout_s: float) -> None:
        """Take one update of a feed that is removed, if there is one in time."""
        update = handle.update(timeout_s)
        if update is not None:
            self._ended = update.ended
            self._take(update)

    def _fail(self, handle: Handle, update: Update) -> None:
        """Store the offsets before the failure, and raise its error."""
        feed_failure = update.failure
        assert feed_failure is not None
        self._settle(handle)
        if feed_failure.kind == "record" and feed_failure.report is not None:
            record = FailedRecord.parse(feed_failure.report)
            log_failed([record], self._needs.tolerance)
            self._needs.recorder.record(Batch(1, 0, 0.0, failed=1, logged=int(self._needs.tolerance.log)))
            raise record.error()
        needs = self._needs
        exactly = needs.name if needs.exactly else None
        raise feed_error(feed_failure, self._targets.descriptions, needs.ports.look_up, exactly)


def batch_ms(latencies: Sequence[Ages], since_last_ms: float) -> float:
    """How long the records of an update took until they were acknowledged, in ms.

    latencies: of the acknowledged records, since their timestamps; since_last_ms: since the last update. Records that were old
    when they were read took no longer than that; fresh ones that came after a pause took what their timestamps say.
    """
    records = sum(latency.records for latency in latencies)
    mean_ms = sum(latency.sum for latency in latencies) / records if records else since_last_ms
    return max(0.0, min(mean_ms, since_last_ms))


def bytes_read(partitions: Iterable[PartitionUpdate], totals: dict[Partition, int]) -> int:
    """The bytes that were read since the last update. totals: of each partition until then, brought up to date."""
    read = 0
    for update in partitions:
        partition = update.topic, update.partition
        read += update.bytes - totals.get(partition, 0)
        totals[partition] = update.bytes
    return read


def summary(ends: Mapping[Partition, int]) -> str:
    """The positions of partitions in words, at most five of them."""
    words = [f"{topic}-{partition} to offset {end - 1}" for (topic, partition), end in sorted(ends.items())]
    return ", ".join(words[:5]) + (f" and {len(words) - 5} more partitions" if len(words) > 5 else "")
