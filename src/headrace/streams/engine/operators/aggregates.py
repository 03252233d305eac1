"""Aggregations of streams: per key, per key and window, and of several streams into one (cogroup)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.sql_functions import F
from headrace.streams.engine import fold
from headrace.streams.engine.columns import kind_of
from headrace.streams.engine.context import NULL_KEY, NULL_KEY_OR_VALUE, Context
from headrace.streams.engine.flows import AggregationInput, Changes, Records
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.operators.inputs import aggregate_with, taken_from_inputs
from headrace.streams.engine.operators.windows import (
    advance_stream_times,
    closed_windows,
    greatest_stream_times,
    in_windows,
    store_retention_ms,
    stream_time,
    stream_time_columns,
    window_close_time,
    with_stream_time,
)
from headrace.streams.engine.store_table import StoreTable
from headrace.streams.engine.versions import Step, counted, folded
from headrace.streams.operations import Count, EmitStrategy, StreamAggregate
from headrace.streams.windows import SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

CHANGED = "v is not null or ov is not null"
"""Of the rows of an aggregation: those that are there, or were."""


def aggregate(context: Context, node: str, operation: StreamAggregate, inputs: list[AggregationInput]) -> Changes:
    """A table with one aggregate per key, or per key and window, of one stream, or of several in a cogroup.

    inputs: the streams, each with its own aggregation. Records without a key are skipped; without windows also records without a
    value.
    """
    table, kind = stored(context, node, operation, inputs)
    names = table.layout.names
    rows, last = _rows(context, node, operation, inputs)
    kinds = [kind_of(stream_input.records.frame, "v") for stream_input in inputs]
    folds_times = _folds_times(context, inputs, kind)
    values = [*_values(inputs), *([F.col("t")] if folds_times else [])]
    listed = None if _counts(inputs) else fold.ordered([F.col("s")], values, kinds)
    windowed_inputs = inputs if operation.windows is not None else []
    grouped = rows.groupBy(*names).agg(
        (F.count(F.lit(1)) if listed is None else listed).alias("x"),
        F.max("t").alias("mt"),
        last.alias("mo"),
        *greatest_stream_times(windowed_inputs),
    )
    with_stored = table.lookup(grouped)
    if _may_be_expired(inputs):
        with_stored = _without_expired(with_stored)
    new = F.coalesce(F.col("sv"), F.lit(0)) + F.col("x") if listed is None else _folded(inputs, kind)
    time = F.greatest("st", "mt")
    if folds_times:
        with_stored = with_stored.withColumn("f", _folded_with_times(inputs, kind))
        new, time = F.col("f.v"), F.col("f.t")
    frame = context.compute_once(
        with_stored.select(
            *names,
            new.alias("v"),
            time.alias("t"),
            F.col("sv").alias("ov"),
            F.col("st").alias("ot"),
            "mo",
            *stream_time_columns(windowed_inputs),
        )
    )
    context.put(operation.store, frame.where(CHANGED))
    versions = None
    if node in context.tables_with_all_changes and operation.emit is EmitStrategy.ON_WINDOW_UPDATE:
        versions = _versions(table, rows, inputs, kind)
    return changes(context, node, inputs, table, frame, versions)


def _versions(table: StoreTable, rows: DataFrame, inputs: list[AggregationInput], kind: DataType) -> DataFrame:
    """Every single change, with the columns of the layout. rows: of `_rows`."""
    from pyspark.sql.types import ArrayType

    names = table.layout.names
    places = rows if isinstance(kind_of(rows, "s"), ArrayType) else rows.withColumn("s", F.array("s"))
    if _counts(inputs):
        return counted(table.lookup(places.groupBy(*names).agg(F.sort_array(F.collect_list("s")).alias("x"))), "x", names)
    listed = fold.ordered([F.col("s")], _values(inputs), [kind_of(stream_input.records.frame, "v") for stream_input in inputs])
    return folded(table.lookup(places.groupBy(*names).agg(listed.alias("x"))), "x", kind, _step(inputs, kind), names)


def stored(
    context: Context, node: str, operation: StreamAggregate, inputs: list[AggregationInput]
) -> tuple[StoreTable, DataType]:
    """The table of the operation's store, and the type of the aggregate."""
    from pyspark.sql.types import LongType

    first = inputs[0].records.frame
    serde = context.state.stores[operation.store].value_serde
    row = kind_of(first, "k"), kind_of(first, "v")
    kind = fold.result_type(context.spark, inputs[0].operation.aggregation, node, row, serde)
    keys = (("k", row[0]),) if operation.windows is None else (("k", row[0]), ("w", LongType()))
    return context.state.table(operation.store, Layout(keys, kind), window_close_time(operation)), kind


def _rows(context: Context, node: str, operation: StreamAggregate, inputs: list[AggregationInput]) -> tuple[DataFrame, Column]:
    """The records of all inputs: names of the layout, t, st, `s` to sort by, and `v0`, `v1` … with `i`, the input's number.

    Also returns an aggregate: the place of the last record of a group. A place of one number stays a number until then, because
    Spark aggregates numbers in a hash table, and arrays only after it has sorted all rows.
    """
    condition, why = "k is not null", NULL_KEY
    if operation.windows is None:
        condition, why = "k is not null and v is not null", NULL_KEY_OR_VALUE
    frame = taken_from_inputs(context, inputs, condition, why)
    depth = inputs[0].records.depth if len(inputs) == 1 else 0
    place, last = (F.col("o")[0], F.array(F.max("s"))) if depth == 1 else (F.col("o"), F.max("s"))
    if isinstance(operation.windows, TimeWindows | UnlimitedWindows):
        order = Records(frame, depth).order()
        frame = in_windows(context, node, with_stream_time(context, inputs, frame, order), operation.windows)
        if _may_be_expired(inputs):
            newest = F.coalesce(stream_time(context, operation.store, order, F.col("w"), last=-1), F.lit(-1))
            retention = store_retention_ms(context, operation)
            frame = frame.withColumn("expired", F.col("w") <= newest - F.lit(retention))
    else:
        frame = frame.withColumn("st", F.lit(None).cast("bigint"))
    return frame.withColumn("s", place).drop("o"), last


