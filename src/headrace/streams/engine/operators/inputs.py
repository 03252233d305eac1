"""The inputs of an aggregation, of one stream or of several in a cogroup: lists of each key's records in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.streams.engine import fold
from headrace.streams.engine.columns import kind_of, null, union
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import AggregationInput
from headrace.streams.engine.operators.windows import stream_time, with_stream_time

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


def records_per_key(context: Context, node: str, inputs: Sequence[AggregationInput], condition: str) -> DataFrame:
    """One row for each task and key: p, k; `x`, its records with t, st (stream time), before (that of the record before it, -1 if
    there is none), `i` (the number of the input) and `v0`, `v1` … (the value, NULL but for that input); low, high, their times;
    mo and mst, the last place and stream time.

    condition: which records to take, as SQL.
    """
    from pyspark.sql import functions as F

    kinds = [kind_of(stream_input.records.frame, "v") for stream_input in inputs]
    parts = []
    for number, stream_input in enumerate(inputs):
        values = [(F.col("v") if i == number else null(kind)).alias(f"v{i}") for i, kind in enumerate(kinds)]
        frame = stream_input.records.frame.where(condition)
        parts.append(frame.select("p", "k", "t", "o", F.lit(number).alias("i"), *values))
    frame = with_stream_time(context, node, union(parts), [F.col("o")])
    before = stream_time(context, node, [F.col("o")], F.col("t"), last=-1)
    frame = frame.withColumn("before", F.coalesce(before, F.lit(-1)))
    values = [F.col(name) for name in ("t", "st", "before", "i", *(f"v{i}" for i in range(len(inputs))))]
    return frame.groupBy("p", "k").agg(
        fold.ordered([F.col("o")], values, kinds).alias("x"),
        F.min("t").alias("low"),
        F.max("t").alias("high"),
        F.max("o").alias("mo"),
        F.max("st").alias("mst"),
    )


def aggregate_with(inputs: Sequence[AggregationInput], record: Column, before: Column, kind: DataType) -> Column:
    """The aggregate after a record of `records_per_key`, by the function of the record's input."""
    from pyspark.sql import functions as F

    value: Column | None = None
    for number, stream_input in reversed(list(enumerate(inputs))):
        item = record[f"v{number}"]
        new = fold.aggregate_with(stream_input.operation.aggregation, stream_input.node, F.col("k"), item, before, kind)
        new = fold.unchanged_by_null(new, item, before)
        value = new if value is None else F.when(record["i"] == number, new).otherwise(value)
    assert value is not None
    return value
