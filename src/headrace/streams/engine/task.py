"""One sub-topology: its positions in the topics, its batches, and its recovery after a crash.

At least once: the metadata of the group's committed offsets has the end of a batch (`to`) and its number (`n`) before it begins;
the offsets after it are committed once its last record has been acknowledged. An interrupted batch is thus known, and is run
again over the same offsets and from the same state: what it had written is written again, to the same rows, and counts once.
Exactly once: a batch and the offsets after it are one transaction, so that no batch is run again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from headrace.errors import RetriableError, StreamsError
from headrace.kafka.groups import Partition
from headrace.spark import failure
from headrace.streams.engine import dead_letters, offset_metadata
from headrace.streams.engine.batch_ranges import BatchRanges
from headrace.streams.engine.cluster import FIGURES, BatchTransactions, Cluster, NotCommittedError, first_offsets
from headrace.streams.engine.context import Context, StateManager, StreamTimes
from headrace.streams.engine.exception_handlers import ExceptionHandlers
from headrace.streams.engine.flows import Flow
from headrace.streams.engine.program import Program
from headrace.streams.engine.registry_formats import with_schema_lookup
from headrace.streams.engine.restore import StoreRestore
from headrace.streams.engine.runtime import Output, RecordFailedError, StreamBatch
from headrace.streams.engine.source import RAW, Ranges, SourceReader, log_skipped
from headrace.streams.nodes import SourceNode
from headrace.values.times import now_ms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COMMIT_AFTER_S = 0.1  # without a record after a batch, until its end is committed
_OFFSETS_INTERVAL_S = 1.0  # between two requests for the end offsets of idle topics

log = structlog.get_logger(__name__)


@dataclass
class StreamTask:
    """A sub-topology with the topics of its sources."""

    program: Program
    source_reader: SourceReader
    state: StateManager
    cluster: Cluster
    topics: Mapping[str, list[str]]
    """By source, names on the cluster."""
    partitions: list[Partition]
    ranges: BatchRanges
    """Chooses the offsets of a batch."""
    reset: Mapping[str, str] = field(default_factory=dict)
    source_changelogs: Mapping[str, str] = field(default_factory=dict)
    internal: frozenset[str] = frozenset()
    transactions: BatchTransactions | None = None
    handlers: ExceptionHandlers = field(default_factory=ExceptionHandlers)
    positions: dict[Partition, int] = field(default_factory=dict)
    number: int = 0
    uncommitted: bool = False
    metrics: dict[str, float] = field(default_factory=lambda: dict.fromkeys(FIGURES, 0.0))
    committed_positions: dict[Partition, int] = field(default_factory=dict)
    stores_to_refill: set[str] = field(default_factory=set)
    """Stores whose changelogs are still to be filled again."""
    needs_refill: bool = False
    """Whether `refill_changelogs` has work to do."""
    _context: Context | None = None
    _program_job: Any = None
    _dead_letter_job: Any = None
    _written: set[tuple[str, int]] = field(default_factory=set)  # as `StateManager.stores_written` returns it
    _unfinished: Ranges = field(default_factory=dict)
    _pending: dict[Partition, tuple[int, int]] = field(default_factory=dict)
    _commit_unknown: bool = False  # whether the last transaction may be committed or not
    _ends: Mapping[Partition, int] = field(default_factory=dict)  # at the beginning
    _ask_offsets_at: float = 0.0  # when to request end offsets from brokers if no records have come

    def prepare(self) -> None:
        """Plan the nodes without records: creates the stores, and finds what Spark refuses. Raises StreamsError."""
        self._context, self._program_job = self._planned(), None
        offset_metadata.require_fits(self.program.number, self._context)

    def infer_formats(self) -> bool:
        """Plan the nodes as far as the formats of internal topics are known; whether that determines more formats."""
        count_before, context = len(self.source_reader.topics.internal_formats), Context(self.state)
        self.program.infer_formats(context, self._inputs(context, self.source_reader.is_known), self.source_reader.topics)
        return len(self.source_reader.topics.internal_formats) > count_before

    def recover(self) -> None:
        """Read the committed offsets, restore the stores, and run an interrupted batch again. Raises StreamsError."""
        if self.transactions is not None:
            self.transactions.begin(self.state.runtime)
        committed = self.cluster.committed(self.partitions)
        first = first_offsets(self.cluster, [p for p in self.partitions if p not in committed], self.reset)
        metadata = offset_metadata.decoded(committed)
        self.positions = first | {partition: offset for partition, (offset, _) in committed.items()}
        self.number, self._unfinished = offset_metadata.batch_number(metadata), {}
        self._pending = {p: (self.positions[p], int(fields["to"])) for p, fields in metadata.items() if "to" in fields}
        assert self._context is not None
        self.state.set_stream_times(offset_metadata.stream_times(metadata, self._context))
        offset_metadata.require_filled(metadata, self.state)
        offset_metadata.require_same_stores(metadata, self.state.signatures())
        stores = StoreRestore(self.state, self.cluster, self.partitions)
        pending = {p: self.number for _, p in self._pending}
        self._written = offset_metadata.stores_with_rows(metadata, self.state)
        stores.from_changelogs(pending, self._written, lambda topic, rows: bool(committed) or self._holds_state(topic, rows))
        self._ends = self._check_positions(restoring=True)
        for store, topic in self.source_changelogs.items():
            source = next(node for node in self.program.sources if topic in self.topics[node.name])
            stores.from_source(store, topic, self.positions, lambda raw, source=source: self.source_reader.flow(source, raw, 0))
        self._commit_unknown = False  # not before: a recovery that has failed half-way has to begin again
        if self._pending:
            log.info("An interrupted batch is run again", subtopology=self.program.number, batch=self.number)
            ranges, self._pending = self._pending, {}
            self._batch(ranges)
            self._unfinished = {}  # the last part, if it was split for a record that failed

    def step(self) -> bool:
        """Run one batch of the available records; whether there were any.

        Raises RetriableError for a transient failure: the next call runs the same batch again. After any other error the stores
        may hold half of a batch: the caller has to `recover` first.
        """
        if self.transactions is not None and not (self._commit_unknown or self.state.runtime.can_write()):
            self._begin_transactions_again(self.transactions)
        if self._commit_unknown:
            self.recover()
        ends = self.cluster.ends(self.state.runtime, self._starts())
        ranges = self._unfinished or self.ranges.of(self.positions, ends or {})
        now = time.monotonic()
        if ends is None or (not ranges and now > self._ask_offsets_at):
            ends = self._check_positions()
            ranges, self._ask_offsets_at = self._unfinished or self.ranges.of(self.positions, ends), now + _OFFSETS_INTERVAL_S
            if not ranges and self.uncommitted:
                self.commit_done()
        if not ranges and self.is_punctuation_due():
            ranges = {p: (offset, offset) for p, offset in self.positions.items()}
        if not ranges:
            return False
        self.number += not self._unfinished
        self._unfinished, begin = ranges, time.monotonic()
        if self.transactions is None:  # commits the previous batch, too
            self._commit({p: end for p, (_, end) in ranges.items()})
        self._batch(ranges)
        self._unfinished, self._ask_offsets_at = {}, time.monotonic() + _COMMIT_AFTER_S
        self.metrics["batches"] += 1
        self.metrics["records"] += sum(end - start for start, end in ranges.values())
        self.metrics |= {"batch-ms": (time.monotonic() - begin) * 1000, **self.state.runtime.metrics()}
        self.metrics["batch-ms-total"] += self.metrics["batch-ms"]
        self.metrics["lag"] = sum(end - self.positions[p] for p, end in (ends or {}).items() if p in self.positions)
        return True

    def _begin_transactions_again(self, transactions: BatchTransactions) -> None:
        """Write again after a transaction that was not committed, unless another instance has committed batches since."""
        transactions.begin(self.state.runtime)
        self._commit_unknown = True  # also if brokers do not say what is committed
        last = offset_metadata.batch_number(offset_metadata.decoded(self.cluster.committed(self.partitions)))
        self._commit_unknown = last > self.number - bool(self._unfinished)

    def is_punctuation_due(self) -> bool:
        """Whether a batch without records has to run, because a punctuation of a processor is due."""
        nodes = self._context.processors if self._context is not None else ()
        return bool(nodes) and self.state.runtime.is_punctuation_due(nodes)

    def _starts(self) -> dict[str, dict[Partition, int]]:
        """By input, the offsets at which the next batch begins."""
        return {source: {p: offset for p, offset in self.positions.items() if p[0] in t} for source, t in self.topics.items()}

    def close(self) -> None:
        """Close the runtime."""
        self.state.runtime.close()

    def store_sizes(self) -> dict[str, int]:
        """About how many rows each store has."""
        return {name: self.state.runtime.size(name) for name in self.state.tables}

    def commit_done(self) -> None:
        """Commit the last batch."""
        self._commit({})
        self.uncommitted = False

    def unread(self, topics: Collection[str], tasks: Iterable[StreamTask]) -> set[str]:
        """Of deleted repartition topics, those with records that this task has not read: there at the start, or written since by
        complete batches. A failed batch writes its records again; a failed batch of this task needs its records to run again.
        """
        ends = dict(self._ends)
        for partition, end in (entry for task in tasks for entry in task.state.runtime.written_offsets().items()):
            ends[partition] = max(end, ends.get(partition, 0))
        for partition, (start, end) in self._unfinished.items():
            ends[partition] = max(end if end > start else 0, ends.get(partition, 0))
        return {p[0] for p in self.partitions if p[0] in topics and ends.get(p, 0) > self.positions[p]}

    def earliest_offsets(self, topics: Collection[str]) -> dict[Partition, int]:
        """The earliest offsets of recreated internal topics; changes nothing."""
        mine = [p for p in self.partitions if p[0] in topics]
        return self.cluster.offsets(mine, "earliest") if mine else {}

    def use_recreated_topics(self, topics: Collection[str], begin: Mapping[Partition, int]) -> None:
        """Continue with recreated, empty internal topics: read them from `begin` on; their stores wait for `refill_changelogs`.
        It must not fail half-way: a second call would read records again that were read in between.
        """
        self.positions |= begin
        self._ends = {p: end for p, end in self._ends.items() if p[0] not in topics}
        self.state.runtime.forget_topics(topics)
        self.state.runtime.following = False
        new = {store for store in self.state.logs if self.state.changelog(store) in topics}
        self.stores_to_refill |= new
        self._written = {row for row in self._written if row[0] not in {*new, *topics}}
        self.needs_refill = self.needs_refill or bool(begin or self.stores_to_refill)

    def refill_changelogs(self) -> None:
        """Write stores to their recreated, empty changelogs. Until that is committed a restore from them is refused."""
        if not self.needs_refill:
            return
        # Offsets of deleted topics are lost; recreated topics have no unfinished batch.
        to = {p: end for p, (start, end) in self._unfinished.items() if self.positions[p] == start}
        self._commit(to)
        for store in sorted(self.stores_to_refill):
            changelog, rows = self.state.logs[store], self.state.tables[store].stored()
            self.cluster.write([changelog.records(rows)], 0)  # no batch has this number
            self.stores_to_refill.discard(store)
            log.warning("The changelog %s has been filled again from its store.", changelog.topic)
        self._commit(to)
        self.needs_refill = False

    def _check_positions(self, *, restoring: bool = False) -> dict[Partition, int]:
        """The end offsets of the partitions. One that ends before its position was recreated or truncated: its reset policy is
        applied. For a repartition topic only a restore does so; otherwise `use_recreated_topics` has to be called.
        """
        ends = self.cluster.offsets(self.partitions, "latest")
        read = self.positions | {p: end for p, (_, end) in (self._pending | dict(self._unfinished)).items()}
        for partition in [p for p, end in ends.items() if end < read[p]]:
            topic, policy = partition[0], self.reset.get(partition[0], "earliest")
            sentence = (
                f"{topic}-{partition[1]} ends at offset {ends[partition]}, but has been read up to {read[partition]}: it was "
                "created again, or records were lost."
            )
            if topic in self.internal and not restoring:
                raise RetriableError(sentence)
            if policy == "none" or partition in self._unfinished:
                raise StreamsError(f"{sentence} auto.offset.reset is none." if policy == "none" else sentence)
            log.warning("%s It is read on from its %s record.", sentence, policy)
            self._pending.pop(partition, None)
            self.positions |= self.cluster.offsets([partition], policy)
            self.state.runtime.following = False
        if not self.state.runtime.following:  # at the start, and after a consumer could not continue
            self._skip_deleted_records()
        return ends

    def _skip_deleted_records(self) -> None:
        """Apply the reset policy to partitions whose next records have been deleted."""
        for partition, first in self.cluster.offsets(self.partitions, "earliest").items():
            if first <= self.positions[partition]:
                continue
            policy = self.reset.get(partition[0], "earliest")
            sentence = (
                f"{partition[0]}-{partition[1]} begins at offset {first}, but has been read up to {self.positions[partition]}: "
                "the records between them have been deleted."
            )
            if policy == "none" or partition in self._unfinished:
                raise StreamsError(sentence)
            log.warning("%s It is read on from its %s record.", sentence, policy)
            self._pending.pop(partition, None)  # the stores are restored without the rows of the interrupted batch
            self.positions |= self.cluster.offsets([partition], policy)

    def _commit(self, to: Mapping[Partition, int]) -> None:
        self.cluster.commit({p: (offset, self._offset_metadata(p, to.get(p))) for p, offset in self.positions.items()})
        self.committed_positions = dict(self.positions)

    def _offset_metadata(self, partition: Partition, to: int | None = None, stream_times: StreamTimes | None = None) -> str:
        more: dict[str, Any] = {"to": to}
        if partition == self.partitions[0]:
            more |= {"s": self.state.signatures() or None, "e": sorted(self.stores_to_refill) or None}
        times = self.state.stream_times if stream_times is None else stream_times
        return offset_metadata.encode(self.number, partition, times, self._written, more)

    def _holds_state(self, changelog: str, rows: DataFrame) -> bool:
        """Whether a changelog holds valid state although nothing is committed. Raises StreamsError if it would count twice."""
        if self.transactions is not None and rows.isEmpty():
            return False  # the very first transaction was aborted
        internal = all(topic in self.internal for topic, _ in self.partitions)
        if not internal or any(self.cluster.offsets(self.partitions, "latest").values()):
            raise StreamsError(
                f"The changelog {changelog} holds state, but the group of the application has no committed offsets: it would be "
                "counted twice. Reset the application (kafka-streams-application-reset.sh), or delete its changelogs."
            )
        # Its repartition topics were deleted, and their committed offsets with them. No batch number may be used again.
        self.number = max(self.number, now_ms())
        return True

    def _planned(self) -> Context:
        context = Context(self.state)
        self.program.run(context, self._inputs(context, lambda _: True), self.source_reader.topics)
        return context

    def _inputs(self, context: Context, select: Callable[[SourceNode], bool]) -> dict[str, Flow]:
        """The flows of the sources, for every batch."""
        inputs: dict[str, Flow] = {}
        for number, source in enumerate(self.program.sources):
            if select(source):
                raw = self.state.runtime.input(source.name, RAW, "partition")
                inputs[source.name] = self.source_reader.flow(source, raw, number, partial(self._skip, context))
        return inputs

    def _skip(self, context: Context, records: DataFrame, why: str) -> None:
        context.skip(records, why)
        if not why and self.source_reader.dead_letter_topic is not None:
            context.write([dead_letters.unreadable(records, self.source_reader.dead_letter_topic)])

    def _job(self) -> Any:
        """The job of a batch: planned once, unless it has functions of the present time, which planning fixes."""
        if self._program_job is None or self.state.runtime.volatile:
            if self.state.runtime.volatile:  # `prepare` may have been long ago, before a restore
                self._context = self._planned()
            assert self._context is not None
            self._program_job = self.state.runtime.program(self._context.outputs)
        return self._program_job

    def _batch(self, ranges: Ranges) -> None:
        try:
            with_schema_lookup(lambda: self._planned_batch(ranges, self._job()), self.prepare)
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
        for part in parts:
            self._unfinished = part
            self.number += 1  # each is a batch of its own
            if self.transactions is None:
                self._commit({p: end for p, (_, end) in part.items()})
            self._batch(part)

    def _skip_failed_record(self, ranges: Ranges, failure: RecordFailedError) -> None:
        """Write a record to the dead letter topic, if there is one, and continue after it."""
        ((topic, partition), (offset, _)) = next(item for item in ranges.items() if item[1][0] < item[1][1])
        log.warning("Skipping record due to an error: %s", failure, topic=topic, partition=partition, offset=offset)
        self.metrics["dropped"] += 1
        runtime, to = self.state.runtime, self.source_reader.dead_letter_topic
        runtime.set_dead_letter_cause(failure)
        if self._dead_letter_job is None:
            inputs = [runtime.input(source.name, RAW, "partition") for source in self.program.sources]
            frames = [] if to is None else [dead_letters.failed(raw, to, runtime.id) for raw in inputs]
            self._dead_letter_job = runtime.program([Output("sink", "", None, frame) for frame in frames])
        self._planned_batch(ranges, self._dead_letter_job)

    def _planned_batch(self, ranges: Ranges, job: Any) -> None:
        runtime = self.state.runtime
        inputs = {source: {p: r for p, r in ranges.items() if p[0] in topics} for source, topics in self.topics.items()}
        try:
            batch = StreamBatch(job, self.number, sorted({p for _, p in ranges}), self.transactions is not None)
            self.cluster.run(runtime, batch, inputs)
            if skips := runtime.skipped_count():
                log_skipped(runtime.skipped())
                self.metrics["dropped"] += skips
            stream_times = offset_metadata.stream_times_after(self.state.stream_times, runtime.stream_times())
            self._written |= self.state.stores_written(runtime.written_offsets())
            if self.transactions is not None:
                self._commit_once(self.transactions, stream_times, ranges)
            self._apply_results(stream_times, job is not self._dead_letter_job)
        finally:
            runtime.end()
        self.positions.update({p: end for p, (_, end) in ranges.items()})
        self.uncommitted = self.transactions is None
        self.committed_positions = self.committed_positions if self.uncommitted else dict(self.positions)

    def _commit_once(self, transactions: BatchTransactions, stream_times: StreamTimes, ranges: Ranges) -> None:
        """Commit the results of a batch and the offsets after it in one transaction."""
        after = self.positions | {p: end for p, (_, end) in ranges.items()}
        offsets = {p: (offset, self._offset_metadata(p, stream_times=stream_times)) for p, offset in after.items()}
        try:
            transactions.commit(self.state.runtime, offsets)
        except BaseException as error:
            self._commit_unknown = not isinstance(error, NotCommittedError)
            raise

    def _apply_results(self, stream_times: StreamTimes, shows: bool) -> None:
        """Apply the results of a batch to the stores. shows: whether functions in this process get rows of it."""
        assert self._context is not None
        try:
            for shown in self._context.local_actions if shows else ():
                for row in shown.frame.toLocalIterator():
                    shown.show(row)
            self.state.apply(stream_times)
        except Exception as error:  # the results are written: only a restore makes the stores consistent
            translated = failure.as_error(error, "The results of a batch could not be taken into the stores")
            raise StreamsError(str(translated)) from error
