"""Assigns records to windows, and finds closed windows, by the stream time of the task at each record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.sql_functions import F, Window
from headrace.streams.engine import formats
from headrace.streams.engine.context import EXPIRED_WINDOW, Context
from headrace.streams.engine.flows import AggregationInput
from headrace.streams.engine.store_table import StoreTable
from headrace.streams.operations import EmitStrategy, StreamAggregate
from headrace.streams.windows import SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def stream_time(context: Context, clock: str, order: Sequence[Column], times: Column, last: int = 0) -> Column:
    """The stream time of a node or a store at each record. last: 0, or -1 for the records before it only."""
    until = Window.partitionBy("p").orderBy(*order).rowsBetween(Window.unboundedPreceding, last)
    return F.greatest(F.max(times).over(until), context.stream_time(clock))


def with_place_of_time(rows: DataFrame, records: DataFrame) -> DataFrame:
    """Add `place`: that of the record at which the stream time reaches the time `at` of a row, NULL if none of this batch does.

    rows: p, at; `o` and `now`, the place and the stream time at the arrival of a row, `now` NULL if it was there before the
    batch. records: p, o, now of the batch.
    """
    names = rows.columns
    steps = records.groupBy("p", "now").agg(F.min("o").alias("step"))
    # From the latest time down: the last step before a row is the first one in time that is enough for it.
    asks = rows.select("p", "at", F.lit(1).alias("asks"), F.struct(*names).alias("r"), F.lit(None).alias("step"))
    says = steps.select("p", F.col("now").alias("at"), F.lit(0).alias("asks"), F.lit(None).alias("r"), "step")
    down = Window.partitionBy("p").orderBy(F.col("at").desc(), "asks").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    both = asks.unionByName(says).withColumn("step", F.last("step", ignorenulls=True).over(down)).where("r is not null")
    place = F.when(F.col("r.now") >= F.col("at"), F.col("r.o")).otherwise(F.col("step"))
    return both.select("p", *[F.col(f"r.{name}").alias(name) for name in names if name != "p"], place.alias("place"))


def with_stream_time(context: Context, inputs: Sequence[AggregationInput], frame: DataFrame, order: list[Column]) -> DataFrame:
    """Add `st`: the stream time of a record's input in its task, including the record.

    frame: with `i`, the number of the input; each input has its own stream time.
    """
    record_stream_time: Column | None = None
    for number, stream_input in reversed(list(enumerate(inputs))):
        of_input = F.col("i") == number
        times = F.when(of_input, F.col("t")) if len(inputs) > 1 else F.col("t")
        input_stream_time = stream_time(context, stream_input.node, order, times)
        if record_stream_time is None:
            record_stream_time = input_stream_time
        else:
            record_stream_time = F.when(of_input, input_stream_time).otherwise(record_stream_time)
    assert record_stream_time is not None
    return frame.withColumn("st", record_stream_time)


def stream_time_columns(inputs: Sequence[AggregationInput]) -> list[str]:
    """The columns of the inputs' stream times in grouped rows: `st0`, `st1` …"""
    return [f"st{number}" for number in range(len(inputs))]


def greatest_stream_times(inputs: Sequence[AggregationInput]) -> list[Column]:
    """Aggregates of rows with i and st: the greatest stream time of each input, as `stream_time_columns`."""
    columns = stream_time_columns(inputs)
    if len(inputs) == 1:
        return [F.max("st").alias(columns[0])]
    return [F.max(F.when(F.col("i") == number, F.col("st"))).alias(column) for number, column in enumerate(columns)]


