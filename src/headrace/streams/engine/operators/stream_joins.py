"""Windowed stream-stream joins, by the stream time that both sides share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.record import HEADERS_TYPE
from headrace.sql_functions import F, Window
from headrace.streams.engine import formats
from headrace.streams.engine.columns import checked, column, keyed, kind_of, null, union
from headrace.streams.engine.context import NULL_KEY_OR_VALUE, Context
from headrace.streams.engine.flows import Records
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.operators.windows import stream_time, with_place_of_time
from headrace.streams.engine.store_table import StoreTable
from headrace.streams.operations import JoinKind, SelfJoin, StreamJoin
from headrace.streams.windows import JoinWindows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_NUMBERS = 2**31  # that a row has room for


@dataclass(frozen=True)
class Sides:
    """Both streams of a join behind their buffers, with the names of the buffers' stores."""

    left: Records
    right: Records
    left_store: str
    right_store: str


def join(context: Context, node: str, operation: StreamJoin, sides: Sides) -> Records:
    """All pairs within the window of which one is new; for a left or outer join also unmatched records whose window is over."""
    tables = {True: _table(context, sides.left_store, sides.left), False: _table(context, sides.right_store, sides.right)}
    timed = context.compute_once(_both_sides(context, node, sides, tables))
    new = timed.where(context.takes(node, _has_part(operation.kind), NULL_KEY_OR_VALUE))
    pairs = context.compute_once(_pairs(new.where("k is not null"), tables, operation.windows))
    value = _value(node, operation, F.col("lv"), F.col("rv")).alias("v")
    joined = checked(lambda: pairs.select("p", "k", value, "t", "o", "h"), node)
    times = context.compute_once(timed.groupBy("p").agg(F.max("st").alias("ct")))
    context.advance_stream_time(node, times)
    for is_left, store in ((True, sides.left_store), (False, sides.right_store)):
        buffered = new.where((F.col("left") == is_left) & F.col("k").isNotNull())
        rows = context.compute_once(
            buffered.select(
                "p", "k", "w", "n", F.col("lv" if is_left else "rv").alias("v"), "t", *_no_previous_row(tables[is_left])
            )
        )
        context.put(store, rows)
        context.advance_stream_time(store, context.compute_once(rows.groupBy("p").agg(F.max("t").alias("ct"))), store)
    if operation.shared_store is not None:
        unmatched = _without_key(new, operation.kind).unionByName(_unmatched(context, node, operation, timed, pairs, times))
        joined = joined.unionByName(unmatched.select("p", "k", value, "t", "o", "h"))
    return Records(joined, ordered=False)


def _both_sides(context: Context, node: str, sides: Sides, tables: dict[bool, StoreTable]) -> DataFrame:
    """Both sides' records in one: p, k, w (time), n, left, lv, rv, t, o, h; st, the stream time that both sides share; lt and rt,
    the greatest time in each buffer, by which its rows expire.

    Records without a value join nothing, but advance stream time.
    """
    left, right = _numbered(sides.left.frame, tables[True]), _numbered(sides.right.frame, tables[False])
    kinds = kind_of(left, "v"), kind_of(right, "v")
    rows = ["p", "k", F.col("t").alias("w"), "n"]
    left_rows = left.select(*rows, F.lit(True).alias("left"), F.col("v").alias("lv"), null(kinds[1]).alias("rv"), "t", "o", "h")
    right_rows = right.select(
        *rows, F.lit(False).alias("left"), null(kinds[0]).alias("lv"), F.col("v").alias("rv"), "t", "o", "h"
    )
    frame, there = left_rows.unionByName(right_rows), F.col("k").isNotNull()
    frame = _with_stream_time(context, frame, "st", node, F.lit(True))
    frame = _with_stream_time(context, frame, "lt", sides.left_store, there & F.col("lv").isNotNull())
    return _with_stream_time(context, frame, "rt", sides.right_store, there & F.col("rv").isNotNull())


def _with_stream_time(context: Context, frame: DataFrame, name: str, clock: str, counts: Column, last: int = 0) -> DataFrame:
    """Add the stream time at each record, of the records that count. last: 0, or -1 for those before it only."""
    return frame.withColumn(name, stream_time(context, clock, [F.col("o")], F.when(counts, F.col("t")), last))


