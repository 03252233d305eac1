"""User processors: rows pass through Spark's Python workers (`processor_worker`), those of a task in order.

Changes of stores are returned together with forwarded records, and then handled like all changes: written to the changelog, and
applied to the store at the end of the batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.record import HEADERS_TYPE
from headrace.sql_functions import F
from headrace.streams.engine import formats
from headrace.streams.engine.columns import kind_of, null, union
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import Changes, Records
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.processor_worker import ROW_COLUMNS, ProcessorRows, WorkerProcessor
from headrace.streams.operations import UserProcessor
from headrace.streams.processor_stores import StoreAccess
from headrace.streams.stores import StoreKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType


@dataclass(frozen=True)
class ProcessorStores:
    """The stores that are connected to processors."""

    own: tuple[str, ...]
    """Stores that are not results of other operators."""
    read: Mapping[str, Changes]
    """Tables of other operators, by the names of their stores, read as of the place of each record."""


@dataclass(frozen=True)
class Processing:
    """A processor, alone or in a group of those that share stores."""

    node: str
    operation: UserProcessor
    records: Records | None
    """Its input from operators outside of the group; None without any."""
    forwards: tuple[tuple[int, int | None], ...] = ()
    """Its children in the group, by their number, each with its child order if it needs one."""
    stores: frozenset[str] = frozenset()
    """The stores that are connected to it."""
    children: tuple[str, ...] = ()
    """The names of all its children, the group's among them."""


@dataclass(frozen=True)
class Forwarded:
    """What a processor forwards: all of it, and of several children what each of them gets."""

    records: Records
    by_child: Mapping[str, Records]


def process(context: Context, together: Sequence[Processing], stores: ProcessorStores) -> list[Forwarded]:
    """The records that each processor of a group forwards. Computed once, because processors may have side effects.

    The inputs of a group are in one order: each record passes through all processors before the next one.
    """
    kinds = _kinds(together)
    alone = together[0].records if len(together) == 1 else None
    inputs = _worker_rows(context, together, kinds, stores.read)
    order = [F.col("o")] if alone is None or stores.read else alone.order()
    ordered = context.compute_once(inputs).sortWithinPartitions("p", *order)
    depth = alone.depth if alone is not None else 0
    processors = [_in_worker(processing) for processing in together]
    schemas = ordered.schema, _schema(kinds)
    worker = ProcessorRows(processors, _access(context, stores), context.state.runtime.socket(), depth, schemas)
    results = context.compute_once(ordered.mapInArrow(worker, schemas[1]))
    for store in stores.own:
        mine = results.where(F.col("store") == store)
        context.put_encoded(store, mine.where("due is null").select("p", "key", "value", "t", "old"))
        if context.state.stores[store].kind is not StoreKind.KEY_VALUE:  # expires by the times put into it
            context.advance_stream_time(store, mine.where("due = -2").select("p", F.col("t").alias("ct")), store)
            if context.state.stores[store].kind is not StoreKind.VERSIONED:  # whose `put` returns that it was rejected
                late = mine.where("due = -3").select(F.lit(store).alias("topic"), "p", "t")
                context.skip(late.toDF("topic", "partition", "offset"), store)
    forwarded = []
    for number, processing in enumerate(together):
        mine = results.where((F.col("m") == number) & F.col("store").isNull())
        context.schedule_punctuations(processing.node, mine.where("due is not null").select("p", "due", "t"))
        context.advance_stream_time(processing.node, mine.where("due < 0").select("p", F.col("t").alias("ct")))
        key, value = F.col(f"k{number}").alias("k"), F.col(f"v{number}").alias("v")
        rows = mine.where("due is null")
        row, place_length = ["p", key, value, "t", "o", "h"], depth + 1 if depth else 0
        by_child = {
            child: Records(rows.where(F.col("to").isNull() | (F.col("to") == child)).select(row), place_length)
            for child in (processing.children if len(processing.children) > 1 else ())
        }
        forwarded.append(Forwarded(Records(rows.select(row), place_length), by_child))
    return forwarded


def _in_worker(processing: Processing) -> WorkerProcessor:
    return WorkerProcessor(
        processing.node, processing.operation.supplier, processing.operation.keeps_key, processing.forwards, processing.stores,
        frozenset(processing.children),
    )  # fmt: skip


@dataclass(frozen=True)
class _Kinds:
    """The types of key and value of a processor's input and of its forwarded records."""

    received: tuple[DataType, DataType]
    forwarded: tuple[DataType, DataType]


