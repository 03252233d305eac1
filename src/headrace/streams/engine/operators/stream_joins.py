"""Joins of two streams in a window of time, by the stream time that both sides share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.streams.engine.columns import HEADERS, checked, column, keyed, kind_of, null
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import Records
from headrace.streams.engine.operators.windows import timed
from headrace.streams.engine.state import Layout, Table
from headrace.streams.operations import JoinKind, SelfJoin, StreamJoin
from headrace.streams.windows import JoinWindows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_NUMBER = 2**31


@dataclass(frozen=True)
class Sides:
    """Both streams of a join behind their buffers, with the names of the buffers' stores."""

    left: Records
    right: Records
    left_store: str
    right_store: str


def join(context: Context, node: str, operation: StreamJoin, sides: Sides) -> Records:
    """All pairs near in time of which one is new; for a left or outer join also records whose time is over without a partner."""
    from pyspark.sql import functions as F

    new = context.cut(_new(context, node, sides))
    tables = {True: _table(context, sides.left_store, sides.left), False: _table(context, sides.right_store, sides.right)}
    windows = operation.windows
    pairs = context.cut(_pairs(new, tables, windows))
    joined = pairs.select("p", "k", _value(node, operation, F.col("lv"), F.col("rv")).alias("v"), "t", "o")
    times = context.cut(new.groupBy("p").agg(F.max("st").alias("ct")))
    context.tick(node, times, sides.left_store, sides.right_store)
    for is_left, store in ((True, sides.left_store), (False, sides.right_store)):
        kept = new.where((F.col("left") == is_left) & F.col("k").isNotNull())
        context.put(store, context.cut(kept.select("p", "k", "w", "n", F.col("lv" if is_left else "rv").alias("v"),
                                                  "t", *_none(tables[is_left]))))  # fmt: skip
    if operation.shared_store is not None:
        alone = _alone(context, node, operation, new, pairs, times)
        joined = joined.unionByName(
            alone.select("p", "k", _value(node, operation, F.col("lv"), F.col("rv")).alias("v"), "t", "o")
        )
    return Records(checked(lambda: joined.withColumn("h", F.lit(None).cast(HEADERS)), node))


def self_join(context: Context, node: str, operation: SelfJoin, records: Records, store: str) -> Records:
    """A stream with itself: every record with itself and with those near to it, each pair in both ways."""
    from pyspark.sql import functions as F

    frame = records.frame.where("k is not null and v is not null")
    number = _number()
    new = context.cut(frame.select("p", "k", F.col("t").alias("w"), number.alias("n"), "v", "t", "o"))
    table = _table(context, store, records)
    known = table.rows().select("p", "k", "t", "v", F.array().cast("array<bigint>").alias("o"))
    either = known.unionByName(new.select("p", "k", "t", "v", "o"))
    other = either.select(
        F.col("p").alias("p2"), F.col("k").alias("k2"), F.col("t").alias("t2"), F.col("v").alias("v2"), F.col("o").alias("o2")
    )
    w = operation.windows
    same = (F.col("p") == F.col("p2")) & (F.col("k") == F.col("k2")) & (F.col("o2") <= F.col("o"))
    forth = (F.col("t2") >= F.col("t") - w.before_ms) & (F.col("t2") <= F.col("t") + w.after_ms)
    back = (F.col("t") >= F.col("t2") - w.before_ms) & (F.col("t") <= F.col("t2") + w.after_ms)
    met = new.join(other, same)
    time, place = F.greatest("t", "t2"), F.col("o")
    one = met.where(forth).select("p", "k", F.col("v").alias("lv"), F.col("v2").alias("rv"), time.alias("t"), place.alias("o"))
    two = met.where(back & (F.col("o2") < F.col("o"))).select(
        "p", "k", F.col("v2").alias("lv"), F.col("v").alias("rv"), time.alias("t"), place.alias("o")
    )
    context.put(store, context.cut(new.select("p", "k", "w", "n", "v", "t", *_none(table))))
    both = one.unionByName(two)
    value = column(keyed(operation.joiner, node, F.col("k"), F.col("lv"), F.col("rv")))
    return Records(checked(lambda: both.select("p", "k", value.alias("v"), "t", "o", F.lit(None).cast(HEADERS).alias("h")), node))


def _new(context: Context, node: str, sides: Sides) -> DataFrame:
    """Both sides' records in one: p, k, w (time), n, left, lv, rv, t, o, st."""
    from pyspark.sql import functions as F

    left, right = sides.left.frame.where("v is not null"), sides.right.frame.where("v is not null")
    kinds = kind_of(left, "v"), kind_of(right, "v")
    rows = ["p", "k", F.col("t").alias("w"), _number().alias("n")]
    one = left.select(*rows, F.lit(True).alias("left"), F.col("v").alias("lv"), null(kinds[1]).alias("rv"), "t", "o")
    two = right.select(*rows, F.lit(False).alias("left"), null(kinds[0]).alias("lv"), F.col("v").alias("rv"), "t", "o")
    return timed(context, node, one.unionByName(two), [F.col("o")])


def _number() -> Column:
    """Tells records of one key and time apart, as Kafka's sequence number does."""
    from pyspark.sql import functions as F

    return F.pmod(F.aggregate("o", F.lit(0).cast("bigint"), lambda a, x: a * F.lit(31) + x), F.lit(_NUMBER)).cast("int")


def _table(context: Context, store: str, records: Records) -> Table:
    from pyspark.sql.types import IntegerType, LongType

    keys = (("k", kind_of(records.frame, "k")), ("w", LongType()), ("n", IntegerType()))
    return context.memory.table(store, Layout(keys, kind_of(records.frame, "v")))