def _has_part(kind: JoinKind) -> Column:
    """Whether a record can give something: one without a key only to a side that is passed on without a match."""
    side = {JoinKind.INNER: F.lit(False), JoinKind.LEFT: F.col("left"), JoinKind.OUTER: F.lit(True)}[kind]
    return (F.col("lv").isNotNull() | F.col("rv").isNotNull()) & (F.col("k").isNotNull() | side)


def _without_key(new: DataFrame, kind: JoinKind) -> DataFrame:
    """Records without a key, which cannot match, and are emitted at once (KIP-962)."""
    is_outer_side = F.lit(True) if kind is JoinKind.OUTER else F.col("left")
    return new.where(F.col("k").isNull() & is_outer_side).select("p", "k", "lv", "rv", "t", "o", "h")


def self_join(context: Context, node: str, operation: SelfJoin, records: Records, store: str) -> Records:
    """A stream joined with itself over one buffer: the results of Kafka's KStreamKStreamSelfJoin, in its order."""
    windows, table = operation.windows, _table(context, store, records)
    there = context.takes(node, "k is not null and v is not null", NULL_KEY_OR_VALUE)
    frame = _numbered(records.frame.where(there), table)
    frame = _with_stream_time(context, frame, "st", store, F.lit(True))
    frame = _with_stream_time(context, frame, "before", store, F.lit(True), last=-1)
    new = context.compute_once(frame.select("p", "k", F.col("t").alias("w"), "n", "v", "t", "o", "h", "st", "before"))
    others = _candidates(table, new, new.select("p", "k", "w", "n", "v", "o"), max(windows.before_ms, windows.after_ms))
    met, mine, theirs = [], F.col("v"), F.col("x_v")
    for turn, (low, high), sides in (
        (0, (windows.before_ms, windows.after_ms), (mine, theirs)),
        (1, (windows.after_ms, windows.before_ms), (theirs, mine)),
    ):
        newest = F.coalesce("before", F.lit(-1))
        pairs = new.join(others, _in_join_window(low, high) & (F.col("x_w") > newest - F.lit(windows.retention_ms)))
        place = F.concat("o", F.array(F.lit(turn).cast("bigint")), _pair_order()).alias("o")
        time = F.greatest("w", "x_w").alias("t")
        met.append(pairs.select("p", "k", sides[0].alias("lv"), sides[1].alias("rv"), time, place, "h"))
    itself = new.where(F.col("t") > F.col("st") - F.lit(windows.retention_ms - 1))
    last = F.concat("o", F.array(F.lit(1).cast("bigint"), F.col("w"), F.lit(2).cast("bigint"))).alias("o")  # of those of its time
    met.append(itself.select("p", "k", mine.alias("lv"), mine.alias("rv"), "t", last, "h"))
    context.put(store, context.compute_once(new.select("p", "k", "w", "n", "v", "t", *_no_previous_row(table))))
    context.advance_stream_time(store, context.compute_once(new.groupBy("p").agg(F.max("st").alias("ct"))), store)
    value = column(keyed(operation.joiner, node, F.col("k"), F.col("lv"), F.col("rv"))).alias("v")
    return Records(checked(lambda: union(met).select("p", "k", value, "t", "o", "h"), node), ordered=False)


def _numbered(records: DataFrame, table: StoreTable) -> DataFrame:
    """Add `n`, which distinguishes records of one key and time, as Kafka's sequence number: behind those in their buffer."""
    same = Window.partitionBy("p", "k", "t").orderBy("o").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    records = records.withColumn("n", F.row_number().over(same))
    # Asked of the store once for all of them.
    stored = F.when(F.col("n") == 1, table.last_number(F.col("p"), F.col("k"), F.col("t")))
    number = F.coalesce(F.max(stored).over(same), F.lit(-1)) + F.col("n")
    return records.withColumn("n", F.pmod(number, F.lit(_NUMBERS)).cast("int"))


def _table(context: Context, store: str, records: Records) -> StoreTable:
    from pyspark.sql.types import IntegerType, LongType

    keys = (("k", kind_of(records.frame, "k")), ("w", LongType()), ("n", IntegerType()))
    return context.state.table(store, Layout(keys, kind_of(records.frame, "v")))


