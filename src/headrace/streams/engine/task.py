"""One sub-topology: recovers from its committed offsets and changelogs, and runs its batches one after the other."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from headrace.errors import StreamsError
from headrace.kafka.groups import Partition
from headrace.spark import failure
from headrace.streams.engine import offset_metadata
from headrace.streams.engine.batch_ranges import BatchRanges
from headrace.streams.engine.changelog_refill import ChangelogRefill
from headrace.streams.engine.cluster import FIGURES, Cluster
from headrace.streams.engine.context import StateManager, StreamTimes
from headrace.streams.engine.exception_handlers import ExceptionHandlers
from headrace.streams.engine.planned_program import PlannedProgram
from headrace.streams.engine.registry_formats import with_schema_lookup
from headrace.streams.engine.restore import StoreRestore
from headrace.streams.engine.runtime import RecordFailedError, StreamBatch
from headrace.streams.engine.source import Ranges, log_skipped
from headrace.streams.engine.task_commits import TaskCommits
from headrace.streams.engine.task_positions import TaskPositions
from headrace.streams.nodes import SourceNode

_COMMIT_AFTER_S = 0.1  # without a record after a batch, until its end is committed
_OFFSETS_INTERVAL_S = 1.0  # between two requests for the end offsets of idle topics

log = structlog.get_logger(__name__)


@dataclass
class StreamTask:
    """A sub-topology with the topics of its sources."""

    subtopology: int
    plan: PlannedProgram
    state: StateManager
    cluster: Cluster
    topics: Mapping[str, list[str]]
    """By source, names on the cluster."""
    ranges: BatchRanges
    """Chooses the offsets of a batch."""
    positions: TaskPositions
    commits: TaskCommits
    refill: ChangelogRefill
    source_changelogs: Mapping[str, str]
    """By store, the source topic that is its changelog."""
    handlers: ExceptionHandlers
    metrics: dict[str, float] = field(default_factory=lambda: dict.fromkeys(FIGURES, 0.0))
    _ask_offsets_at: float = 0.0  # when to request end offsets from brokers if no records have come

    def recover(self) -> None:
        """Read the committed offsets, restore the stores, and run an interrupted batch again.

        Raises StreamsError; RetriableError for a transient failure: the next call starts from the beginning.
        """
        committed = self.commits.read()
        metadata = offset_metadata.decoded(committed)
        self.positions.begin(committed, metadata)
        self.commits.continue_after(metadata)
        self.state.set_stream_times(offset_metadata.stream_times(metadata, self.plan.context))
        offset_metadata.require_filled(metadata, self.state)
        offset_metadata.require_same_stores(metadata, self.state.signatures())
        offset_metadata.require_known_rows(metadata, self.positions.partitions, self.state.signatures(), self._has_rows)
        self._restore_stores(is_committed=bool(committed))
        self.commits.end_recovery()  # not before: a recovery that has failed half-way has to begin again
        if self.positions.interrupted:
            log.info("An interrupted batch is run again", subtopology=self.subtopology, batch=self.commits.number)
            self._batch(self.positions.take_interrupted())

    def step(self) -> bool:
        """Run one batch of the available records; whether there were any.

        Raises RetriableError for a transient failure: the next call runs the same batch again. After any other error the stores
        may hold half of a batch: the caller has to `recover` first.
        """
        if self.commits.begin_transactions_again():
            self.recover()
        ends = self.cluster.ends(self.state.runtime, self._starts())
        ranges = self._next_ranges(ends or {})
        now = time.monotonic()
        if ends is None or (not ranges and now > self._ask_offsets_at):
            ends = self.positions.check()
            ranges, self._ask_offsets_at = self._next_ranges(ends), now + _OFFSETS_INTERVAL_S
            if not ranges:
                self.commits.commit_done()
        if not ranges and self.plan.is_punctuation_due():
            ranges = {p: (offset, offset) for p, offset in self.positions.offsets.items()}
        if not ranges:
            return False
        begin = time.monotonic()
        self._begin_batch(ranges)
        self._batch(ranges)
        self._ask_offsets_at = time.monotonic() + _COMMIT_AFTER_S
        self.metrics["batches"] += 1
        self.metrics["records"] += sum(end - start for start, end in ranges.values())
        self.metrics |= {"batch-ms": (time.monotonic() - begin) * 1000, **self.state.runtime.metrics()}
        self.metrics["batch-ms-total"] += self.metrics["batch-ms"]
        offsets = self.positions.offsets
        self.metrics["lag"] = sum(end - offsets[p] for p, end in (ends or {}).items() if p in offsets)
        return True

    def store_sizes(self) -> dict[str, int]:
        """About how many rows each store has."""
        return {name: self.state.runtime.size(name) for name in self.state.tables}

    def use_recreated_topics(self, topics: Collection[str], begin: Mapping[Partition, int]) -> None:
        """Continue with recreated, empty internal topics: read them from `begin` on; their stores wait for `refill_changelogs`.
        It must not fail half-way: a second call would read records again that were read in between.
        """
        self.positions.use_recreated_topics(topics, begin)
        stores = self.refill.add(topics, begins_anew=bool(begin))
        self.commits.forget_rows({*stores, *topics})

    def refill_changelogs(self) -> None:
        """Write stores to their recreated, empty changelogs. Until that is committed a restore from them is refused."""
        if self.refill.is_due:
            to = self.positions.unfinished_ends()
            self.refill.write(lambda: self.commits.commit(to))

    def _starts(self) -> dict[str, dict[Partition, int]]:
        """By input, the offsets at which the next batch begins."""
        offsets = self.positions.offsets
        return {source: {p: offset for p, offset in offsets.items() if p[0] in t} for source, t in self.topics.items()}

    def _begin_batch(self, ranges: Ranges) -> None:
        again = bool(self.positions.unfinished)
        self.commits.begin_batch(ranges, again=again)
        if again and self.commits.transactions is None:
            stores = StoreRestore(self.state, self.cluster, self.positions.partitions)
            stores.take_back({p: self.commits.number for _, p in ranges}, self.state.runtime.written_offsets())

    def _next_ranges(self, ends: Mapping[Partition, int]) -> Ranges:
        return self.positions.unfinished or self.ranges.of(self.positions.offsets, ends)

    def _has_rows(self, store: str) -> bool:
        """Whether the changelog of a store has rows of an interrupted batch's partitions."""
        partitions = [(self.state.changelog(store) or store, p) for p in sorted({p for _, p in self.positions.interrupted})]
        return any(self.cluster.offsets(partitions, "latest").values())

    def _restore_stores(self, *, is_committed: bool) -> None:
        """is_committed: whether there are committed offsets, without which a changelog should hold nothing."""
        stores = StoreRestore(self.state, self.cluster, self.positions.partitions)
        pending = {p: self.commits.number for _, p in self.positions.interrupted}
        stores.from_changelogs(
            pending, self.commits.written, lambda topic, rows: is_committed or self.commits.holds_state(topic, rows)
        )
        self.positions.check(restoring=True)
        reader = self.plan.source_reader
        for store, source in self._kept_sources().items():
            topic = self.source_changelogs[store]
            stores.from_source(store, topic, self.positions.offsets, lambda raw, source=source: reader.flow(source, raw))

    def _kept_sources(self) -> dict[str, SourceNode]:
        """By store of `source_changelogs`, the source that reads its topic."""
        sources = self.plan.program.sources
        return {
            store: next(node for node in sources if topic in self.topics[node.name])
            for store, topic in self.source_changelogs.items()
            if store in self.state.tables
        }

    def _batch(self, ranges: Ranges) -> None:
        try:
            with_schema_lookup(lambda: self._planned_batch(ranges, self.plan.job()), self.plan.prepare)
        except RecordFailedError as failure:
            if not self.handlers.continues(failure):
                raise
            self._split_batch(ranges, failure)

    def _split_batch(self, ranges: Ranges, failure: RecordFailedError) -> None:
        """Run a batch in which a record failed, and which has written nothing, in halves, until that record is alone; skip it."""
        if not any(start < end for start, end in ranges.values()):  # a schedule has failed, and no record
            raise failure
        parts = self.ranges.halves(ranges)
        if not parts and failure.is_production_error and self.state.runtime.update_limits(self.cluster.limits()):
            self._batch(ranges)
        elif not parts:
            self._skip_failed_record(ranges, failure)
        for part in parts:  # each is a batch of its own
            self.commits.begin_batch(part)
            self._batch(part)

    def _skip_failed_record(self, ranges: Ranges, failure: RecordFailedError) -> None:
        """Write a record to the dead letter topic, if there is one, and continue after it. A table whose changelog is the
        record's topic has it, now as after a restore.
        """
        ((topic, partition), (offset, _)) = next(item for item in ranges.items() if item[1][0] < item[1][1])
        log.warning("Skipping record due to an error: %s", failure, topic=topic, partition=partition, offset=offset)
        self.metrics["dropped"] += 1
        kept = self._kept_sources()
        try:
            self._planned_batch(ranges, self.plan.dead_letter_job(failure, kept), shows=False)
        except RecordFailedError as error:
            stores = sorted(store for store in kept if self.source_changelogs[store] == topic)
            if error.is_production_error or not stores:
                raise
            raise StreamsError(
                f"The record at {topic}-{partition} offset {offset} cannot be left out: {', '.join(stores)} has this topic as "
                f"its changelog, and a restore would fail with it, as this does: {error}"
            ) from error

    def _planned_batch(self, ranges: Ranges, job: Any, *, shows: bool = True) -> None:
        """shows: whether functions in this process get rows of it."""
        runtime = self.state.runtime
        inputs = {source: {p: r for p, r in ranges.items() if p[0] in topics} for source, topics in self.topics.items()}
        try:
            batch = StreamBatch(job, self.commits.number, sorted({p for _, p in ranges}), self.commits.transactions is not None)
            self.cluster.run(runtime, batch, inputs)
            if skips := runtime.skipped_count():
                log_skipped(runtime.skipped())
                self.metrics["dropped"] += skips
            stream_times = offset_metadata.stream_times_after(self.state.stream_times, runtime.stream_times())
            self.commits.commit_results(ranges, stream_times)
            self._apply_results(stream_times, shows)
        finally:
            runtime.end()
        self.commits.advance(ranges)

    def _apply_results(self, stream_times: StreamTimes, shows: bool) -> None:
        """Apply the results of a batch to the stores. shows: whether functions in this process get rows of it."""
        try:
            for shown in self.plan.context.local_actions if shows else ():
                for row in shown.frame.toLocalIterator():
                    shown.show(row)
            self.state.apply(stream_times)
        except Exception as error:  # the results are written: only a restore makes the stores consistent
            translated = failure.as_error(error, "The results of a batch could not be taken into the stores")
            raise StreamsError(str(translated)) from error
