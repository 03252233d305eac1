"""Sliding windows (KIP-450): one window for every set of a key's records within the time difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.sql_functions import F, Window
from headrace.streams.engine.columns import null
from headrace.streams.engine.context import EXPIRED_WINDOW, NULL_KEY_OR_VALUE, Context
from headrace.streams.engine.flows import AggregationInput, Changes
from headrace.streams.engine.operators import aggregates
from headrace.streams.engine.operators.inputs import aggregate_with, records_of_inputs, records_per_key
from headrace.streams.engine.operators.windows import store_retention_ms, stream_time, stream_time_columns
from headrace.streams.engine.store_table import StoreTable
from headrace.streams.operations import StreamAggregate
from headrace.streams.windows import SlidingWindows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


def aggregate(context: Context, node: str, operation: StreamAggregate, inputs: list[AggregationInput]) -> Changes:
    """A table with one aggregate per key and window, of one stream, or of several in a cogroup.

    Like Kafka's KStreamSlidingWindowAggregate, record after record, inside one expression per key. A record at `t` is
    added to the windows that hold it. Where they are not there yet it makes [t - d, t], the window that begins after
    the record before it, and [t + 1, t + 1 + d] if there is anything in it.
    """
    windows = operation.windows
    assert isinstance(windows, SlidingWindows)
    table, kind = aggregates.stored(context, node, operation, inputs)
    records = records_of_inputs(context, inputs, "k is not null and v is not null", NULL_KEY_OR_VALUE)
    records = _with_newest(context, inputs, table, records)
    grouped = records_per_key(records, inputs)
    retention = store_retention_ms(context, operation)
    near = _rows_in_reach(table, windows)
    with_stored = grouped.withColumn("before", F.transform(near, lambda row: _as_window(row, row["v"])))
    step = _SlidingStep(context, inputs, windows, retention, kind)
    slid = with_stored.withColumn("after", F.aggregate("x", F.col("before"), step.take))
    updates = context.compute_once(_changed(slid, kind, stream_time_columns(inputs)))
    context.put(operation.store, updates.where(aggregates.CHANGED))
    return aggregates.changes(context, node, inputs, table, updates)


def _with_newest(context: Context, inputs: list[AggregationInput], table: StoreTable, records: DataFrame) -> DataFrame:
    """Add `newest`, by which windows of the store expire: the greatest start that was put before a record, -1 if none was.

    The start that a record puts depends on the windows of its key. If a record of the batch reaches back to windows that may have
    expired, all records of its task are therefore processed twice: first without values, only for the starts of their windows,
    with a lower bound of `newest`. If none does, `newest` is the one before the batch, which no record needs.
    """
    from pyspark.sql.types import LongType

    operation = inputs[0].operation
    windows = operation.windows
    assert isinstance(windows, SlidingWindows)
    retention = store_retention_ms(context, operation)
    size, order = F.lit(windows.difference_ms), [F.col("o")]
    least_newest = stream_time(context, operation.store, order, F.col("t") - size, last=-1)
    greatest_newest = stream_time(context, operation.store, order, F.col("t"))
    reaches_expired = F.col("t") - 2 * size <= greatest_newest - F.lit(retention)
    records = records.withColumns({"newest": F.coalesce(least_newest, F.lit(-1)), "reaches_expired": reaches_expired})
    records = records.withColumn("any_reaches_expired", F.max("reaches_expired").over(Window.partitionBy("p")))
    step, no_starts = _SlidingStep(context, [], windows, retention, LongType()), F.expr("cast(array() as array<bigint>)")

    def take(state: Column, record: Column) -> Column:
        def with_start(after: Column) -> Column:
            greatest_start = F.array_max(F.transform(after, lambda s: s["w"]))
            return F.struct(after.alias("windows"), F.array_append(state["starts"], greatest_start).alias("starts"))

        return _let(step.take(state["windows"], record), with_start)

    grouped = records_per_key(records, inputs, F.max("any_reaches_expired").alias("any_reaches_expired"))
    without_values = F.transform(_rows_in_reach(table, windows), lambda row: _as_window(row, F.lit(0).cast("bigint")))
    initial = F.struct(without_values.alias("windows"), no_starts.alias("starts"))
    starts = F.aggregate("x", initial, take, lambda state: state["starts"])
    starts = F.when(F.col("any_reaches_expired"), starts).otherwise(no_starts)
    rows = grouped.select("p", "k", F.explode(F.arrays_zip(F.col("x").alias("x"), starts.alias("start"))).alias("r"))
    names = ["t", "st", "i", *(f"v{number}" for number in range(len(inputs)))]
    values = [F.col("r.x")[name].alias(name) for name in names]
    rows = rows.select("p", "k", *values, F.col("r.x._0").alias("o"), F.col("r.start").alias("start"))
    newest = stream_time(context, operation.store, order, F.col("start"), last=-1)
    return rows.withColumn("newest", F.coalesce(newest, F.lit(-1)))


def _rows_in_reach(table: StoreTable, windows: SlidingWindows) -> Column:
    """The stored windows of a key that its records may change or read: by `low` and `high` of `records_per_key`."""
    low, high = F.col("low") - F.lit(2 * windows.difference_ms), F.col("high") + F.lit(1)
    return F.filter(table.rows_of_key(F.col("p"), F.col("k"), low), lambda row: row["w"] <= high)


def _window(kind: DataType) -> str:
    return f"struct<w:bigint,v:{kind.simpleString()},t:bigint,c:boolean,f:boolean>"


def _as_window(row: Column, value: Column) -> Column:
    return F.struct(row["w"].alias("w"), value.alias("v"), row["t"].alias("t"), F.lit(False).alias("c"), F.lit(False).alias("f"))


def _changed(slid: DataFrame, kind: DataType, time_columns: list[str]) -> DataFrame:
    """The changed windows as rows of the store, from `before` and `after` of each key; v is NULL for removed ones.

    time_columns: further columns to keep, also of a key without changes, in a row without a window.
    """
    removed = F.filter("before", lambda b: ~F.exists("after", lambda a: a["w"] == b["w"]))
    no_value, flags = null(kind).alias("v"), (F.lit(True).alias("c"), F.lit(False).alias("f"))
    lost = F.transform(removed, lambda b: F.struct(b["w"].alias("w"), no_value, b["t"].alias("t"), *flags))
    rows = slid.withColumn("s", F.explode_outer(F.concat(lost, F.filter("after", lambda a: a["c"]))))
    same = F.filter("before", lambda b: (b["w"] == F.col("s")["w"]) & ~F.col("s")["f"])
    rows = rows.withColumn("old", F.try_element_at(same, F.lit(1)))
    values = F.col("old.v").alias("ov"), F.col("old.t").alias("ot")
    return rows.select("p", "k", "s.w", "s.v", "s.t", *values, "mo", *time_columns)


class _SlidingStep:
    """Adds one record to the windows of its key: structs of start `w`, value `v`, greatest time `t`, whether they changed `c`,
    and whether they replace an expired window `f`, which the store does not return any more.

    inputs: if there are none, all values are 0.
    """

    def __init__(
        self, context: Context, inputs: list[AggregationInput], windows: SlidingWindows, retention_ms: int, kind: DataType
    ) -> None:
        self._context, self._inputs, self._kind, self._retention = context, inputs, kind, F.lit(retention_ms)
        self._size, self._grace = F.lit(windows.difference_ms), F.lit(windows.grace_ms)

    def take(self, windows: Column, record: Column) -> Column:
        """The windows after the record."""
        t, size = record["t"], self._size
        late = t + 1 + size <= record["st"] - self._grace
        if self._inputs:
            place = F.concat(record["_0"], F.array(record["i"].cast("bigint")))
            late &= self._context.left_out(self._inputs[0].node, EXPIRED_WINDOW, t, place)

        def unexpired(window: Column) -> Column:
            return window["w"] > record["newest"] - self._retention

        def last(matches: Column) -> Column:
            """The window that begins last."""
            start = F.array_max(F.transform(matches, lambda s: s["w"]))
            return F.try_element_at(F.filter(matches, lambda s: s["w"] == start), F.lit(1))

        near = F.filter(windows, lambda s: unexpired(s) & (s["w"] >= t - 2 * size) & (s["w"] <= t + 1))
        neighbours = F.struct(
            # The window that ends with the record; what would begin before 0 is one window, which begins there.
            F.try_element_at(F.filter(near, lambda s: s["w"] == F.greatest(t - size, F.lit(0))), F.lit(1)).alias("left"),
            last(F.filter(near, lambda s: s["w"] + size < t)).alias("ended"),
            last(F.filter(near, lambda s: (s["w"] <= t) & (s["w"] + size > t))).alias("open"),
            F.filter(windows, unexpired).alias("unexpired"),
            F.filter(windows, lambda s: ~unexpired(s)).alias("expired"),
        )
        return F.when(late, windows).otherwise(_let(neighbours, lambda f: self._after(record, f)))

    def _after(self, record: Column, neighbours: Column) -> Column:
        t, size, windows = record["t"], self._size, neighbours["unexpired"]
        left, ended = neighbours["left"], neighbours["ended"]
        # The time of the record before, unless that one has created its windows with another record of this time. A late record
        # may be in the window that ends here, but not in those before it, which Kafka Streams prefers.
        before = F.when(left.isNull(), ended["t"]).when(left["t"] < t, F.coalesce(ended["t"], left["t"]))

        def missing(start: Column) -> Column:
            return ~F.exists(windows, lambda s: s["w"] == start)

        def holds(window: Column) -> Column:
            open_ = window["w"] + size >= record["st"] - self._grace
            return (window["w"] <= t) & (window["w"] + size >= t) & open_

        follows = before.isNotNull() & missing(before + 1) & (before + 1 + size >= t)
        carried = F.when(before.isNotNull() & (t - size <= before), ended["v"])

        def window_if(condition: Column, start: Column, value: Column, time: Column) -> Column:
            replaces_expired = F.exists(neighbours["expired"], lambda s: s["w"] == start)
            return self._window_if(condition, start, value, time, replaces_expired)

        fresh = F.concat(
            window_if(follows, before + 1, null(self._kind), t),
            window_if(left.isNull(), F.greatest(t - size, F.lit(0)), carried, t),
        )
        containing = F.filter(F.concat(windows, fresh), holds)
        again = left.isNotNull() & (left["t"] >= t) & (t >= size)
        right = ~F.coalesce(again, F.lit(False)) & missing(t + 1) & (neighbours["open"]["t"] > t)
        after = F.concat(
            F.filter(windows, lambda s: ~holds(s)),
            F.transform(containing, lambda s: self._added(s, record)),
            window_if(right, t + 1, neighbours["open"]["v"], neighbours["open"]["t"]),
        )
        expired = neighbours["expired"]
        return _let(
            F.filter(after, lambda s: s["v"].isNotNull()),
            lambda kept: F.concat(F.filter(expired, lambda s: ~F.exists(kept, lambda a: a["w"] == s["w"])), kept),
        )

    def _window_if(self, condition: Column, start: Column, value: Column, time: Column, replaces_expired: Column) -> Column:
        """A list of one window if the condition is true, else of none."""
        flags = F.lit(True).alias("c"), replaces_expired.alias("f")
        window = F.struct(start.alias("w"), value.cast(self._kind).alias("v"), time.alias("t"), *flags)
        kind = f"array<{_window(self._kind)}>"
        return F.when(condition, F.array(window).cast(kind)).otherwise(F.expr(f"cast(array() as {kind})"))

    def _added(self, window: Column, record: Column) -> Column:
        value = aggregate_with(self._inputs, record, window["v"], self._kind) if self._inputs else F.lit(0).cast(self._kind)
        time = F.when(window["v"].isNull(), record["t"]).otherwise(F.greatest(window["t"], record["t"]))
        flags = F.lit(True).alias("c"), window["f"].alias("f")
        return F.struct(window["w"].alias("w"), value.alias("v"), time.alias("t"), *flags)


def _let(value: Column, body: object) -> Column:
    """`body(value)`, with the value computed once."""
    return F.transform(F.array(value), body)[0]  # type: ignore[arg-type]
