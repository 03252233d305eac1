"""Assigns records to windows, and finds closed windows, by the stream time of the task at each record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.streams.engine.context import Context
from headrace.streams.engine.store_table import StoreTable
from headrace.streams.operations import EmitStrategy, StreamAggregate
from headrace.streams.windows import SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def stream_time(context: Context, clock: str, order: Sequence[Column], times: Column, last: int = 0) -> Column:
    """The stream time of a node at each record. last: 0, or -1 for the records before it only."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    until = Window.partitionBy("p").orderBy(*order).rowsBetween(Window.unboundedPreceding, last)
    return F.greatest(F.max(times).over(until), context.stream_time(clock))


def with_stream_time(context: Context, node: str, frame: DataFrame, order: list[Column]) -> DataFrame:
    """Add `st`: the stream time of this operator, including the record."""
    from pyspark.sql import functions as F

    return frame.withColumn("st", stream_time(context, node, order, F.col("t")))


def in_windows(frame: DataFrame, windows: TimeWindows | UnlimitedWindows) -> DataFrame:
    """One row for each open window `w` (its start, ms) of a record; frame: with t and st."""
    from pyspark.sql import functions as F

    if isinstance(windows, UnlimitedWindows):
        return frame.where(F.col("t") >= windows.start_ms).withColumn("w", F.lit(windows.start_ms).cast("bigint"))
    size, advance = windows.size_ms, windows.advance_ms
    last = F.col("t") - F.pmod("t", F.lit(advance))
    if size == advance:
        frame = frame.withColumn("w", last)
    else:
        first = F.greatest(last - F.lit((size - 1) // advance * advance), F.lit(0))
        inside = F.filter(F.sequence(first, last, F.lit(advance).cast("bigint")), lambda start: start > F.col("t") - F.lit(size))
        frame = frame.withColumn("w", F.explode(inside))
    return frame.where(F.col("w") + F.lit(size) > F.col("st") - F.lit(windows.grace_ms))


def closed_windows(
    context: Context,
    node: str,
    windows: TimeWindows | UnlimitedWindows | SlidingWindows | SessionWindows,
    table: StoreTable,
    frame: DataFrame,
    times: DataFrame,
) -> DataFrame:
    """The rows of windows that this batch has closed: names, v, t, ov (NULL), mo."""
    from pyspark.sql import functions as F

    names = table.layout.names
    lasts = F.lit(_length(windows) + windows.grace_ms)  # from the time in the index until a window is over
    before = F.coalesce(context.stream_time(node), F.lit(-1))
    closed = table.due(times.where("ct is not null"), F.col("ct") - lasts, before - lasts + F.lit(1))
    untouched = closed.join(frame.select(*names), names, "left_anti").withColumn("mo", F.array().cast("array<bigint>"))
    touched = frame.select(*names, "v", "t", "mo").where("v is not null").join(times, "p")
    over = F.col(_time(windows)) + lasts
    touched = touched.where((over <= F.col("ct")) & (over > before)).drop("ct")
    rows = untouched.select(*names, "v", "t", "mo").unionByName(touched)
    return rows.withColumn("ov", F.lit(None).cast(table.layout.value))


def window_close_time(operation: StreamAggregate) -> Column | None:
    """The time by which closed windows are indexed; None unless results are emitted on window close."""
    from pyspark.sql import functions as F

    closes = operation.windows is not None and operation.emit is EmitStrategy.ON_WINDOW_CLOSE
    return F.col(_time(operation.windows)) if closes else None


def _time(windows: TimeWindows | UnlimitedWindows | SlidingWindows | SessionWindows | None) -> str:
    return "e" if isinstance(windows, SessionWindows) else "w"


def _length(windows: TimeWindows | UnlimitedWindows | SlidingWindows | SessionWindows) -> int:
    """The time from `_time` to the first time after the window, without grace."""
    if isinstance(windows, SessionWindows):
        return windows.gap_ms + 1
    return windows.size_ms + isinstance(windows, SlidingWindows)  # whose end belongs to them