def _values(inputs: list[AggregationInput]) -> list[Column]:
    expiry = [F.col("expired"), F.col("t")] if _may_be_expired(inputs) else []
    return [F.col("i"), *[F.col(f"v{i}") for i in range(len(inputs))], *expiry]


def _may_be_expired(inputs: list[AggregationInput]) -> bool:
    """Whether the window of a record may have expired in the store while the record is not late at its own input, because
    another input is ahead. Kafka Streams then aggregates the record alone, since its store does not return the expired window.
    """
    windows = inputs[0].operation.windows
    return len(inputs) > 1 and windows is not None and not isinstance(windows, SessionWindows | SlidingWindows)


def _without_expired(with_stored: DataFrame) -> DataFrame:
    """The windows of a cogroup without the stored aggregate and time where they had expired before a record.

    with_stored: `x`, the records of a window in order, with `expired` and t; mt, the greatest time of them; sv and st, the stored
    row.
    """
    expired_at_first, last = F.col("x")[0]["expired"], F.try_element_at("x", F.lit(-1))
    expired_at_last = last["expired"]
    return with_stored.withColumns(
        {
            "sv": F.when(~expired_at_first, F.col("sv")),
            "st": F.when(~expired_at_last, F.col("st")),
            "mt": F.when(expired_at_last, last["t"]).otherwise(F.col("mt")),
        }
    )


def _counts(inputs: list[AggregationInput]) -> bool:
    return len(inputs) == 1 and isinstance(inputs[0].operation.aggregation, Count)


def _folded(inputs: list[AggregationInput], kind: DataType) -> Column:
    return F.aggregate(F.col("x"), F.col("sv").cast(kind), _step(inputs, kind))


def _folds_times(context: Context, inputs: list[AggregationInput], kind: DataType) -> bool:
    """Whether times have to be folded beside the aggregates, because one that is NULL between two records restarts with the
    time of the second; else the time is the greatest one, which costs less.
    """
    if _may_be_expired(inputs):
        return False

    def may_be_null(of: AggregationInput) -> bool:
        row = kind_of(of.records.frame, "k"), kind_of(of.records.frame, "v")
        return fold.may_be_null(context.spark, of.operation.aggregation, of.node, row, kind)

    return any(map(may_be_null, inputs))


def _folded_with_times(inputs: list[AggregationInput], kind: DataType) -> Column:
    """The aggregate `v`, with its time `t`."""
    step = _step(inputs, kind)

    def with_time(so_far: Column, item: Column) -> Column:
        time = F.when(so_far["v"].isNull(), item["t"]).otherwise(F.greatest(so_far["t"], item["t"]))
        return F.struct(step(so_far["v"], item).alias("v"), time.alias("t"))

    return F.aggregate(F.col("x"), F.struct(F.col("sv").cast(kind).alias("v"), F.col("st").alias("t")), with_time)


def _step(inputs: list[AggregationInput], kind: DataType) -> Step:
    """The aggregate after one record of the list, by the function of the record's input."""

    def step(so_far: Column, item: Column) -> Column:
        before = F.when(~item["expired"], so_far) if _may_be_expired(inputs) else so_far
        return aggregate_with(inputs, item, before, kind)

    return step


def changes(
    context: Context,
    node: str,
    inputs: list[AggregationInput],
    table: StoreTable,
    frame: DataFrame,
    versions: DataFrame | None = None,
) -> Changes:
    """What is passed on. frame: the rows that may have changed (`CHANGED`): names of the layout, v, t; ov and ot of the row
    before; mo, the last place of what changed it, and with windows `stream_time_columns`; versions: every single change with
    names of the layout, if they are wanted.
    """
    operation = inputs[0].operation
    windows = operation.windows
    if windows is None:
        changed = frame.where(CHANGED).select(
            "p", "k", F.col("ov").alias("old"), F.col("v").alias("new"), "t", F.col("mo").alias("o")
        )
        return Changes(changed, table.lookup, versions)
    assert not isinstance(windows, SessionWindows)
    size = windows.size_ms
    times = advance_stream_times(context, inputs, frame, F.col("w"))
    frame = frame.where(CHANGED)
    if operation.emit is EmitStrategy.ON_WINDOW_CLOSE:
        frame = closed_windows(context, node, windows, table, frame, times)
    changed = frame.select(
        "p", windowed(size).alias("k"), F.col("ov").alias("old"), F.col("v").alias("new"), "t", F.col("mo").alias("o")
    )

    def lookup(lookup_keys: DataFrame) -> DataFrame:
        opened = lookup_keys.withColumns({"__k": F.col("k")["key"], "__w": F.col("k")["start"]})
        return table.lookup(opened, ["p", "__k", "__w"]).drop("__k", "__w")

    if versions is not None:
        versions = versions.withColumn("k", windowed(size)).drop("w")
    return Changes(changed, lookup, versions)


def windowed(size_ms: int) -> Column:
    """The key of a windowed table from `k` and `w`: a struct of key, start and end in milliseconds, the end at most Java's
    greatest long.
    """
    last = F.lit(2**63 - 1)
    end = F.when(F.col("w") > last - F.lit(size_ms), last).otherwise(F.col("w") + F.lit(size_ms)) if size_ms < 2**62 else last
    return F.struct(F.col("k").alias("key"), F.col("w").alias("start"), end.alias("end"))