def _none(table: Table) -> list[Column]:
    from pyspark.sql import functions as F

    return [null(table.layout.value).alias("ov"), F.lit(None).cast("bigint").alias("ot")]


def _pairs(new: DataFrame, tables: dict[bool, Table], windows: JoinWindows) -> DataFrame:
    """Each new record with those of the other side before it.

    Columns p, k, lv, rv, t, o; what met (lw, ln, rw, rn), and when (st, by_left).
    """
    from pyspark.sql import functions as F

    found: DataFrame | None = None
    for is_left in (True, False):
        theirs = "rv" if is_left else "lv"
        low, high = (windows.before_ms, windows.after_ms) if is_left else (windows.after_ms, windows.before_ms)
        known = (
            tables[not is_left]
            .rows()
            .select("p", "k", "w", "n", F.col("v").alias(theirs), F.array().cast("array<bigint>").alias("o"))
        )
        come = new.where(F.col("left") != is_left).select("p", "k", "w", "n", theirs, "o")
        names = {name: f"x_{name}" for name in ("p", "k", "w", "n", "o")}
        other = known.unionByName(come).withColumnsRenamed(names)
        one = new.where((F.col("left") == is_left) & F.col("k").isNotNull()).drop(theirs)
        near = (
            (F.col("p") == F.col("x_p")) & (F.col("k") == F.col("x_k")) & (F.col("x_o") < F.col("o"))
            & (F.col("x_w") >= F.col("w") - low) & (F.col("x_w") <= F.col("w") + high)
            & (F.col("x_w") > F.col("st") - F.lit(windows.retention_ms + 1))
        )  # fmt: skip
        met = one.join(other, near)
        names = ("w", "n", "x_w", "x_n") if is_left else ("x_w", "x_n", "w", "n")
        left_right = [F.col(name).alias(alias) for name, alias in zip(names, ("lw", "ln", "rw", "rn"), strict=True)]
        part = met.select(
            "p", "k", "lv", "rv", F.greatest("w", "x_w").alias("t"), "o", "st", F.lit(is_left).alias("by_left"), *left_right
        )
        found = part if found is None else found.unionByName(part)
    assert found is not None
    return found


def _value(node: str, operation: StreamJoin, left: Column, right: Column) -> Column:
    from pyspark.sql import functions as F

    return column(keyed(operation.joiner, node, F.col("k"), left, right))


def _alone(context: Context, node: str, operation: StreamJoin, new: DataFrame, pairs: DataFrame, times: DataFrame) -> DataFrame:
    """The records that remain without a partner and whose time is over; others wait in the shared store."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import BooleanType, LongType, StructField, StructType

    kinds = kind_of(new, "lv"), kind_of(new, "rv")
    value = StructType([StructField("lv", kinds[0]), StructField("rv", kinds[1])])
    stored = StructType(
        [
            StructField("k", kind_of(new, "k")),
            StructField("w", LongType()),
            StructField("n", LongType()),
            StructField("left", BooleanType()),
        ]
    )
    assert operation.shared_store is not None
    table = context.memory.table(operation.shared_store, Layout((("k", stored),), value))
    wanted = F.lit(True) if operation.kind is JoinKind.OUTER else F.col("left")
    key = F.struct("k", "w", F.col("n").cast("bigint").alias("n"), "left")
    fresh = new.where(wanted).select("p", key.alias("k"), F.struct("lv", "rv").alias("v"), "t", "o", F.lit(True).alias("new"))
    waiting = table.rows().select("p", "k", "v", "t", F.array().cast("array<bigint>").alias("o"), F.lit(False).alias("new"))
    windows = operation.windows
    wait = F.when(F.col("k.left"), F.lit(windows.after_ms)).otherwise(F.lit(windows.before_ms)) + F.lit(windows.grace_ms)
    rows = fresh.unionByName(waiting).withColumn("until", F.col("t") + wait)
    sides = [_met(pairs, side) for side in ("l", "r")]
    met = sides[0].unionByName(sides[1]).groupBy("p", "k").agg(F.min("st").alias("first"))
    rows = rows.join(met, ["p", "k"], "left").join(F.broadcast(times.unionByName(_missing(context, node, times))), "p", "left")
    over = F.col("until") < F.coalesce("ct", F.lit(-1))
    matched = F.col("first").isNotNull() & (F.col("first") <= F.col("until"))
    state = F.when(matched, F.lit("gone")).when(over, F.lit("alone")).otherwise(F.lit("waits"))
    rows = context.cut(rows.withColumn("state", state))
    stays = rows.where("new and state = 'waits'").select("p", "k", "v", "t", *_none(table))
    leaves = rows.where("not new and state <> 'waits'").select(
        "p", "k", null(value).alias("v"), "t", F.col("v").alias("ov"), F.col("t").alias("ot")
    )
    context.put(operation.shared_store, context.cut(stays.unionByName(leaves)))
    return rows.where("state = 'alone'").select("p", F.col("k.k").alias("k"), "v.lv", "v.rv", "t", "o")


def _met(pairs: DataFrame, side: str) -> DataFrame:
    """The records of a side that met a partner: p, k as in the shared store, and the stream time then, -1 when they came."""
    from pyspark.sql import functions as F

    is_left = F.lit(side == "l")
    key = F.struct("k", F.col(f"{side}w").alias("w"), F.col(f"{side}n").cast("bigint").alias("n"), is_left.alias("left"))
    return pairs.select("p", key.alias("k"), F.when(F.col("by_left") == is_left, F.lit(-1)).otherwise(F.col("st")).alias("st"))


def _missing(context: Context, node: str, times: DataFrame) -> DataFrame:
    """The stream times of tasks that have nothing in this batch."""
    return context.clock(node).join(times.select("p"), "p", "left_anti")
