"""User processors in Spark's Python workers: each record of a task passes through all processors of a group.

A processor's stores have the rows from before the batch, read through the socket of the sub-topology's runtime, overlaid with the
changes of the processors of its group.
"""

from __future__ import annotations

import pickle
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.streams.changed_rows import ChangedRows
from headrace.streams.engine.processor_link import ProcessorLink, TaskTimes
from headrace.streams.engine.processor_results import TaskResults
from headrace.streams.processor_stores import STORES, StoreAccess
from headrace.streams.processors import ProcessorContext, PunctuationType, Record
from headrace.streams.stores import StoreKind

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.types import StructType

ROW_COLUMNS = ("p", "o", "t", "h", "m", "store", "key", "value")
"""The first columns of a row: `m` is the processor's number; the last three are of a changed row of a table that is read."""
_TIME, _HEADERS, _NUMBER, _STORE, _KEY, _VALUE = range(6)  # of the values in a `RowChunk`
_FIRST_PAIR = 6
_CHUNK_ROWS = 1000  # rows that are in Python together; for their keys the rows of a store are fetched with one request
_LAST = 1 << 62  # behind all records of topics


@dataclass(frozen=True)
class WorkerProcessor:
    """A processor of a group."""

    node: str
    supplier: Any
    keeps_key: bool
    forwards: tuple[tuple[int, int | None], ...]
    """Its children in the group, by their number, each with its child order if it needs one."""
    stores: frozenset[str] = frozenset()
    """The stores that are connected to it: except global ones it has access to no others of the group."""
    children: frozenset[str] = frozenset()
    """The names of all its children."""