def advance_stream_times(context: Context, inputs: Sequence[AggregationInput], rows: DataFrame, row_time: Column) -> DataFrame:
    """Advance the stream times of an aggregation's inputs, and the time of its store by which rows expire: the greatest time of a
    row that was put, as in Kafka Streams. Returns p; ct, the stream time of the first input; last, the last place of the batch.

    rows: those of a batch, with `stream_time_columns`; also those that changed nothing, because a record whose aggregate is NULL
    advances stream time too. row_time: the time of a row by which it expires.
    """
    columns, store = stream_time_columns(inputs), inputs[0].operation.store
    greatest = [F.max(column).alias(column) for column in columns]
    times = rows.groupBy("p").agg(*greatest, F.max(row_time).alias("ct"), F.max("mo").alias("last"))
    times = context.compute_once(times)
    for column, stream_input in zip(columns, inputs, strict=True):
        context.advance_stream_time(stream_input.node, times.select("p", F.col(column).alias("ct")))
    context.advance_stream_time(store, times, store)
    return times.select("p", F.col(columns[0]).alias("ct"), "last")


def store_retention_ms(context: Context, operation: StreamAggregate) -> int:
    """How long the store of a windowed aggregation keeps windows, in ms: as its supplier or Materialized says, or else its
    windows.
    """
    assert operation.windows is not None
    return context.state.stores[operation.store].retention_ms or operation.windows.retention_ms


def in_windows(context: Context, node: str, frame: DataFrame, windows: TimeWindows | UnlimitedWindows) -> DataFrame:
    """One row for each open window `w` (its start, ms) of a record; frame: with p, t, o, i and st."""
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
    is_open = F.col("w") + F.lit(size) > F.col("st") - F.lit(windows.grace_ms)
    return frame.where(context.takes(node, is_open, EXPIRED_WINDOW, F.col("i").cast("bigint"), F.col("w")))


def closed_windows(
    context: Context,
    node: str,
    windows: TimeWindows | UnlimitedWindows | SlidingWindows | SessionWindows,
    table: StoreTable,
    frame: DataFrame,
    times: DataFrame,
) -> DataFrame:
    """The rows of windows that this batch has closed: names, v, t, ov (NULL), mo.

    Their places are behind the batch, in the order of Kafka Streams' stores by time. times: of `advance_stream_times`.
    """
    names = table.layout.names
    lasts = F.lit(_length(windows) + windows.grace_ms)  # from the time in the index until a window is over
    before = F.coalesce(context.stream_time(node), F.lit(-1))
    closed = table.due(times.where("ct is not null"), F.col("ct") - lasts, before - lasts + F.lit(1))
    untouched = closed.join(frame.select(*names), names, "left_anti").select(*names, "v", "t")
    touched = frame.select(*names, "v", "t").where("v is not null").join(times, "p")
    over = F.col(_time(windows)) + lasts
    touched = touched.where((over <= F.col("ct")) & (over > before)).drop("ct", "last")
    rows = untouched.unionByName(touched).join(times.select("p", "last"), "p")
    key = formats.encoded(table.store_with_serdes.key_serde, F.col("k"), table.layout.keys[0][1], f"key of {node}")
    number = F.row_number().over(Window.partitionBy("p").orderBy(*[name for name in ("e", "w") if name in names], key))
    rows = rows.withColumn("mo", F.concat("last", F.array(number.cast("bigint"))))
    return rows.withColumn("ov", F.lit(None).cast(table.layout.value))


def window_close_time(operation: StreamAggregate) -> Column | None:
    """The time by which closed windows are indexed; None unless results are emitted on window close."""
    closes = operation.windows is not None and operation.emit is EmitStrategy.ON_WINDOW_CLOSE
    return F.col(_time(operation.windows)) if closes else None


def _time(windows: TimeWindows | UnlimitedWindows | SlidingWindows | SessionWindows | None) -> str:
    return "e" if isinstance(windows, SessionWindows) else "w"


def _length(windows: TimeWindows | UnlimitedWindows | SlidingWindows | SessionWindows) -> int:
    """The time from `_time` to the first time after the window, without grace."""
    if isinstance(windows, SessionWindows):
        return windows.gap_ms + 1
    return windows.size_ms + isinstance(windows, SlidingWindows)  # whose end belongs to them
