"""Session windows: each record of a key, in order, merges the sessions within the inactivity gap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.sql_functions import F
from headrace.streams.engine import fold
from headrace.streams.engine.columns import kind_of
from headrace.streams.engine.context import EXPIRED_WINDOW, NULL_KEY, Context
from headrace.streams.engine.flows import AggregationInput, Changes
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.operators.aggregates import CHANGED
from headrace.streams.engine.operators.inputs import aggregate_with, records_of_inputs, records_per_key
from headrace.streams.engine.operators.windows import (
    advance_stream_times,
    closed_windows,
    store_retention_ms,
    stream_time,
    stream_time_columns,
    window_close_time,
)
from headrace.streams.operations import EmitStrategy, StreamAggregate
from headrace.streams.windows import SessionWindows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


def aggregate(context: Context, node: str, operation: StreamAggregate, inputs: list[AggregationInput]) -> Changes:
    """A table with one aggregate per session; a session that was merged into another is deleted under its old bounds.

    inputs: one stream, or several in a cogroup. Like Kafka's KStreamSessionWindowAggregate, record after record, inside one
    expression per key.
    """
    from pyspark.sql.types import LongType

    windows = operation.windows
    assert isinstance(windows, SessionWindows)
    first = inputs[0].records.frame
    row = kind_of(first, "k"), kind_of(first, "v")
    serde = context.state.stores[operation.store].value_serde
    kind = fold.result_type(context.spark, operation.aggregation, node, row, serde)
    layout = Layout((("k", row[0]), ("e", LongType()), ("w", LongType())), kind)
    table = context.state.table(operation.store, layout, window_close_time(operation))
    records = records_of_inputs(context, inputs, "k is not null", NULL_KEY)
    # Sessions expire by the greatest time of all inputs: the store gets records of the one that is ahead, too.
    newest = stream_time(context, operation.store, [F.col("o")], F.col("t"), last=-1)
    grouped = records_per_key(records.withColumn("newest", F.coalesce(newest, F.lit(-1))), inputs)
    retention = store_retention_ms(context, operation)
    stored = table.rows_of_key(F.col("p"), F.col("k"), F.col("low") - F.lit(windows.gap_ms))  # others are near to no record
    with_stored = grouped.withColumn("before", F.transform(stored, _stored_session))
    sessions = with_stored.withColumn("after", _merged(context, inputs, windows, retention, kind))
    updates = context.compute_once(_changed(sessions, kind, stream_time_columns(inputs)))
    context.put(operation.store, updates.where(CHANGED))
    # A session that is NULL is put and expires others, too; the greatest end is the greatest stream time.
    ends = [F.col(column) for column in stream_time_columns(inputs)]
    times = advance_stream_times(context, inputs, updates, F.greatest(*ends) if len(ends) > 1 else ends[0])
    updates = updates.where(CHANGED)
    if operation.emit is EmitStrategy.ON_WINDOW_CLOSE:
        updates = closed_windows(context, node, windows, table, updates, times)
    key = F.struct(F.col("k").alias("key"), F.col("w").alias("start"), F.col("e").alias("end"))
    values = F.col("ov").alias("old"), F.col("v").alias("new")

    def lookup(lookup_keys: DataFrame) -> DataFrame:
        session = {f"__{name}": F.col("k")[name] for name in ("key", "start", "end")}
        return table.lookup(lookup_keys.withColumns(session), ["p", "__key", "__end", "__start"]).drop(*session)

    return Changes(updates.select("p", key.alias("k"), *values, "t", F.col("mo").alias("o")), lookup)


def _changed(sessions: DataFrame, kind: DataType, time_columns: list[str]) -> DataFrame:
    """The sessions that records have changed as rows of the store, from `before` and `after` of each key; v is NULL for removed
    ones. A session that a record has left as it was is passed on, too, as in Kafka Streams.

    time_columns: further columns to keep, also of a key without changes, in a row without a session.
    """
    removed = F.filter("before", lambda b: ~F.exists("after", lambda a: (a["w"] == b["w"]) & (a["e"] == b["e"])))
    deleted = F.transform(removed, lambda b: _session(b["w"], b["e"], F.lit(None).cast(kind), b["t"], changed=True))
    rows = sessions.withColumn("changed", F.concat(deleted, F.filter("after", lambda a: a["c"])))
    rows = rows.select("p", "k", "before", "mo", *time_columns, F.explode_outer("changed").alias("s"))
    same = F.filter("before", lambda b: (b["w"] == F.col("s")["w"]) & (b["e"] == F.col("s")["e"]))
    rows = rows.withColumn("old", F.try_element_at(same, F.lit(1)))
    values = F.col("old.v").alias("ov"), F.col("old.t").alias("ot")
    return rows.select("p", "k", "s.e", "s.w", "s.v", "s.t", *values, "mo", *time_columns)


def _session(start: Column, end: Column, value: Column, time: Column, *, changed: bool) -> Column:
    """changed: whether a record of this batch has reached it."""
    return F.struct(start.alias("w"), end.alias("e"), value.alias("v"), time.alias("t"), F.lit(changed).alias("c"))


def _stored_session(row: Column) -> Column:
    return _session(row["w"], row["e"], row["v"], row["t"], changed=False)


def _merged(
    context: Context, inputs: list[AggregationInput], windows: SessionWindows, retention_ms: int, kind: DataType
) -> Column:
    """The sessions of a key after its records `x`.

    Sessions expire as in Kafka Streams' store: by the greatest end that was put before a record, which is the greatest
    stream time of the inputs then. A record that is not late may be within the gap of an expired session, and starts a new one.
    """
    gap, operation, node = F.lit(windows.gap_ms), inputs[0].operation.aggregation, inputs[0].node

    def step(sessions: Column, record: Column) -> Column:
        def near(session: Column) -> Column:
            there = session["e"] > record["newest"] - F.lit(retention_ms)
            return there & (session["e"] >= record["t"] - gap) & (session["w"] <= record["t"] + gap)

        close = F.array_sort(F.filter(sessions, near), lambda a, b: F.sign(a["w"] - b["w"]).cast("int"))
        start = F.aggregate(close, record["t"], lambda low, s: F.least(low, s["w"]))
        end = F.aggregate(close, record["t"], lambda high, s: F.greatest(high, s["e"]))
        time = F.aggregate(close, record["t"], lambda high, s: F.greatest(high, s["t"]))
        before = F.aggregate(
            close, F.lit(None).cast(kind), lambda so_far, s: fold.merged(operation, node, F.col("k"), so_far, s["v"], kind)
        )
        value = aggregate_with(inputs, record, before, kind)
        new = _session(start, end, value, time, changed=True)
        late = end < record["st"] - F.lit(windows.gap_ms + windows.grace_ms)
        late &= context.left_out(node, EXPIRED_WINDOW, record["t"], F.concat(record["_0"], F.array(record["i"].cast("bigint"))))
        there = F.filter(F.array(new), lambda s: s["v"].isNotNull())  # a session whose value is NULL is none

        def stays(session: Column) -> Column:
            same = (session["w"] == start) & (session["e"] == end)  # an expired one, which is replaced
            return ~near(session) & ~same

        return F.when(late, sessions).otherwise(F.concat(F.filter(sessions, stays), there))

    return F.aggregate("x", F.col("before"), step)
