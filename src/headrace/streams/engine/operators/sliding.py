"""Sliding windows (KIP-450): one window for every set of a key's records within the time difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.streams.engine.columns import null
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import AggregationInput, Changes
from headrace.streams.engine.operators import aggregates
from headrace.streams.engine.operators.inputs import aggregate_with, records_per_key
from headrace.streams.operations import StreamAggregate
from headrace.streams.windows import SlidingWindows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


def aggregate(context: Context, node: str, operation: StreamAggregate, inputs: list[AggregationInput]) -> Changes:
    """A table with one aggregate per key and window, of one stream, or of several in a cogroup.

    Like Kafka's KStreamSlidingWindowAggregate, record after record, inside one expression per key. A record at `t` is
    aggregate_with to the windows that hold it. Where they are not there yet it makes [t - d, t], the window that begins after
    the record before it, and [t + 1, t + 1 + d] if there is anything in it.
    """
    from pyspark.sql import functions as F

    windows = operation.windows
    assert isinstance(windows, SlidingWindows)
    table, kind = aggregates.stored(context, node, operation, inputs)
    records = records_per_key(context, node, inputs, "k is not null and v is not null")
    low, high = F.col("low") - F.lit(2 * windows.difference_ms), F.col("high") + F.lit(1)
    near = F.filter(table.rows_of_key(F.col("p"), F.col("k")), lambda row: (row["w"] >= low) & (row["w"] <= high))
    joined = records.withColumn("before", F.transform(near, _as_window))
    slid = joined.withColumn("after", F.aggregate("x", F.col("before"), _SlidingStep(inputs, windows, kind).take))
    frame = context.compute_once(_changed(slid, kind))
    context.put(operation.store, frame)
    return aggregates.changes(context, node, operation, table, frame)


def _window(kind: DataType) -> str:
    return f"struct<w:bigint,v:{kind.simpleString()},t:bigint,c:boolean>"


def _as_window(row: Column) -> Column:
    from pyspark.sql import functions as F

    return F.struct(row["w"].alias("w"), row["v"].alias("v"), row["t"].alias("t"), F.lit(False).alias("c"))


def _changed(slid: DataFrame, kind: DataType) -> DataFrame:
    """The changed windows as rows of the store, from `before` and `after` of each key; v is NULL for removed ones."""
    from pyspark.sql import functions as F

    removed = F.filter("before", lambda b: ~F.exists("after", lambda a: a["w"] == b["w"]))
    lost = F.transform(
        removed, lambda b: F.struct(b["w"].alias("w"), null(kind).alias("v"), b["t"].alias("t"), F.lit(True).alias("c"))
    )
    rows = slid.withColumn("s", F.explode(F.concat(lost, F.filter("after", lambda a: a["c"]))))
    rows = rows.withColumn("old", F.try_element_at(F.filter("before", lambda b: b["w"] == F.col("s")["w"]), F.lit(1)))
    return rows.select("p", "k", "s.w", "s.v", "s.t", F.col("old.v").alias("ov"), F.col("old.t").alias("ot"), "mo", "mst")


class _SlidingStep:
    """Adds one record to the windows of its key: structs of start, value, greatest time, and whether they changed."""

    def __init__(self, inputs: list[AggregationInput], windows: SlidingWindows, kind: DataType) -> None:
        from pyspark.sql import functions as F

        self._inputs, self._kind = inputs, kind
        self._size, self._grace = F.lit(windows.difference_ms), F.lit(windows.grace_ms)

    def take(self, windows: Column, record: Column) -> Column:
        """The windows after the record."""
        from pyspark.sql import functions as F

        t, size = record["t"], self._size
        late = t + 1 + size <= record["st"] - self._grace

        def last(matches: Column) -> Column:
            """The window that begins last."""
            start = F.array_max(F.transform(matches, lambda s: s["w"]))
            return F.try_element_at(F.filter(matches, lambda s: s["w"] == start), F.lit(1))

        near = F.filter(windows, lambda s: (s["w"] >= t - 2 * size) & (s["w"] <= t + 1))
        neighbours = F.struct(
            # The window that ends with the record; what would begin before 0 is one window, which begins there.
            F.try_element_at(F.filter(near, lambda s: s["w"] == F.greatest(t - size, F.lit(0))), F.lit(1)).alias("left"),
            last(F.filter(near, lambda s: s["w"] + size < t)).alias("ended"),
            last(F.filter(near, lambda s: (s["w"] <= t) & (s["w"] + size > t))).alias("open"),
        )
        return F.when(late, windows).otherwise(_let(neighbours, lambda f: self._after(windows, record, f)))

    def _after(self, windows: Column, record: Column, neighbours: Column) -> Column:
        from pyspark.sql import functions as F

        t, size = record["t"], self._size
        left, ended = neighbours["left"], neighbours["ended"]
        # The time of the record before, unless that one has made its windows with another record of this time.
        before = F.when(left.isNull(), ended["t"]).when(left["t"] < t, left["t"])

        def missing(start: Column) -> Column:
            return ~F.exists(windows, lambda s: s["w"] == start)

        def holds(window: Column) -> Column:
            open_ = window["w"] + size >= record["st"] - self._grace
            return (window["w"] <= t) & (window["w"] + size >= t) & open_

        follows = before.isNotNull() & missing(before + 1) & (before + 1 + size >= t)
        carried = F.when(before.isNotNull() & (t - size <= before), ended["v"])
        fresh = F.concat(
            self._window_if(follows, before + 1, null(self._kind), t),
            self._window_if(left.isNull(), F.greatest(t - size, F.lit(0)), carried, t),
        )
        containing = F.filter(F.concat(windows, fresh), holds)
        again = left.isNotNull() & (left["t"] >= t) & (t >= size)
        right = ~F.coalesce(again, F.lit(False)) & missing(t + 1) & (neighbours["open"]["t"] > t)
        after = F.concat(
            F.filter(windows, lambda s: ~holds(s)),
            F.transform(containing, lambda s: self._added(s, record)),
            self._window_if(right, t + 1, neighbours["open"]["v"], neighbours["open"]["t"]),
        )
        return F.filter(after, lambda s: s["v"].isNotNull())

    def _window_if(self, condition: Column, start: Column, value: Column, time: Column) -> Column:
        """A list of one window if the condition is true, else of none."""
        from pyspark.sql import functions as F

        window = F.struct(start.alias("w"), value.cast(self._kind).alias("v"), time.alias("t"), F.lit(True).alias("c"))
        kind = f"array<{_window(self._kind)}>"
        return F.when(condition, F.array(window).cast(kind)).otherwise(F.expr(f"cast(array() as {kind})"))

    def _added(self, window: Column, record: Column) -> Column:
        from pyspark.sql import functions as F

        value = aggregate_with(self._inputs, record, window["v"], self._kind)
        time = F.when(window["v"].isNull(), record["t"]).otherwise(F.greatest(window["t"], record["t"]))
        return F.struct(window["w"].alias("w"), value.alias("v"), time.alias("t"), F.lit(True).alias("c"))


def _let(value: Column, body: object) -> Column:
    """`body(value)`, with the value computed once."""
    from pyspark.sql import functions as F

    return F.transform(F.array(value), body)[0]  # type: ignore[arg-type]