def _no_previous_row(table: StoreTable) -> list[Column]:
    return [null(table.layout.value).alias("ov"), F.lit(None).cast("bigint").alias("ot")]


def _pairs(new: DataFrame, tables: dict[bool, StoreTable], windows: JoinWindows) -> DataFrame:
    """Each new record with those of the other side before it, in the order of their time.

    Columns p, k, lv, rv, t, o; h of the new record; what met (lw, ln, rw, rn), and when (st, by_left).
    """
    pairs = []
    for is_left in (True, False):
        mine, theirs = ("lv", "rv") if is_left else ("rv", "lv")
        low, high = (windows.before_ms, windows.after_ms) if is_left else (windows.after_ms, windows.before_ms)
        come = new.where(F.col("left") != is_left).select("p", "k", "w", "n", F.col(theirs).alias("v"), "o")
        probe = new.where(F.col("left") == is_left).drop(theirs)
        others = _candidates(tables[not is_left], probe, come, low).withColumnRenamed("x_v", theirs)
        newest = F.coalesce("rt" if is_left else "lt", F.lit(-1))
        met = probe.join(others, _in_join_window(low, high) & (F.col("x_w") > newest - F.lit(windows.retention_ms)))
        names = ("w", "n", "x_w", "x_n") if is_left else ("x_w", "x_n", "w", "n")
        left_right = [F.col(name).alias(alias) for name, alias in zip(names, ("lw", "ln", "rw", "rn"), strict=True)]
        time, place = F.greatest("w", "x_w").alias("t"), F.concat("o", _pair_order()).alias("o")
        pairs.append(met.select("p", "k", mine, theirs, time, place, "h", "st", F.lit(is_left).alias("by_left"), *left_right))
    return union(pairs)


def _candidates(table: StoreTable, new: DataFrame, come: DataFrame, low: int) -> DataFrame:
    """The join candidates of `new` records: the rows of their keys in a buffer, and its new rows of this batch. Columns x_p, x_k,
    x_w, x_n, x_v, x_o (empty: they were in the buffer before).

    low: how long before a record another one may be to join with it, in ms.
    """
    rows_of_key = table.rows_of_key(F.col("p"), F.col("k"), F.col("first") - F.lit(low))
    stored = new.groupBy("p", "k").agg(F.min("w").alias("first")).select("p", "k", F.explode(rows_of_key).alias("row"))
    stored = stored.select("p", "k", "row.w", "row.n", "row.v", F.array().cast("array<bigint>").alias("o"))
    return stored.unionByName(come).withColumnsRenamed({name: f"x_{name}" for name in ("p", "k", "w", "n", "v", "o")})


def _in_join_window(low: int, high: int) -> Column:
    """Whether the other record precedes this one in the order of the task, and is within the join window."""
    same = (F.col("p") == F.col("x_p")) & (F.col("k") == F.col("x_k")) & (F.col("x_o") < F.col("o"))
    return same & (F.col("x_w") >= F.col("w") - F.lit(low)) & (F.col("x_w") <= F.col("w") + F.lit(high))


def _pair_order() -> Column:
    """The order of a pair among those of one record: by the other record's timestamp, and then by its arrival."""
    is_new = F.size("x_o") > 0
    number = F.when(is_new, F.col("x_o")).otherwise(F.array(F.col("x_n").cast("bigint")))
    return F.concat(F.array(F.col("x_w"), is_new.cast("bigint")), number)


def _value(node: str, operation: StreamJoin, left: Column, right: Column) -> Column:
    return column(keyed(operation.joiner, node, F.col("k"), left, right))


