"""Buffers the records of a stream-table join with a grace period (KIP-923): each until stream time is past its own time plus
grace.

Then it is joined as if it arrived at that moment, the oldest record first. Late records are joined at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.record import HEADERS_TYPE
from headrace.sql_functions import F, Window
from headrace.streams.engine import formats
from headrace.streams.engine.columns import kind_of
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import Records
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.operators.windows import stream_time, with_place_of_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.streams.engine.store_table import StoreTable


def buffer_records(context: Context, node: str, store: str, grace_ms: int, records: Records) -> Records:
    """The records whose grace period is over, at the place of the record that advanced stream time."""
    at_once = records.frame.where("k is null or v is null")  # has no row, or is skipped
    frame = records.frame.where("k is not null and v is not null")
    timed = frame.withColumn("now", stream_time(context, store, [F.col("o")], F.col("t")))
    timed = context.compute_once(timed)
    times = context.compute_once(timed.groupBy("p").agg(F.max("now").alias("ct")))
    context.advance_stream_time(store, times)
    late = timed.where(F.col("t") < F.col("now") - F.lit(grace_ms))
    fresh = timed.where(F.col("t") >= F.col("now") - F.lit(grace_ms))
    due = _table(context, store, frame).due(times.where("ct is not null"), F.col("ct") - F.lit(grace_ms))
    rows = _with_new_records(due, fresh).withColumn("at", F.col("t") + F.lit(grace_ms))
    rows = context.compute_once(with_place_of_time(rows, timed).drop("at"))
    _update_buffer(context, store, rows)
    # A record and those that it releases: itself first, if it is late.
    passed = rows.where("place is not null")
    key = formats.encoded(context.state.stores[store].key_serde, F.col("k"), kind_of(frame, "k"), f"key of {node}")
    released = Window.partitionBy("p", "place").orderBy("t", key)  # as Kafka's buffer is sorted; behind it comes a number
    numbers = F.array(F.lit(1).cast("bigint"), F.dense_rank().over(released).cast("bigint"), F.col("fresh").cast("bigint"))
    turn = F.concat("place", numbers, F.col("o")).alias("o")
    turns = passed.select("p", "k", "v", "t", turn, "h")
    first = [
        passing.select("p", "k", "v", "t", F.concat("o", F.array(F.lit(0).cast("bigint"))).alias("o"), "h")
        for passing in (at_once, late)
    ]
    return Records(turns.unionByName(first[0]).unionByName(first[1]), ordered=False)


def _table(context: Context, store: str, frame: DataFrame) -> StoreTable:
    """The buffer, indexed by the timestamps of its records."""
    from pyspark.sql.types import ArrayType, LongType, StructField, StructType

    kinds = {"k": kind_of(frame, "k"), "t": LongType(), "o": ArrayType(LongType())}
    key = StructType([StructField(name, kind) for name, kind in kinds.items()])
    value = StructType([StructField("v", kind_of(frame, "v")), StructField("h", formats.parse(HEADERS_TYPE))])
    return context.state.table(store, Layout((("k", key),), value), F.col("k.t"))


def _with_new_records(due: DataFrame, fresh: DataFrame) -> DataFrame:
    """The buffered and the new records: p, k, v, t, h; o, the place of its arrival; now, the stream time then; fresh, whether it
    is of this batch.
    """
    there = due.select("p", "k.k", "v.v", "k.t", "v.h", "k.o", F.lit(None).cast("bigint").alias("now"))
    come = fresh.select("p", "k", "v", "t", "h", "o", "now")
    return there.withColumn("fresh", F.lit(False)).unionByName(come.withColumn("fresh", F.lit(True)))


def _update_buffer(context: Context, store: str, rows: DataFrame) -> None:
    table = context.state.tables[store]
    key, value = F.struct("k", "t", "o").alias("k"), F.struct("v", "h")
    nothing = F.lit(None).cast(table.layout.value)
    stays = rows.where("fresh and place is null")
    leaves = rows.where("not fresh and place is not null")
    none = [nothing.alias("ov"), F.lit(None).cast("bigint").alias("ot")]
    put = stays.select("p", key, value.cast(table.layout.value).alias("v"), "t", *none)
    deleted = leaves.select("p", key, nothing.alias("v"), "t", value.cast(table.layout.value).alias("ov"), F.col("t").alias("ot"))
    context.put(store, context.compute_once(put.unionByName(deleted)))