def _kinds(together: Sequence[Processing]) -> list[_Kinds]:
    kinds: list[_Kinds] = []
    for number, processing in enumerate(together):
        if processing.records is not None:
            input_kinds = kind_of(processing.records.frame, "k"), kind_of(processing.records.frame, "v")
        else:
            input_kinds = next(kinds[i].forwarded for i in range(number) if number in dict(together[i].forwards))
        key = (
            input_kinds[0]
            if processing.operation.keeps_key
            else _kind(processing.operation.supplier, "key_serde", input_kinds[0])
        )
        kinds.append(_Kinds(input_kinds, (key, _kind(processing.operation.supplier, "value_serde", input_kinds[1]))))
    return kinds


def _schema(kinds: Sequence[_Kinds]) -> StructType:
    from pyspark.sql.types import ArrayType, BinaryType, IntegerType, LongType, StringType, StructField, StructType

    place, headers = ArrayType(LongType()), formats.parse(HEADERS_TYPE)
    columns: dict[str, DataType] = {"p": IntegerType(), "t": LongType(), "o": place, "h": headers, "m": IntegerType()}
    columns |= {"store": StringType(), "key": BinaryType(), "value": BinaryType(), "old": BinaryType(), "due": IntegerType()}
    for number, processor_kinds in enumerate(kinds):
        columns |= {f"k{number}": processor_kinds.forwarded[0], f"v{number}": processor_kinds.forwarded[1]}
    columns["to"] = StringType()  # the child that a record is forwarded to, NULL for all
    return StructType([StructField(name, kind) for name, kind in columns.items()])


def _worker_rows(
    context: Context, together: Sequence[Processing], kinds: Sequence[_Kinds], read: Mapping[str, Changes]
) -> DataFrame:
    """The rows for a worker: `ROW_COLUMNS`, and key and value of each processor, of which a row has those of its own."""
    pairs = {f"k{i}": kind.received[0] for i, kind in enumerate(kinds)}
    pairs |= {f"v{i}": kind.received[1] for i, kind in enumerate(kinds)}
    columns = [*ROW_COLUMNS, *(name for i in range(len(kinds)) for name in (f"k{i}", f"v{i}"))]
    empty = {name: null(kind) for name, kind in pairs.items()}
    none = {"store": F.lit(None).cast("string"), "key": F.lit(None).cast("binary"), "value": F.lit(None).cast("binary")}
    frames = []
    for number, processing in enumerate(together):
        if processing.records is not None:
            pair = {f"k{number}": F.col("k"), f"v{number}": F.col("v")}
            frames.append(processing.records.frame.withColumns({"m": F.lit(number), **none, **empty, **pair}).select(columns))
    for store, changes in read.items():
        log, versions = context.state.logs[store], changes.versions
        if versions is None:
            raise StreamsError(f"The changes of the store {store} are not known one by one: a processor cannot read it.")
        value = formats.encoded(log.value_serde, F.col("v"), log.layout.value, log.what)
        named = {"store": F.lit(store), "key": log.key({"k": F.col("k")}), "value": value, "t": F.lit(0).cast("bigint")}
        placeholders = {"m": F.lit(-1), "h": F.lit(None).cast(HEADERS_TYPE)}
        frames.append(versions.withColumns(named | placeholders | empty).select(columns))
    return union(frames)


def _access(context: Context, stores: ProcessorStores) -> dict[str, StoreAccess]:
    state, accesses = context.state, {}
    for name, table in state.global_tables.items():
        accesses[name] = StoreAccess(
            table.store_with_serdes, (table.layout.keys[0][1], table.layout.value), table.runtime.socket(), is_global=True
        )
    for name in stores.read:
        table = state.tables[name]
        kinds = table.layout.keys[0][1], table.layout.value
        accesses[name] = StoreAccess(table.store_with_serdes, kinds, state.runtime.socket(), read_only=True)
    for name in stores.own:
        described = state.stores[name].with_default_serdes(*context.defaults)
        assert described.key_serde is not None and described.value_serde is not None
        key, value = formats.type_of(described.key_serde), formats.type_of(described.value_serde)
        state.table(name, Layout(_keys(described.kind, key), value))
        accesses[name] = StoreAccess(described, (key, value), state.runtime.socket())
    return accesses


def _keys(kind: StoreKind, key: DataType) -> tuple[tuple[str, DataType], ...]:
    from pyspark.sql.types import LongType

    more = {StoreKind.WINDOW: ("w",), StoreKind.SESSION: ("e", "w"), StoreKind.VERSIONED: ("w",)}.get(kind, ())
    return (("k", key), *((name, LongType()) for name in more))


def _kind(supplier: Any, serde: str, default: DataType) -> DataType:
    declared = getattr(supplier, serde, None)
    return default if declared is None else formats.type_of(declared)
