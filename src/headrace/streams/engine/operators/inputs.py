"""The inputs of an aggregation, of one stream or of several in a cogroup: lists of each key's records in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.sql_functions import F
from headrace.streams.engine import fold
from headrace.streams.engine.columns import kind_of, null, union
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import AggregationInput
from headrace.streams.engine.operators.windows import greatest_stream_times, with_stream_time

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


def records_of_inputs(context: Context, inputs: Sequence[AggregationInput], condition: str, why: str) -> DataFrame:
    """`taken_from_inputs`, with `st`, the stream time."""
    return with_stream_time(context, inputs, taken_from_inputs(context, inputs, condition, why), [F.col("o")])


def taken_from_inputs(context: Context, inputs: Sequence[AggregationInput], condition: str, why: str) -> DataFrame:
    """The records of all inputs: p, k, t, o, `i` (the number of the input) and `v0`, `v1` … (the value, NULL but for that input).

    condition: which records to take, as SQL; why: the others are left out.
    """
    kinds = [kind_of(stream_input.records.frame, "v") for stream_input in inputs]
    parts = []
    for number, stream_input in enumerate(inputs):
        values = [(F.col("v") if i == number else null(kind)).alias(f"v{i}") for i, kind in enumerate(kinds)]
        frame = stream_input.records.frame.where(context.takes(stream_input.node, condition, why))
        parts.append(frame.select("p", "k", "t", "o", F.lit(number).alias("i"), *values))
    return union(parts)


def records_per_key(records: DataFrame, inputs: Sequence[AggregationInput], *further_aggregates: Column) -> DataFrame:
    """One row for each task and key: p, k; `x`, its records with t, st, newest, i, v0 …; low and high, their least and greatest
    time; mo, the last place; the columns of `greatest_stream_times`; and those of further_aggregates.

    records: of `records_of_inputs`, with `newest`, the time of the store before the record, -1 if it has none.
    """
    kinds = [kind_of(stream_input.records.frame, "v") for stream_input in inputs]
    values = [F.col(name) for name in ("t", "st", "newest", "i", *(f"v{i}" for i in range(len(inputs))))]
    return records.groupBy("p", "k").agg(
        fold.ordered([F.col("o")], values, kinds).alias("x"),
        F.min("t").alias("low"),
        F.max("t").alias("high"),
        F.max("o").alias("mo"),
        *greatest_stream_times(inputs),
        *further_aggregates,
    )


def aggregate_with(inputs: Sequence[AggregationInput], record: Column, before: Column, kind: DataType) -> Column:
    """The aggregate after a record, by the function of the record's input.

    record: with `i` and `v0`, `v1` … of `records_of_inputs`; before: the aggregate before it.
    """
    value: Column | None = None
    for number, stream_input in reversed(list(enumerate(inputs))):
        item = record[f"v{number}"]
        new = fold.aggregate_with(stream_input.operation.aggregation, stream_input.node, F.col("k"), item, before, kind)
        if stream_input.operation.windows is not None:
            new = fold.unchanged_by_null(new, item, before)
        value = new if value is None else F.when(record["i"] == number, new).otherwise(value)
    assert value is not None
    return value