def _unmatched(
    context: Context, node: str, operation: StreamJoin, timed: DataFrame, pairs: DataFrame, times: DataFrame
) -> DataFrame:
    """The unmatched records whose window is over; others wait in the shared store. timed: of `_both_sides`."""
    from pyspark.sql.types import BooleanType, LongType, StructField, StructType

    new = timed.where("(lv is not null or rv is not null) and k is not null")
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
    windows = operation.windows
    wait = F.when(F.col("k.left"), F.lit(windows.after_ms)).otherwise(F.lit(windows.before_ms)) + F.lit(windows.grace_ms)
    table = context.state.table(operation.shared_store, Layout((("k", stored),), value), F.col("k.w") + wait)
    is_outer_side = F.lit(True) if operation.kind is JoinKind.OUTER else F.col("left")
    key = F.struct("k", "w", F.col("n").cast("bigint").alias("n"), "left")
    fresh = new.where(is_outer_side).select(
        "p", key.alias("k"), F.struct("lv", "rv").alias("v"), "t", "o", F.col("st").alias("now")
    )
    sides = [_matched_rows(pairs, side) for side in ("l", "r")]
    met = context.compute_once(sides[0].unionByName(sides[1]).groupBy("p", "k").agg(F.min("st").alias("first")))
    waiting = _removable_rows(table, met, times)
    waiting = waiting.select("p", "k", "v", "t", F.lit(None).alias("o"), F.lit(None).alias("now"))
    rows = fresh.unionByName(waiting).withColumn("until", F.col("t") + wait)
    rows = rows.join(met, ["p", "k"], "left").join(times, "p", "left")
    rows = rows.withColumn("ct", F.greatest("ct", context.stream_time(node)))
    over = F.col("until") < F.coalesce("ct", F.lit(-1))
    matched = F.col("first").isNotNull() & (F.col("first") <= F.col("until"))
    state = F.when(matched, F.lit("matched")).when(over, F.lit("unmatched")).otherwise(F.lit("waits"))
    rows = context.compute_once(rows.withColumn("state", state))
    stays = rows.where("now is not null and state = 'waits'").select("p", "k", "v", "t", *_no_previous_row(table))
    leaves = rows.where("now is null and state <> 'waits'").select(
        "p", "k", null(value).alias("v"), "t", F.col("v").alias("ov"), F.col("t").alias("ot")
    )
    context.put(operation.shared_store, context.compute_once(stays.unionByName(leaves)))
    alone = rows.where("state = 'unmatched'").select("p", "k", "v", "t", "o", "now", (F.col("until") + F.lit(1)).alias("at"))
    key_serde = context.state.stores[operation.shared_store].key_serde
    return _in_order(alone, timed, formats.encoded(key_serde, F.col("k.k"), stored["k"].dataType, f"key of {node}"))


def _in_order(alone: DataFrame, timed: DataFrame, key: Column) -> DataFrame:
    """Unmatched records at the place of the record that ends their wait, before its pairs, in the order of Kafka's shared store:
    by time, side and key. key: its bytes.
    """
    placed = with_place_of_time(alone, timed.select("p", "o", F.col("st").alias("now")))
    number = F.row_number().over(Window.partitionBy("p", "place").orderBy("t", "k.left", key, "k.n"))
    place = F.concat("place", F.array(F.lit(-1).cast("bigint"), number.cast("bigint"))).alias("o")
    headers = F.lit(None).cast(HEADERS_TYPE).alias("h")  # Kafka's are those of the record that ends the wait
    return placed.select("p", F.col("k.k").alias("k"), "v.lv", "v.rv", "t", place, headers)


def _removable_rows(table: StoreTable, met: DataFrame, times: DataFrame) -> DataFrame:
    """The rows to remove from the shared store: those matched in this batch, and those whose window is over."""
    matched = table.lookup(met).where("sv is not null").select("p", "k", F.col("sv").alias("v"), F.col("st").alias("t"))
    over = table.due(times.where("ct is not null"), F.col("ct") - F.lit(1))
    return matched.unionByName(over.join(met, ["p", "k"], "left_anti"))


def _matched_rows(pairs: DataFrame, side: str) -> DataFrame:
    """The matched records of a side: p, k as in the shared store, and the stream time of the match, -1 at their arrival."""
    is_left = F.lit(side == "l")
    key = F.struct("k", F.col(f"{side}w").alias("w"), F.col(f"{side}n").cast("bigint").alias("n"), is_left.alias("left"))
    return pairs.select("p", key.alias("k"), F.when(F.col("by_left") == is_left, F.lit(-1)).otherwise(F.col("st")).alias("st"))
