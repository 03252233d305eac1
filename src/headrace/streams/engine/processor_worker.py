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
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.streams.changed_rows import ChangedRows
from headrace.streams.engine.processor_link import ProcessorLink, TaskTimes
from headrace.streams.processor_stores import STORES, StoreAccess
from headrace.streams.processors import ProcessorContext, PunctuationType, Record
from headrace.streams.stores import StoreKind

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.types import StructType

ROW_COLUMNS = ("p", "t", "o", "h", "m", "store", "key", "value")
"""The first columns of a row: `m` is the processor's number; the last three are of a changed row of a table that is read."""
_PARTITION, _TIME, _PLACE, _HEADERS, _NUMBER, _STORE, _KEY, _VALUE = range(8)
_PREFETCH_RECORDS = 1000  # records whose rows of a store are fetched with one request
_BATCH_ROWS = 10_000  # results that are given back to Spark as one Arrow batch, as many as it gives to Python
_LAST = 1 << 62  # behind all records of topics
_NO_STORE_ROW = (None,) * 5


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
        self._socket, self._schemas = socket, schemas
        # As bytes, so that a worker can extend its module path before it unpickles the suppliers.
        self._processors, self._paths = cloudpickle.dumps(list(processors)), list(sys.path)

    def __call__(self, batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
        """Results of rows, both in Arrow batches of their schemas."""
        from pyarrow import Table
        from pyspark.sql.conversion import ArrowTableToRowsConversion, LocalDataToArrowConversion

        incoming, outgoing = self._schemas
        rows = (
            row
            for batch in batches
            for row in ArrowTableToRowsConversion.convert(Table.from_batches([batch]), incoming, return_as_tuples=True)
        )
        results = self._results(rows)
        while chunk := list(islice(results, _BATCH_ROWS)):
            yield from LocalDataToArrowConversion.convert(chunk, outgoing, False).to_batches()

    def _results(self, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        """Rows as `processors._schema` has them."""
        from pyspark import TaskContext

        sys.path.extend(path for path in self._paths if path not in sys.path)
        processors, running = pickle.loads(self._processors), TaskContext.get()
        assert running is not None
        links = {path: ProcessorLink(path) for path in {self._socket, *(access.socket for access in self.stores.values())}}
        try:
            piece = running.partitionId()
            now, tasks = self._tasks(links[self._socket], piece)
            times = self._stream_times(links[self._socket], piece)
            for partition, mine in groupby(rows, lambda row: row[_PARTITION]):
                yield from _ProcessedTask(self, processors, links, tasks.pop(partition), now, times[partition]).run(mine)
            for partition, left in tasks.items():
                if any(task_times.dues is None or task_times.dues for task_times in left):
                    yield from _ProcessedTask(self, processors, links, left, now, times[partition]).run(())
        finally:
            for link in links.values():
                link.close()

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


class _ProcessedTask:
    """Runs the records of one task in a batch."""

    def __init__(
        self, rows: ProcessorRows, processors: Sequence[WorkerProcessor], links: Mapping[str, ProcessorLink],
        tasks: Sequence[TaskTimes], now: int, times: Mapping[str, int],
    ) -> None:  # fmt: skip
        """tasks: the times of each processor's task; times: stream times of stores."""
        self._partition, self._depth, self.nodes = tasks[0].partition, rows.depth, rows.nodes
        self._changed: dict[str, ChangedRows] = {}
        self._rows_of: dict[str, ChangedRows] = {}
        self._out: list[tuple[Any, ...]] = []
        self._time, self._key, self._ahead = now, None, ()  # of the record that is processed
        stores: dict[str, Any] = {}
        for name, access in rows.stores.items():
            changed = ChangedRows(links[access.socket], name, 0 if access.is_global else self._partition)
            self._rows_of[name] = changed
            if access.store.kind is not StoreKind.KEY_VALUE:
                changed.stream_time = times[name]
            stores[name] = STORES[access.store.kind](access, changed, lambda: self._time, self._next_keys)
            if not access.is_global and not access.read_only:
                self._changed[name] = changed
        shared = {name for name, access in rows.stores.items() if access.is_global}
        self._task_processors = [
            _TaskProcessor(
                self, number, processor, task_times, {name: stores[name] for name in sorted(shared | processor.stores)}, now
            )
            for number, (processor, task_times) in enumerate(zip(processors, tasks, strict=True))
        ]

    def run(self, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        """Rows as `processors._schema` has them."""
        remaining = iter(rows)
        chunk = list(islice(remaining, _PREFETCH_RECORDS))
        # Places of records that an upstream operator forwarded from `init` or `close` are themselves below 0 or above _LAST.
        first, last = min([0, *chunk[0][_PLACE][:1]]) if chunk else 0, _LAST
        for number, member in enumerate(self._task_processors):
            member.init([first - len(self._task_processors) + number] * self._depth)
            yield from self._take_forwarded()
        while chunk:
            ahead = [tuple(row[_key_column(i)] for row in chunk if row[_NUMBER] == i) for i in range(len(self._task_processors))]
            for row in chunk:
                if row[_STORE] is not None:  # of a table that is read
                    self._rows_of[row[_STORE]].put(row[_KEY], row[_VALUE], row[_TIME])
                    continue
                number = row[_NUMBER]
                key, value = row[_key_column(number)], row[_key_column(number) + 1]
                headers = tuple((name, None if content is None else bytes(content)) for name, content in row[_HEADERS] or ())
                self._key, self._ahead = key, ahead[number]
                self._task_processors[number].process(Record(key, value, row[_TIME], headers), row[_PLACE])
                yield from self._take_forwarded()
            last = max([last, *chunk[-1][_PLACE][:1]])
            chunk = list(islice(remaining, _PREFETCH_RECORDS))
        for number, member in enumerate(self._task_processors):
            self._time, self._key, self._ahead = member.context.now, None, ()
            member.end([last + 1 + number] * self._depth)
            yield from self._take_forwarded()
        yield from self._changes()
        for member in self._task_processors:
            yield from member.times(self._partition)

    def process(self, number: int, record: Record, place: list[int]) -> None:
        """Pass a record to a processor of the group, while another one is processing."""
        before = self._time, self._key
        self._time, self._key = record.timestamp, None
        self._task_processors[number].process(record, place)
        self._time, self._key = before

    def set_time(self, time: int) -> None:
        """Set the timestamp of the following puts into stores."""
        self._time = time

    def forward(self, number: int, record: Record, place: list[int], child: str | None) -> None:
        """Forward a record to the operators downstream of a processor; child: to this one only."""
        pairs: list[Any] = [None] * (2 * len(self._task_processors))
        pairs[2 * number : 2 * number + 2] = record.key, record.value
        headers = list(record.headers) or None
        self._out.append((self._partition, record.timestamp, place, headers, number, *_NO_STORE_ROW, *pairs, child))

    def _take_forwarded(self) -> list[tuple[Any, ...]]:
        passed_on, self._out = self._out, []
        return passed_on

    def _changes(self) -> Iterator[tuple[Any, ...]]:
        pairs = (None,) * (2 * len(self._task_processors) + 1)
        for name, changed in self._changed.items():
            before = changed.previous_rows()
            if changed.stream_time >= 0:
                yield (self._partition, changed.stream_time, None, None, None, name, None, None, None, -2, *pairs)
            for time in changed.dropped:
                yield (self._partition, time, None, None, None, name, None, None, None, -3, *pairs)
            for key, (value, time) in changed.changes.items():
                if value is not None or before[key] is not None:
                    yield (self._partition, time, None, None, None, name, key, value, before[key], None, *pairs)

    def _next_keys(self, key: Any) -> Iterable[Any]:
        """The keys of the next records, if a processor looks up the key of this one."""
        return self._ahead if key == self._key else ()


def _key_column(number: int) -> int:
    """The index of a processor's key in a row."""
    return len(ROW_COLUMNS) + 2 * number


class _TaskProcessor:
    """One processor in one task."""

    def __init__(
        self, task: _ProcessedTask, number: int, processor: WorkerProcessor, times: TaskTimes, stores: Mapping[str, Any], now: int
    ) -> None:
        self._task, self._number, self._worker_processor = task, number, processor
        self._processor = processor.supplier()
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
        self._task.set_time(record.timestamp)
        self.context.stream_time = max(self.context.stream_time, record.timestamp)
        self._processor.process(record)
        self.context.punctuate(PunctuationType.STREAM_TIME)

    def end(self, place: list[int]) -> None:
        """End a batch."""
        self._record, self._place, self._forwarded = None, place, 0
        self.context.punctuate(PunctuationType.WALL_CLOCK_TIME)
        if hasattr(self._processor, "close"):
            self._processor.close()

    def times(self, partition: int) -> Iterator[tuple[Any, ...]]:
        """The next calls of punctuations, and the stream time (number -1)."""
        for number, schedule in enumerate(self.context.schedules):
            if not schedule.cancelled and schedule.kind is PunctuationType.WALL_CLOCK_TIME:
                yield self._time_row(partition, schedule.due, number)
        yield self._time_row(partition, self.context.stream_time, -1)

    def _time_row(self, partition: int, time: int, number: int) -> tuple[Any, ...]:
        pairs = (None,) * (2 * len(self._task._task_processors) + 1)
        return (partition, time, None, None, self._number, *_NO_STORE_ROW[:4], number, *pairs)

    def _forward(self, record: Record, child_name: str | None) -> None:
        if child_name is not None and child_name not in self._worker_processor.children:
            raise StreamsError(
                f"Unknown downstream node: {child_name} either does not exist or is not connected to this processor."
            )
        if self._record is not None and self._worker_processor.keeps_key and record.key != self._record.key:
            raise StreamsError(f"{self._worker_processor.node} may not change the key: take process for that.")
        place = [*self._place, self._forwarded]
        self._forwarded += 1
        self._task.forward(self._number, record, place, child_name)
        for other, child in self._worker_processor.forwards:
            if child_name in (None, self._task.nodes[other]):
                self._task.process(other, record, place if child is None else [*place, child])
