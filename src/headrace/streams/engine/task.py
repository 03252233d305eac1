"""One sub-topology at work: where it is in its topics, one batch after the other, and the way back after a crash.

At least once: what a batch is going to do stands in the group's committed offsets before it begins (`to`, the offsets after it,
and its number `n`), and that it is done after its last record has been acknowledged. So a batch that was cut off is known, and
is done again over the same offsets and from the same state: what it had written already is written once more, to the same rows,
and counts once. Exactly once: a batch is one transaction with the offsets after it, so that there is none to be done again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from headrace.errors import RetriableError, StreamsError
from headrace.spark import failure
from headrace.streams.engine import dead_letters
from headrace.streams.engine.cluster import FIGURES, BatchTransactions, Cluster, first_offsets
from headrace.streams.engine.context import Clocks, Context, Memory
from headrace.streams.engine.flows import Flow
from headrace.streams.engine.notes import clocks_after, clocks_of, note, require_filled, require_same_stores, written_of
from headrace.streams.engine.order import BatchRanges
from headrace.streams.engine.program import Program
from headrace.streams.engine.registered import learning
from headrace.streams.engine.restore import StoreRestore
from headrace.streams.engine.runtime import Output, RecordFailedError, StreamBatch, is_volatile
from headrace.streams.engine.skipping import Skipping
from headrace.streams.engine.source import RAW, Partition, Ranges, SourceReading, log_skipped
from headrace.streams.nodes import SinkNode, SourceNode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_REST_S = 0.1  # without a record after a batch, until its end is committed
_OFFSETS_INTERVAL_S = 1.0  # between two looks at topics of which nothing comes

log = structlog.get_logger(__name__)


@dataclass
class StreamTask:
    """A sub-topology with the topics of its sources."""

    program: Program
    reading: SourceReading
    memory: Memory
    cluster: Cluster
    topics: Mapping[str, list[str]]
    """By source, names on the cluster."""
    partitions: list[Partition]
    ranges: BatchRanges
    """What batches take."""
    reset: Mapping[str, str] = field(default_factory=dict)
    source_changelogs: Mapping[str, str] = field(default_factory=dict)
    internal: frozenset[str] = frozenset()
    transactions: BatchTransactions | None = None
    skipping: Skipping = field(default_factory=Skipping)
    positions: dict[Partition, int] = field(default_factory=dict)
    number: int = 0
    dirty: bool = False
    metrics: dict[str, float] = field(default_factory=lambda: dict.fromkeys(FIGURES, 0.0))
    done: dict[Partition, int] = field(default_factory=dict)
    emptied: set[str] = field(default_factory=set)
    """Stores whose changelogs wait to be filled again."""
    renewed: bool = False
    """Whether `refill` has to."""
    _context: Context | None = None
    _program_job: Any = None
    _letters_job: Any = None
    _volatile: bool = False
    _written: set[tuple[str, int]] = field(default_factory=set)  # as `Memory.kept_in` has it
    _unfinished: Ranges = field(default_factory=dict)
    _pending: dict[Partition, tuple[int, int]] = field(default_factory=dict)
    _lost: bool = False  # whether nobody here knows if the last batch is committed
    _ends: Mapping[Partition, int] = field(default_factory=dict)  # at the beginning
    _ask_offsets_at: float = 0.0  # when brokers are asked where topics end, if nothing has come

    @property
    def sinks(self) -> set[str]:
        """The topics with fixed names that it writes to, on the cluster."""
        fixed = (node.topic for node in self.program.nodes if isinstance(node, SinkNode))
        return {self.reading.topics.full(topic) for topic in fixed if isinstance(topic, str)}

    def prepare(self) -> None:
        """Go through the nodes without records: lays out the stores, and finds what Spark refuses. Raises StreamsError."""
        self._context, self._program_job = self._planned(), None

    def sketch(self) -> bool:
        """Go through the nodes as far as the formats of internal topics are known; whether that tells those of others."""
        count_before, context = len(self.reading.topics.wires), Context(self.memory)
        self.program.sketch(context, self._inputs(context, self.reading.is_known), self.reading.topics)
        return len(self.reading.topics.wires) > count_before

    def recover(self) -> None:
        """Read the committed offsets, restore the stores, and do a batch that was cut off again. Raises StreamsError."""
        if self.transactions is not None:
            self.transactions.begin(self.memory.runtime)
        self._lost, self._unfinished = False, {}
        committed = self.cluster.committed(self.partitions)
        first = first_offsets(self.cluster, [p for p in self.partitions if p not in committed], self.reset)
        notes = {partition: json.loads(text) for partition, (_, text) in committed.items() if text}
        self.positions = first | {partition: offset for partition, (offset, _) in committed.items()}
        self.number = max((int(metadata["n"]) for metadata in notes.values()), default=0)
        self._pending = {p: (self.positions[p], int(metadata["to"])) for p, metadata in notes.items() if "to" in metadata}
        self.memory.set_clocks(clocks_of(notes))
        require_filled(notes, self.memory)
        require_same_stores(notes, self._signatures())
        stores = StoreRestore(self.memory, self.cluster, self.partitions)
        pending = {p: self.number for _, p in self._pending}
        self._written = written_of(notes)
        stores.from_changelogs(pending, self._written, lambda topic, rows: bool(committed) or self._is_true(topic, rows))
        self._ends = self._go_back(restoring=True)
        for store, topic in self.source_changelogs.items():
            source = next(node for node in self.program.sources if topic in self.topics[node.name])
            stores.from_source(store, topic, self.positions, lambda raw, source=source: self.reading.flow(source, raw, 0))
        if self._pending:
            log.info("A batch that was cut off is done again", subtopology=self.program.number, batch=self.number)
            ranges, self._pending = self._pending, {}
            self._batch(ranges)

    def step(self) -> bool:
        """Do one batch of what has come; whether there was anything.

        Raises RetriableError for what may pass: the next call does the same batch again. After any other error the stores may
        have taken in half of a batch: who continues has to begin with `recover`.
        """
        if self._lost:
            self.recover()
        ends = self.cluster.ends(self.memory.runtime, self._starts())
        ranges = self._unfinished or self.ranges.of(self.positions, ends or {})
        now = time.monotonic()
        if ends is None or (not ranges and now > self._ask_offsets_at):
            ends = self._go_back()
            ranges, self._ask_offsets_at = self._unfinished or self.ranges.of(self.positions, ends), now + _OFFSETS_INTERVAL_S
            if not ranges and self.dirty:
                self.rest()
        if not ranges and self.is_due():
            ranges = {p: (offset, offset) for p, offset in self.positions.items()}
        if not ranges:
            return False
        self.number += not self._unfinished
        self._unfinished, begin = ranges, time.monotonic()
        if self.transactions is None:  # says as well that the batch before is done
            self._commit({p: end for p, (_, end) in ranges.items()})
        self._batch(ranges)
        self._unfinished, self._ask_offsets_at = {}, time.monotonic() + _REST_S
        self.metrics["batches"] += 1
        self.metrics["records"] += sum(end - start for start, end in ranges.values())
        self.metrics |= {"batch-ms": (time.monotonic() - begin) * 1000, **self.memory.runtime.figures()}
        self.metrics["batch-ms-total"] += self.metrics["batch-ms"]
        self.metrics["lag"] = sum(end - self.positions[p] for p, end in (ends or {}).items() if p in self.positions)
        return True

    def is_due(self) -> bool:
        """Whether a batch without records has something to do: schedules of processors."""
        nodes = self._context.processors if self._context is not None else ()
        return bool(nodes) and self.memory.runtime.is_due(nodes)

    def _starts(self) -> dict[str, dict[Partition, int]]:
        """By input, where the next batch begins."""
        return {source: {p: offset for p, offset in self.positions.items() if p[0] in t} for source, t in self.topics.items()}

    def close(self) -> None:
        """The work is over."""
        self.memory.runtime.close()

    def store_sizes(self) -> dict[str, int]:
        """About how many rows each store has."""
        return {name: self.memory.runtime.size(name) for name in self.memory.tables}

    def rest(self) -> None:
        """Commit that the last batch is done."""
        self._commit({})
        self.dirty = False

    def unread(self, topics: Collection[str], tasks: Iterable[StreamTask]) -> set[str]:
        """Those of some repartition topics, which are gone, that held records which this task has not read: what was there at
        the beginning, and what complete batches have written since. What a batch that failed has written is written again; one
        of this task's that failed cannot be done again without its records.
        """
        ends = dict(self._ends)
        for partition, end in (entry for task in tasks for entry in task.memory.runtime.written().items()):
            ends[partition] = max(end, ends.get(partition, 0))
        mine = [p for p in self.partitions if p[0] in topics]
        return {p[0] for p in mine if p in self._unfinished or ends.get(p, 0) > self.positions[p]}

    def fresh(self, topics: Collection[str]) -> dict[Partition, int]:
        """Where internal topics that are new begin; asks the cluster, and changes nothing."""
        mine = [p for p in self.partitions if p[0] in topics]
        return self.cluster.offsets(mine, "earliest") if mine else {}

    def renew(self, topics: Collection[str], begin: Mapping[Partition, int]) -> None:
        """continue with internal topics that are new and empty: read from `begin` on; stores whose changelogs they are wait for
        `refill`. It cannot fail half-way, because who did it twice would read again what was read in between.
        """
        self.positions |= begin
        self._ends = {p: end for p, end in self._ends.items() if p[0] not in topics}
        self.memory.runtime.forget(topics)
        self.memory.runtime.following = False
        new = {store for store in self.memory.logs if self.memory.changelog(store) in topics}
        self.emptied, self._written = self.emptied | new, {w for w in self._written if w[0] not in {*new, *topics}}
        self.renewed = self.renewed or bool(begin or self.emptied)

    def refill(self) -> None:
        """Write stores to their changelogs that are new and empty. Until that is committed a restore from them is refused."""
        if not self.renewed:
            return
        # What was committed went with an old topic; of those that are new nothing is unfinished.
        to = {p: end for p, (start, end) in self._unfinished.items() if self.positions[p] == start}
        self._commit(to)
        for store in sorted(self.emptied):
            changelog, rows = self.memory.logs[store], self.memory.tables[store].stored()
            self.cluster.write([changelog.records(rows)], 0)  # no batch has this number
            self.emptied.discard(store)
            log.warning("The changelog %s has been filled again from its store.", changelog.topic)
        self._commit(to)
        self.renewed = False

    def _go_back(self, *, restoring: bool = False) -> dict[Partition, int]:
        """The ends of what there is to read. A topic that ends before what has been read of it is another one, or was cut: go on
        as its reset policy says. Of a repartition topic only a restore can do that; else who made it again has to call `renew`.
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
            self.memory.runtime.following = False
        if not self.memory.runtime.following:  # at the start, and when a consumer could not go on
            self._skip_gone()
        return ends

    def _skip_gone(self) -> None:
        """Where the topic has deleted the records that come next, continue as its reset policy says."""
        for partition, first in self.cluster.offsets(self.partitions, "earliest").items():
            if first <= self.positions[partition]:
                continue
            policy = self.reset.get(partition[0], "earliest")
            sentence = (
                f"{partition[0]}-{partition[1]} begins at offset {first}, but has been read up to {self.positions[partition]}: "
                "the records between them have been deleted."
            )
            if policy == "none" or partition in self._unfinished or partition in self._pending:
                raise StreamsError(sentence)
            log.warning("%s It is read on from its %s record.", sentence, policy)
            self.positions |= self.cluster.offsets([partition], policy)

    def _commit(self, to: Mapping[Partition, int]) -> None:
        self.cluster.commit({p: (offset, self._note(p, to.get(p))) for p, offset in self.positions.items()})
        self.done = dict(self.positions)

    def _note(self, partition: Partition, to: int | None = None, clocks: Clocks | None = None) -> str:
        more: dict[str, Any] = {"to": to}
        if partition == self.partitions[0]:
            more |= {"s": self._signatures() or None, "e": sorted(self.emptied) or None}
        return note(self.number, partition, self.memory.clocks if clocks is None else clocks, self._written, more)

    def _signatures(self) -> dict[str, str]:
        return {name: log.signature for name, log in self.memory.logs.items() if self.memory.changelog(name) is not None}

    def _is_true(self, changelog: str, rows: DataFrame) -> bool:
        """Whether a changelog holds state although nothing is committed. Raises StreamsError if that would be counted twice."""
        if self.transactions is not None and rows.isEmpty():
            return False  # only the first transaction ever was begun, and aborted
        internal = all(topic in self.internal for topic, _ in self.partitions)
        if not internal or any(self.cluster.offsets(self.partitions, "latest").values()):
            raise StreamsError(
                f"The changelog {changelog} holds state, but the group of the application has no committed offsets: it would be "
                "counted twice. Reset the application (kafka-streams-application-reset.sh), or delete its changelogs."
            )
        # Its repartition topics were deleted, and what was committed with them. No number of before may come again.
        self.number = max(self.number, int(time.time() * 1000))
        return True

    def _planned(self) -> Context:
        context = Context(self.memory)
        self.program.run(context, self._inputs(context, lambda _: True), self.reading.topics)
        return context

    def _inputs(self, context: Context, select: Callable[[SourceNode], bool]) -> dict[str, Flow]:
        """What comes from the sources, in whatever batch."""
        inputs: dict[str, Flow] = {}
        for number, source in enumerate(self.program.sources):
            if select(source):
                raw = self.memory.runtime.input(source.name, RAW, "partition")
                inputs[source.name] = self.reading.flow(source, raw, number, partial(self._leave_out, context))
        return inputs

    def _leave_out(self, context: Context, records: DataFrame) -> None:
        context.skip(records)
        if self.reading.dead_letter_topic is not None:
            context.write([dead_letters.unreadable(records, self.reading.dead_letter_topic)])

    def _job(self) -> Any:
        """What a batch computes: planned once, unless it depends on when that is."""
        if self._program_job is None or self._volatile:
            if self._program_job is not None:
                self._context = self._planned()
            assert self._context is not None
            self._volatile = is_volatile(output.frame for output in self._context.outputs)
            self._program_job = self.memory.runtime.program(self._context.outputs)
        return self._program_job

    def _batch(self, ranges: Ranges) -> None:
        try:
            learning(lambda: self._planned_batch(ranges, self._job()), self.prepare)
        except RecordFailedError as failure:
            if not self.skipping.skips(failure):
                raise
            self._in_parts(ranges, failure)

    def _in_parts(self, ranges: Ranges, failure: RecordFailedError) -> None:
        """Do a batch that a record has failed, which has left no trace: in halves, until that record is alone and is left out."""
        if not any(start < end for start, end in ranges.values()):  # a schedule has failed, and no record
            raise failure
        parts = self.ranges.halves(ranges)
        if not parts and failure.of_production and self.memory.runtime.take_limits(self.cluster.limits()):
            self._batch(ranges)
        elif not parts:
            self._leave_out_one(ranges, failure)
        for part in parts:
            self._unfinished = part
            self.number += 1  # each is a batch of its own, whatever becomes of the next
            if self.transactions is None:
                self._commit({p: end for p, (_, end) in part.items()})
            self._batch(part)

    def _leave_out_one(self, ranges: Ranges, failure: RecordFailedError) -> None:
        """Write a record to the dead letter topic, if there is one, and continue behind it."""
        ((topic, partition), (offset, _)) = next(item for item in ranges.items() if item[1][0] < item[1][1])
        log.warning("Skipping record due to an error: %s", failure, topic=topic, partition=partition, offset=offset)
        self.metrics["dropped"] += 1
        runtime, to = self.memory.runtime, self.reading.dead_letter_topic
        runtime.set_letter(failure)
        if self._letters_job is None:
            inputs = [runtime.input(source.name, RAW, "partition") for source in self.program.sources]
            frames = [] if to is None else [dead_letters.failed(raw, to, runtime.id) for raw in inputs]
            self._letters_job = runtime.program([Output("sink", "", None, frame) for frame in frames])
        self._planned_batch(ranges, self._letters_job)

    def _planned_batch(self, ranges: Ranges, job: Any) -> None:
        runtime = self.memory.runtime
        inputs = {source: {p: r for p, r in ranges.items() if p[0] in topics} for source, topics in self.topics.items()}
        try:
            batch = StreamBatch(job, self.number, sorted({p for _, p in ranges}), self.transactions is not None)
            self.cluster.run(runtime, batch, inputs)
            if skips := runtime.skips():
                log_skipped(runtime.skipped())
                self.metrics["dropped"] += skips
            clocks = clocks_after(self.memory.clocks, runtime.ticks())
            self._written |= self.memory.kept_in(runtime.written())
            if self.transactions is not None:
                self._commit_once(self.transactions, clocks, ranges)
            self._take_in(clocks, job is not self._letters_job)
        except BaseException:
            self._lost = self._lost or (self.transactions is not None and not runtime.can_write())
            raise
        finally:
            runtime.end()
        self.positions.update({p: end for p, (_, end) in ranges.items()})
        self.dirty = self.transactions is None
        if not self.dirty:
            self.done = dict(self.positions)

    def _commit_once(self, transactions: BatchTransactions, clocks: Clocks, ranges: Ranges) -> None:
        """Commit everything that a batch made, and that it is done, in one transaction."""
        after = self.positions | {p: end for p, (_, end) in ranges.items()}
        offsets = {p: (offset, self._note(p, clocks=clocks)) for p, offset in after.items()}
        try:
            transactions.commit(self.memory.runtime, offsets)
        except BaseException:
            self._lost = True
            raise

    def _take_in(self, clocks: Clocks, shows: bool) -> None:
        """continue from what a batch made. shows: whether functions in this process get rows of it."""
        assert self._context is not None
        try:
            for shown in self._context.shown if shows else ():
                for row in shown.frame.toLocalIterator():
                    shown.show(row)
            self.memory.apply(clocks)
        except Exception as error:  # what is written is written: only a restore tells what the stores hold
            translated = failure.as_error(error, "The results of a batch could not be taken into the stores")
            raise StreamsError(str(translated)) from error
