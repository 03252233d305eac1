"""Processors of the user's: rows go through Spark's Python workers, those of a task in their order.

A processor finds its stores as they were before the batch, through the socket of the sub-topology's runtime. What it changes
comes back with what it forwards, and goes the way of all changes: into the changelog, and into the store at the end of the batch.
"""

from __future__ import annotations

import pickle
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from headrace.errors import ConfigError, StreamsError
from headrace.streams.engine import formats
from headrace.streams.engine.columns import HEADERS, kind_of, null
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import Changes, Records
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.processor_link import ProcessorLink, TaskTimes
from headrace.streams.operations import UserProcessor
from headrace.streams.processor_stores import STORES, ChangedRows, StoreAccess
from headrace.streams.processors import ProcessorContext, PunctuationType, Record
from headrace.streams.stores import StoreKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

_AT_ONCE = 1000  # records whose rows of a store are fetched with one request
_LAST = 1 << 62  # a place behind all records of a batch
_NOTHING = (None,) * 5


@dataclass(frozen=True)
class ProcessorStores:
    """The stores that a processor is connected with."""

    own: tuple[str, ...]
    read: Mapping[str, Changes]
    """Tables of other operators, by the names of their stores, which it sees as they are at the place of each record."""


def process(context: Context, node: str, operation: UserProcessor, records: Records, stores: ProcessorStores) -> Records:
    """What a processor forwards. Computed once, because it may do more than forward."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, BinaryType, IntegerType, LongType, StringType, StructField, StructType

    frame = records.frame
    key = kind_of(frame, "k") if operation.keeps_key else _kind(operation.supplier, "key_serde", kind_of(frame, "k"))
    value = _kind(operation.supplier, "value_serde", kind_of(frame, "v"))
    kinds = {"p": IntegerType(), "k": key, "v": value, "t": LongType(), "o": ArrayType(LongType()), "h": formats.parse(HEADERS)}
    more = {"store": StringType(), "key": BinaryType(), "value": BinaryType(), "old": BinaryType(), "due": IntegerType()}
    schema = StructType([StructField(name, kind) for name, kind in (kinds | more).items()])
    given = frame.select(*kinds)
    if stores.read:
        given = _with_changes(context, given, stores.read)
    order = [F.col("o")] if stores.read else records.order()
    ordered = context.cut(given).sortWithinPartitions("p", *order)
    worker = _Rows(node, operation, _access(context, stores), context.memory.runtime.socket(), records.depth)
    found = context.cut(context.spark.createDataFrame(ordered.rdd.mapPartitions(worker), schema))
    for store in stores.own:
        mine = found.where(F.col("store") == store)
        context.put_encoded(store, mine.where("due is null").select("p", "key", "value", "t", "old"))
        if context.memory.logs[store].versioned:
            context.tick(store, mine.where("due is not null").select("p", F.col("t").alias("ct")), store)
    found = found.where("store is null or due is null")
    context.due(node, found.where("due is not null").select("p", "due", "t"))
    context.tick(node, found.where("due < 0").select("p", F.col("t").alias("ct")), *_expiring(context, stores.own))
    forwarded = found.where("store is null and due is null").select(*kinds)
    return Records(forwarded, records.depth + 1 if records.depth else 0)


def _with_changes(context: Context, records: DataFrame, read: Mapping[str, Changes]) -> DataFrame:
    """The records, and among them the changes of tables: rows with the name of the store, and key and value as it has them."""
    from pyspark.sql import functions as F

    nothing = {"store": "string", "key": "binary", "value": "binary"}
    every = records.withColumns({name: F.lit(None).cast(kind) for name, kind in nothing.items()})
    for store, changes in read.items():
        log, versions = context.memory.logs[store], changes.versions
        if versions is None:
            raise StreamsError(f"The changes of the store {store} are not known one by one: a processor cannot read it.")
        value = formats.encoded(log.value_serde, F.col("v"), log.layout.value, log.what)
        named = {"store": F.lit(store), "key": log.key({"k": F.col("k")}), "value": value, "t": F.lit(0).cast("bigint")}
        rows = versions.withColumns(named)
        empty = {name: null(kind_of(records, name)) for name in ("k", "v", "h")}
        every = every.unionByName(rows.withColumns(empty).select(every.columns))
    return every


def _access(context: Context, stores: ProcessorStores) -> dict[str, StoreAccess]:
    memory, found = context.memory, {}
    for name, table in memory.global_tables.items():
        found[name] = StoreAccess(
            table.described, (table.layout.keys[0][1], table.layout.value), table.runtime.socket(), shared=True
        )
    for name in stores.read:
        table = memory.tables[name]
        kinds = table.layout.keys[0][1], table.layout.value
        found[name] = StoreAccess(table.described, kinds, memory.runtime.socket(), reads_only=True)
    for name in stores.own:
        described = memory.stores[name]
        serdes = described.key_serde or context.defaults[0], described.value_serde or context.defaults[1]
        if serdes[0] is None or serdes[1] is None:
            raise ConfigError(f"The store {name} has no serde of keys or values: give its builder both, or set default.*.serde.")
        described = replace(described, key_serde=serdes[0], value_serde=serdes[1])
        key, value = formats.type_of(serdes[0]), formats.type_of(serdes[1])
        memory.table(name, Layout(_keys(described.kind, key), value))
        found[name] = StoreAccess(described, (key, value), memory.runtime.socket())
    return found


def _keys(kind: StoreKind, key: DataType) -> tuple[tuple[str, DataType], ...]:
    from pyspark.sql.types import LongType

    more = {StoreKind.WINDOW: ("w",), StoreKind.SESSION: ("e", "w"), StoreKind.VERSIONED: ("w",)}.get(kind, ())
    return (("k", key), *((name, LongType()) for name in more))


def _expiring(context: Context, stores: tuple[str, ...]) -> list[str]:
    return [name for name in stores if context.memory.stores[name].kind in (StoreKind.WINDOW, StoreKind.SESSION)]


class _Rows:
    """Runs in Spark's Python workers: the rows of a piece, through a processor for each of its tasks."""

    def __init__(self, node: str, operation: UserProcessor, stores: Mapping[str, StoreAccess], socket: str, depth: int) -> None:
        from pyspark import cloudpickle

        self._node, self._keeps_key = node, operation.keeps_key
        self._stores, self._socket, self._depth = dict(stores), socket, max(depth, 1)
        # As bytes, so that a worker can be told before where this process finds the modules that the supplier needs.
        self._supplier, self._paths = cloudpickle.dumps(operation.supplier), list(sys.path)

    def __call__(self, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        from pyspark import TaskContext

        sys.path.extend(path for path in self._paths if path not in sys.path)
        supplier, running = pickle.loads(self._supplier), TaskContext.get()
        assert running is not None
        links = {path: ProcessorLink(path) for path in {self._socket, *(one.socket for one in self._stores.values())}}
        try:
            now, tasks = links[self._socket].begin(self._node, running.partitionId())
            times = self._stream_times(links[self._socket], running.partitionId())
            left = {task.partition: task for task in tasks}
            for partition, mine in groupby(rows, lambda row: row["p"]):
                yield from _ProcessedTask(self, links, left.pop(partition), now, times[partition]).run(supplier(), mine)
            for task in left.values():
                if task.dues is None or task.dues:
                    yield from _ProcessedTask(self, links, task, now, times[task.partition]).run(supplier(), ())
        finally:
            for link in links.values():
                link.close()

    def _stream_times(self, link: ProcessorLink, piece: int) -> dict[int, dict[str, int]]:
        """By task, those of versioned stores."""
        found: dict[int, dict[str, int]] = defaultdict(dict)
        for name, one in self._stores.items():
            if one.store.kind is StoreKind.VERSIONED:
                for task in link.begin(name, piece)[1]:
                    found[task.partition][name] = task.stream_time
        return found


class _ProcessedTask:
    """The records of one task in a batch, and what follows from them."""

    def __init__(
        self, rows: _Rows, links: Mapping[str, ProcessorLink], task: TaskTimes, now: int, times: Mapping[str, int]
    ) -> None:
        """times: stream times of versioned stores."""
        self._rows, self._partition = rows, task.partition
        self._changed: dict[str, ChangedRows] = {}
        self._rows_of: dict[str, ChangedRows] = {}
        self._forwarded: list[Record] = []
        self._time, self._key, self._ahead = now, None, ()  # of the record that is processed
        stores: dict[str, Any] = {}
        for name, one in rows._stores.items():
            changed = ChangedRows(links[one.socket], name, 0 if one.shared else task.partition)
            self._rows_of[name] = changed
            if one.store.kind is StoreKind.VERSIONED:
                changed.stream_time = times[name]
            stores[name] = STORES[one.store.kind](one, changed, self._now, self._next_keys)
            if not one.shared and not one.reads_only:
                self._changed[name] = changed
        dues = {number: due for number, due in (task.dues or {}).items() if number >= 0}
        self._context = ProcessorContext(task.partition, self._forwarded.append, stores, task.stream_time, now, dues)

    def run(self, processor: Any, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        """The rows of `process`."""
        context, given = self._context, iter(rows)
        if hasattr(processor, "init"):
            processor.init(context)
        while chunk := list(islice(given, _AT_ONCE)):
            self._ahead = tuple(row["k"] for row in chunk)
            for row in chunk:
                if "store" in row and row["store"] is not None:  # of a table that it reads
                    self._rows_of[row["store"]].put(row["key"], row["value"], row["t"])
                else:
                    yield from self._process(processor, row)
        self._time, self._key, self._ahead = context.now, None, ()
        context.punctuate(PunctuationType.WALL_CLOCK_TIME)
        yield from self._passed_on([_LAST] * self._rows._depth, check=None)
        if hasattr(processor, "close"):
            processor.close()
        yield from self._changes()
        schedules = [(number, one) for number, one in enumerate(context.schedules) if not one.cancelled]
        for number, one in schedules:
            if one.kind is PunctuationType.WALL_CLOCK_TIME:
                yield (self._partition, None, None, one.due, None, None, *_NOTHING[:4], number)
        yield (self._partition, None, None, context.stream_time, None, None, *_NOTHING[:4], -1)

    def _process(self, processor: Any, row: Any) -> Iterator[tuple[Any, ...]]:
        self._time, self._key = row["t"], row["k"]
        headers = tuple((name, bytes(value)) for name, value in row["h"] or ())
        self._context.stream_time = max(self._context.stream_time, row["t"])
        processor.process(Record(row["k"], row["v"], row["t"], headers))
        self._context.punctuate(PunctuationType.STREAM_TIME)
        yield from self._passed_on(row["o"], check=row)

    def _passed_on(self, place: list[int], check: Any) -> Iterator[tuple[Any, ...]]:
        for number, record in enumerate(self._forwarded):
            if check is not None and self._rows._keeps_key and record.key != check["k"]:
                raise StreamsError(f"{self._rows._node} may not change the key: take process for that.")
            headers = list(record.headers) or None
            yield (self._partition, record.key, record.value, record.timestamp, [*place, number], headers, *_NOTHING)
        self._forwarded.clear()

    def _changes(self) -> Iterator[tuple[Any, ...]]:
        for name, changed in self._changed.items():
            before = changed.before()
            if changed.stream_time >= 0:
                yield (self._partition, None, None, changed.stream_time, None, None, name, None, None, None, -2)
            for key, (value, time) in changed.changes.items():
                if value is not None or before[key] is not None:
                    yield (self._partition, None, None, time, None, None, name, key, value, before[key], None)

    def _now(self) -> int:
        return self._time

    def _next_keys(self, key: Any) -> Iterable[Any]:
        """The keys of the next records, if a processor asks for the key of this one."""
        return self._ahead if key == self._key else ()


def _kind(supplier: Any, serde: str, given: DataType) -> DataType:
    found = getattr(supplier, serde, None)
    return given if found is None else formats.type_of(found)