class ProcessorRows:
    """Runs the rows of a Spark partition through processors, for each of its tasks: a function of `DataFrame.mapInArrow`."""

    def __init__(
        self, processors: Sequence[WorkerProcessor], stores: Mapping[str, StoreAccess], socket: str, depth: int,
        schemas: tuple[StructType, StructType],
    ) -> None:  # fmt: skip
        """socket: of the sub-topology's runtime; depth: of places, 0 if it differs; schemas: of rows and of results."""
        from pyspark import cloudpickle

        self.nodes, self.stores, self.depth = [processor.node for processor in processors], dict(stores), max(depth, 1)
        self._socket, self.schemas = socket, schemas
        # As bytes, so that a worker can extend its module path before it unpickles the suppliers.
        self._processors, self._paths = cloudpickle.dumps(list(processors)), list(sys.path)

    def __call__(self, batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
        """Results of rows, both in Arrow batches of their schemas."""
        from pyspark import TaskContext

        sys.path.extend(path for path in self._paths if path not in sys.path)
        processors, running = pickle.loads(self._processors), TaskContext.get()
        assert running is not None
        links = {path: ProcessorLink(path) for path in {self._socket, *(access.socket for access in self.stores.values())}}
        try:
            piece = running.partitionId()
            now, tasks = self._tasks(links[self._socket], piece)
            times = self._stream_times(links[self._socket], piece)
            for partition, chunks in groupby(self._chunks(batches), lambda chunk: chunk[0]):
                task = _ProcessedTask(self, processors, links, tasks.pop(partition), now, times[partition])
                yield from task.run(chunk for _, chunk in chunks)
            for partition, left in tasks.items():
                if any(task_times.dues is None or task_times.dues for task_times in left):
                    yield from _ProcessedTask(self, processors, links, left, now, times[partition]).run(())
        finally:
            for link in links.values():
                link.close()

    def _chunks(self, batches: Iterable[RecordBatch]) -> Iterator[tuple[int, RowChunk]]:
        """The rows of tasks, with their partitions: few at a time, so that they are in memory for a short time."""
        for batch in batches:
            start = 0
            for partition, same in groupby(batch.column(0).to_pylist()):
                end = start + sum(1 for _ in same)
                for first in range(start, end, _CHUNK_ROWS):
                    yield partition, RowChunk(batch.slice(first, min(_CHUNK_ROWS, end - first)), self.schemas[0])
                start = end

    def _tasks(self, link: ProcessorLink, piece: int) -> tuple[int, dict[int, list[TaskTimes]]]:
        """The wall-clock time, and by task the times of each processor."""
        now, by_task = 0, defaultdict[int, list[TaskTimes]](list)
        for node in self.nodes:
            now, tasks = link.begin(node, piece)
            for task in tasks:
                by_task[task.partition].append(task)
        return now, by_task

    def _stream_times(self, link: ProcessorLink, piece: int) -> dict[int, dict[str, int]]:
        """By task, the stream times of stores: the greatest time that has been put into them."""
        by_task: dict[int, dict[str, int]] = defaultdict(dict)
        for name, access in self.stores.items():
            if access.store.kind is not StoreKind.KEY_VALUE:
                for task in link.begin(name, piece)[1]:
                    by_task[task.partition][name] = task.stream_time
        return by_task


class RowChunk:
    """Some rows of one task: the places, and the values of the columns behind them as Spark has them in Python."""

    def __init__(self, batch: RecordBatch, schema: StructType) -> None:
        from pyarrow import Table
        from pyspark.sql.conversion import ArrowTableToRowsConversion
        from pyspark.sql.types import StructType

        places, values = batch.column(1), Table.from_batches([batch.select(schema.names[2:])])
        self.rows: list[Any] = ArrowTableToRowsConversion.convert(values, StructType(schema.fields[2:]), return_as_tuples=True)
        # A list for each place would be one more object that Python's garbage collector looks at, again and again.
        self._places, self._ends = places.flatten().to_pylist(), list(accumulate(places.value_lengths().to_pylist(), initial=0))

    def place(self, index: int) -> list[int]:
        """The place of a row."""
        return self._places[self._ends[index] : self._ends[index + 1]]


class _ProcessedTask:
    """Runs the records of one task in a batch."""

    def __init__(
        self, rows: ProcessorRows, processors: Sequence[WorkerProcessor], links: Mapping[str, ProcessorLink],
        tasks: Sequence[TaskTimes], now: int, times: Mapping[str, int],
    ) -> None:  # fmt: skip
        """tasks: the times of each processor's task; times: stream times of stores."""
        partition, self._depth, self.nodes = tasks[0].partition, rows.depth, rows.nodes
        self.results = TaskResults(rows.schemas[1], partition, len(processors))
        self._changed: dict[str, ChangedRows] = {}
        self._rows_of: dict[str, ChangedRows] = {}
        self.time = now
        """The timestamp of puts into stores."""
        self._chunk: RowChunk | None = None  # rows of which one is processed: the number of its processor, and the record's key
        self._number, self._key = 0, None
        stores: dict[str, Any] = {}
        for name, access in rows.stores.items():
            changed = ChangedRows(links[access.socket], name, 0 if access.is_global else partition)
            self._rows_of[name] = changed
            if access.store.kind is not StoreKind.KEY_VALUE:
                changed.stream_time = times[name]
            stores[name] = STORES[access.store.kind](access, changed, lambda: self.time, self._next_keys)
            if not access.is_global and not access.read_only:
                self._changed[name] = changed
        shared = {name for name, access in rows.stores.items() if access.is_global}
        self._task_processors = [
            _TaskProcessor(
                self, number, processor, task_times, {name: stores[name] for name in sorted(shared | processor.stores)}, now
            )
            for number, (processor, task_times) in enumerate(zip(processors, tasks, strict=True))
        ]

    def run(self, chunks: Iterable[RowChunk]) -> Iterator[RecordBatch]:
        """Results of rows as `processors._worker_rows` has them."""
        remaining = iter(chunks)
        self._chunk = next(remaining, None)
        # Places of records that an upstream operator forwarded from `init` or `close` are themselves below 0 or above _LAST.
        first, last = min([0, *self._chunk.place(0)[:1]]) if self._chunk else 0, _LAST
        for number, member in enumerate(self._task_processors):
            member.init([first - len(self._task_processors) + number] * self._depth)
        while self._chunk:
            for index, row in enumerate(self._chunk.rows):
                self._process_row(row, self._chunk.place(index))
                if self.results.is_full():
                    yield from self.results.take_forwarded()
            last = max([last, *self._chunk.place(len(self._chunk.rows) - 1)[:1]])
            self._chunk = next(remaining, None)
        for number, member in enumerate(self._task_processors):
            self.time, self._key = member.context.now, None
            member.end([last + 1 + number] * self._depth)
        yield from self.results.take_forwarded()
        for name, changed in self._changed.items():
            yield from self.results.changes(name, changed)
        for number, member in enumerate(self._task_processors):
            yield self.results.dues(number, member.dues())

    def _process_row(self, row: Any, place: list[int]) -> None:
        if row[_STORE] is not None:  # of a table that is read
            self._rows_of[row[_STORE]].put(row[_KEY], row[_VALUE], row[_TIME])
            return
        self._number = row[_NUMBER]
        column = _FIRST_PAIR + 2 * self._number
        self._key = row[column]
        headers = tuple([(name, content) for name, content in row[_HEADERS]]) if row[_HEADERS] else ()
        self._task_processors[self._number].process(Record(self._key, row[column + 1], row[_TIME], headers), place)

    def process(self, number: int, record: Record, place: list[int]) -> None:
        """Pass a record to a processor of the group, while another one is processing."""
        before = self.time, self._key
        self.time, self._key = record.timestamp, None
        self._task_processors[number].process(record, place)
        self.time, self._key = before

    def _next_keys(self, key: Any) -> Iterable[Any]:
        """The keys of the next records, if a processor looks up the key of this one."""
        if key != self._key or self._chunk is None:
            return ()
        column = _FIRST_PAIR + 2 * self._number
        return (row[column] for row in self._chunk.rows if row[_NUMBER] == self._number)


class _TaskProcessor:
    """One processor in one task."""

    def __init__(
        self, task: _ProcessedTask, number: int, processor: WorkerProcessor, times: TaskTimes, stores: Mapping[str, Any], now: int
    ) -> None:
        self._task, self._number, self._worker_processor = task, number, processor
        self._results, self._processor = task.results, processor.supplier()
        self._record: Record | None = None  # that is processed, and its place
        self._place: list[int] = []
        self._forwarded = 0
        dues = {number: due for number, due in (times.dues or {}).items() if number >= 0}
        self.context = ProcessorContext(times.partition, self._forward, stores, times.stream_time, now, dues)

    def init(self, place: list[int]) -> None:
        """Start a batch. place: of records forwarded before the first input record."""
        self._record, self._place, self._forwarded = None, place, 0
        if hasattr(self._processor, "init"):
            self.context.is_initializing = True
            self._processor.init(self.context)
            self.context.is_initializing = False

    def process(self, record: Record, place: list[int]) -> None:
        """One record."""
        self._record, self._place, self._forwarded = record, place, 0
        self._task.time = record.timestamp
        self.context.stream_time = max(self.context.stream_time, record.timestamp)
        self._processor.process(record)
        self.context.punctuate(PunctuationType.STREAM_TIME)

    def end(self, place: list[int]) -> None:
        """End a batch."""
        self._record, self._place, self._forwarded = None, place, 0
        self.context.punctuate(PunctuationType.WALL_CLOCK_TIME)
        if hasattr(self._processor, "close"):
            self._processor.close()

    def dues(self) -> Iterator[tuple[int, int]]:
        """The next calls of punctuations, and the stream time (number -1)."""
        for number, schedule in enumerate(self.context.schedules):
            if not schedule.cancelled and schedule.kind is PunctuationType.WALL_CLOCK_TIME:
                yield number, schedule.due
        yield -1, self.context.stream_time

    def _forward(self, record: Record, child_name: str | None) -> None:
        if child_name is not None and child_name not in self._worker_processor.children:
            raise StreamsError(
                f"Unknown downstream node: {child_name} either does not exist or is not connected to this processor."
            )
        if self._record is not None and self._worker_processor.keeps_key and record.key != self._record.key:
            raise StreamsError(f"{self._worker_processor.node} may not change the key: take process for that.")
        place = [*self._place, self._forwarded]
        self._forwarded += 1
        self._results.forward(self._number, record, place, child_name)
        for other, child in self._worker_processor.forwards:
            if child_name in (None, self._task.nodes[other]):
                self._task.process(other, record, place if child is None else [*place, child])
