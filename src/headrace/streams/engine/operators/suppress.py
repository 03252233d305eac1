"""Holds changes of a table back until their window is over, or for some time (KIP-328)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.streams.engine import formats
from headrace.streams.engine.columns import kind_of, null
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import Changes
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.operators.tables import one_each
from headrace.streams.operations import Suppress

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

    from headrace.streams.engine.flows import Lookup
    from headrace.streams.engine.state import StoreTable
    from headrace.streams.stores import StateStore
    from headrace.streams.suppressed import BufferConfig

_UNBOUNDED = 2**63 - 1


def suppress(context: Context, node: str, operation: Suppress, changes: Changes, windowed: bool) -> Changes:
    """Pass on the last change of each key when its time has come; until then it waits in the store.

    windowed: the time is the end of the key's window, else that of the first change that waits. A buffer that holds more records
    or bytes than it may after a batch passes on the oldest, or ends the application: one with a bound is read as a whole.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import LongType, StructField, StructType

    buffer = operation.suppressed.buffer
    kind = kind_of(changes.frame, "new")
    value = StructType([StructField("new", kind), StructField("old", kind), StructField("since", LongType())])
    layout = Layout((("k", kind_of(changes.frame, "k")),), value)
    table = context.memory.table(operation.store, layout, F.col("k.end") if windowed else F.col("v.since"))
    looked = table.lookup(one_each(changes).select("p", "k", "old", "new", "t", "o"))
    since = F.col("k.end") if windowed else F.coalesce(F.col("sv.since"), F.col("t"))
    held = F.when(F.col("sv").isNotNull(), F.col("sv.old")).otherwise(F.col("old"))
    fresh = looked.select(
        "p", "k", F.struct(F.col("new").alias("new"), held.alias("old"), since.alias("since")).alias("v"), "t", "o",
        F.col("sv").alias("ov"), F.col("st").alias("ot"),
    )  # fmt: skip
    fresh = context.cut(fresh)
    times = context.cut(fresh.groupBy("p").agg(F.max("t").alias("ct")))
    context.tick(node, times)
    bounded = buffer.max_record_count is not None or buffer.max_byte_count is not None
    wait = F.lit(operation.wait_ms)
    due = table.rows() if bounded else table.due(times.where("ct is not null"), F.col("ct") - wait)
    waiting = due.join(fresh.select("p", "k"), ["p", "k"], "left_anti")
    waiting = waiting.select(
        "p", "k", "v", "t", F.array().cast("array<bigint>").alias("o"), F.col("v").alias("ov"), F.col("t").alias("ot")
    )
    rows = waiting.unionByName(fresh).join(times, "p", "left").withColumn("ct", F.greatest("ct", context.clock(node)))
    out = F.col("v.since") + wait <= F.coalesce("ct", F.lit(-1))
    rows = rows.withColumn("out", out)
    if bounded:
        size = _size(node, context.memory.stores[operation.store], kind_of(rows, "k"), kind)
        rows = _bounded(node, rows.withColumn("size", size), buffer)
    rows = context.cut(rows)
    passed = rows.where("out")
    put = rows.where("not out and not (ov <=> v)").select("p", "k", "v", "t", "ov", "ot")
    gone = passed.where("ov is not null").select("p", "k", null(value).alias("v"), "t", "ov", "ot")
    context.put(operation.store, context.cut(put.unionByName(gone)))
    lookup = _passed_on(table, changes.lookup) if changes.lookup else None
    return Changes(passed.select("p", "k", "v.old", "v.new", "t", "o").where("old is not null or new is not null"), lookup)


def _passed_on(buffer: StoreTable, upstream: Lookup) -> Lookup:
    """Looks up what has been passed on: of a row that waits, what it was before."""
    from pyspark.sql import functions as F

    def lookup(asked: DataFrame) -> DataFrame:
        found = buffer.lookup(asked).withColumnsRenamed({"sv": "__held", "st": "__since"})
        held = F.col("__held").isNotNull()
        found = upstream(found).withColumn("sv", F.when(held, F.col("__held.old")).otherwise(F.col("sv")))
        return found.withColumn("st", F.when(F.col("sv").isNotNull(), F.col("st"))).drop("__held", "__since")

    return lookup


def _size(node: str, store: StateStore, key: DataType, value: DataType) -> Column:
    """The bytes of a row's key and new value as the table's serdes write them, or those that fit the types."""
    from pyspark.sql import functions as F

    parts = (
        formats.encoded(store.key_serde, F.col("k"), key, f"key of {node}"),
        formats.encoded(store.value_serde, F.col("v.new"), value, f"value of {node}"),
    )
    return F.coalesce(F.length(parts[0]), F.lit(0)) + F.coalesce(F.length(parts[1]), F.lit(0))


def _bounded(node: str, rows: DataFrame, buffer: BufferConfig) -> DataFrame:
    """The rows with those `out` as well that are too many: the oldest of each task."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    held = Window.partitionBy("p", "out")
    youngest = held.orderBy(F.col("v.since").desc(), F.col("t").desc(), F.col("o").desc())
    so_far = youngest.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    limits = buffer.max_record_count, buffer.max_byte_count
    most = tuple(_UNBOUNDED if limit is None else limit for limit in limits)
    too_many = ~F.col("out") & ((F.row_number().over(youngest) > most[0]) | (F.sum("size").over(so_far) > most[1]))
    if buffer.emit_early:
        return rows.withColumn("out", F.col("out") | too_many)
    sentence = F.format_string(
        "%s buffer exceeded its max capacity. Currently [%d/%d] records and [%d/%d] bytes.",
        F.lit(node), F.count(F.lit(1)).over(held), F.lit(most[0]), F.sum("size").over(held), F.lit(most[1]),
    )  # fmt: skip
    return rows.withColumn("out", F.when(too_many, F.raise_error(sentence).cast("boolean")).otherwise(F.col("out")))
