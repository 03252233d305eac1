"""Versioned tables (KIP-889): every version of a row has its time, and may be out of order (KIP-914).

A record is put at its time, unless that is beyond the store's history retention. Only the last version of a key is a change for
downstream operators (joins of tables, groups); a stream-table join uses the version at the time of the stream's record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.sql_functions import F, Window
from headrace.streams.engine.columns import kind_of
from headrace.streams.engine.context import EXPIRED_PUT, Context
from headrace.streams.engine.flows import Changes
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.operators.windows import stream_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.streams.engine.store_table import StoreTable


def put(context: Context, store: str, frame: DataFrame) -> Changes:
    """Put versions into a store; returns the changes. frame: p, k, v, t, o."""
    from pyspark.sql.types import LongType

    kind = kind_of(frame, "v")
    table = context.state.table(store, Layout((("k", kind_of(frame, "k")), ("w", LongType())), kind))
    timed = frame.withColumn("now", stream_time(context, store, [F.col("o")], F.col("t")))
    timed = context.compute_once(timed)
    context.advance_stream_time(store, timed.groupBy("p").agg(F.max("now").alias("ct")), store)
    in_history = F.col("t") >= F.col("now") - F.lit(_retention(context, store))
    accepted = timed.where(context.takes(store, in_history, EXPIRED_PUT))
    before = Window.partitionBy("p", "k").orderBy("o").rowsBetween(Window.unboundedPreceding, -1)
    looked_up = table.version(accepted, F.lit(2**63 - 1))  # the last version, one that deletes as well
    newest = F.greatest(F.max("t").over(before), F.col("st"))
    looked_up = looked_up.withColumn("latest", F.coalesce(F.col("t") >= newest, F.lit(True)))
    last = F.last(F.when(F.col("latest"), F.struct("v")), ignorenulls=True).over(before)
    old = F.when(last.isNotNull(), last["v"]).otherwise(F.col("sv"))
    puts = context.compute_once(looked_up.select("p", "k", old.alias("old"), F.col("v").alias("new"), "t", "o", "latest"))
    rows = puts.groupBy("p", "k", "t").agg(F.max_by(F.struct("new"), "o").alias("x"))
    stored = table.row_of_version(F.col("p"), F.col("k"), F.col("t")).alias("old")
    context.put(store, rows.select("p", "k", F.col("t").alias("w"), F.col("x.new").alias("v"), "t", stored))
    return _changes(context, store, table, puts)


def _changes(context: Context, store: str, table: StoreTable, puts: DataFrame) -> Changes:
    latest = puts.where("latest")
    ends = latest.groupBy("p", "k").agg(
        F.min_by(F.struct("old"), "o").alias("first"), F.max_by(F.struct("new", "t", "o"), "o").alias("last")
    )
    changed = ends.select("p", "k", F.col("first.old").alias("old"), F.col("last.new").alias("new"), "last.t", "last.o")
    versions = latest.select("p", "k", F.col("new").alias("v"), "o", F.col("o").alias("at"))

    def as_of(lookup_keys: DataFrame) -> DataFrame:
        return _as_of(context, store, table, puts, lookup_keys)

    return Changes(context.compute_once(changed), table.lookup, versions, puts=puts.drop("latest"), as_of=as_of)


def _as_of(context: Context, store: str, table: StoreTable, puts: DataFrame, lookup_keys: DataFrame) -> DataFrame:
    """Add `other`: of the versions that had come at the place of a row, the last one that is not after its time `t`. Beyond the
    retention there is only the last version of all.
    """
    names = lookup_keys.columns
    # The stream time of the store and the last version of the key at the place of each row.
    put = puts.select("p", "k", "o", F.col("t").alias("w"), F.col("new").alias("v"))
    mine = lookup_keys.select("p", "k", "o", F.struct(*names).alias("r"), F.lit(None).cast("bigint").alias("w"))
    both = mine.unionByName(put.select("p", "k", "o", F.lit(None).alias("r"), "w"))
    of_task = Window.partitionBy("p").orderBy("o").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    rows_of_key = Window.partitionBy("p", "k").orderBy("o").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    both = both.withColumns({"now": F.max("w").over(of_task), "newest": F.max("w").over(rows_of_key)}).where("r is not null")
    there = put.withColumnsRenamed({name: f"x_{name}" for name in put.columns})
    met = (
        (F.col("p") == F.col("x_p")) & (F.col("k") == F.col("x_k")) & (F.col("x_o") < F.col("o")) & (F.col("x_w") <= F.col("r.t"))
    )
    joined = both.join(there, met, "left").groupBy("p", "o").agg(
        F.first("r").alias("r"), F.first("now").alias("now"), F.first("newest").alias("newest"),
        F.max_by(F.struct(F.col("x_v").alias("v"), F.col("x_w").alias("w")), F.struct("x_w", "x_o")).alias("x"),
    )  # fmt: skip
    # The column by which rows are partitioned, not its copy: else what follows would move them.
    row = [F.col("p"), *[F.col(f"r.{name}").alias(name) for name in names if name != "p"]]
    joined = joined.select(*row, "now", "newest", "x")
    joined = table.version(joined, F.col("t")).withColumnsRenamed({"sv": "then_v", "st": "then_w"})
    joined = table.version(joined, F.lit(2**63 - 1))
    new = F.coalesce(F.col("x.w") >= F.col("then_w"), F.col("x.w").isNotNull())
    value, time = F.when(new, F.col("x.v")).otherwise(F.col("then_v")), F.greatest("x.w", "then_w")
    begin = F.greatest(F.col("now"), context.stream_time(store)) - F.lit(_retention(context, store))
    forgotten = (F.col("t") < begin) & (time < F.greatest("newest", "st"))
    other = F.when(~F.coalesce(forgotten, F.lit(False)), value)
    return joined.select(*names, other.alias("other"))


def _retention(context: Context, store: str) -> int:
    return context.state.stores[store].retention_ms or 0
