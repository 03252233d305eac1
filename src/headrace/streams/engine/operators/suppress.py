"""Suppresses changes of a table until their window closes, or for some time (KIP-328)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.sql_functions import F, Window
from headrace.streams.engine import formats
from headrace.streams.engine.columns import kind_of, null
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import Changes
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.operators.tables import last_per_key
from headrace.streams.operations import Suppress
from headrace.streams.serdes import WindowedSerde

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

    from headrace.streams.engine.flows import Lookup
    from headrace.streams.engine.store_table import StoreTable
    from headrace.streams.stores import StateStore
    from headrace.streams.suppressed import BufferConfig

_UNBOUNDED = 2**63 - 1
_TIMES_AND_PARTITION = 28  # of the buffer, the record's own, its offset, and its partition


def suppress(context: Context, node: str, operation: Suppress, changes: Changes, windowed: bool) -> Changes:
    """Emit the last change of each key when its time is over; until then it is in the buffer's store.

    windowed: the time is the end of the key's window, else that of the first change that waits. A buffer that holds more records
    or bytes than it may after a batch passes on the oldest, or ends the application. Of what waits no more is read than may have
    to go: a batch cannot push out more than it brings.
    """
    buffer = operation.suppressed.buffer
    bounded = buffer.max_record_count is not None or buffer.max_byte_count is not None
    layout = _layout(changes, bounded)
    time = F.col("k.end") if windowed else F.col("v.since")
    kinds = kind_of(changes.frame, "k"), kind_of(changes.frame, "new")
    table = context.state.table(operation.store, layout, time, _size("v") if bounded else None)
    looked = table.lookup(last_per_key(changes).select("p", "k", "old", "new", "t", "o"))
    since = F.col("k.end") if windowed else F.coalesce(F.col("sv.since"), F.col("t"))
    old_value = F.when(F.col("sv").isNotNull(), F.col("sv.old")).otherwise(F.col("old"))
    row = [F.col("new").alias("new"), old_value.alias("old"), since.alias("since")]
    if bounded:
        row.append(_counted(context, node, context.state.stores[operation.store], kinds, old_value).alias("size"))
    fresh = looked.select("p", "k", F.struct(*row).alias("v"), "t", "o", F.col("sv").alias("ov"), F.col("st").alias("ot"))
    fresh = context.compute_once(fresh)
    brought = F.sum(_size("v") + _size("ov")).alias("bytes")
    sums = [F.count(F.lit(1)).alias("rows"), brought] if bounded else []
    times = context.compute_once(fresh.groupBy("p").agg(F.max("t").alias("ct"), F.max("o").alias("last"), *sums))
    context.advance_stream_time(node, times)
    wait, tasks = F.lit(operation.wait_ms), times.where("ct is not null")
    if bounded:
        due = table.oldest(tasks, F.col("ct") - wait, *_max_evicted(table, buffer))
    else:
        due = table.due(tasks, F.col("ct") - wait)
    waiting = due.join(fresh.select("p", "k"), ["p", "k"], "left_anti")
    waiting = waiting.select("p", "k", "v", "t", F.col("v").alias("ov"), F.col("t").alias("ot"))
    rows = waiting.unionByName(fresh.drop("o")).join(times.select("p", "ct", "last"), "p", "left")
    rows = rows.withColumn("ct", F.greatest("ct", context.stream_time(node)))
    out = F.col("v.since") + wait <= F.coalesce("ct", F.lit(-1))
    rows = rows.withColumn("out", out)
    order = [F.col("v.since"), _key_bytes(node, context.state.stores[operation.store], kinds[0])]
    if bounded:
        rows = _with_evictions(node, rows.withColumns({"size": _size("v"), "was": _size("ov")}), table, buffer, order)
    rows = context.compute_once(rows)
    passed = _in_order(rows.where("out"), order)
    put = rows.where("not out and not (ov <=> v)").select("p", "k", "v", "t", "ov", "ot")
    deleted = rows.where("out and ov is not null").select("p", "k", null(layout.value).alias("v"), "t", "ov", "ot")
    context.put(operation.store, context.compute_once(put.unionByName(deleted)))
    lookup = _emitted_lookup(table, changes.lookup) if changes.lookup else None
    passed = passed.select("p", "k", "v.old", "v.new", "t", "o")
    # A window that is over has had its result: that a session has become part of another one is nothing to tell.
    return Changes(passed.where("new is not null" if windowed else "old is not null or new is not null"), lookup)


def _key_bytes(node: str, store: StateStore, kind: DataType) -> Column:
    """The bytes of a key, by which Kafka's buffer sorts rows of one time: a window's key, and then its end and start."""
    serde, inner = store.key_serde, store.key_serde.inner if isinstance(store.key_serde, WindowedSerde) else None
    if kind.simpleString().endswith(",start:bigint,end:bigint>"):  # windows of one table begin in the order of their ends
        serde = WindowedSerde("session_windowed", inner=inner)
    return formats.encoded(serde, F.col("k"), kind, f"key of {node}")


def _in_order(passed: DataFrame, order: list[Column]) -> DataFrame:
    """The rows with their places `o`: after the last change of the batch, in the order of Kafka's buffer."""
    number = F.row_number().over(Window.partitionBy("p").orderBy(*order))
    # Sorted as well, because a sink writes rows in the frame's order, and Spark removes an unused window expression.
    return passed.sortWithinPartitions("p", *order).withColumn("o", F.concat("last", F.array(number.cast("bigint"))))


def _layout(changes: Changes, bounded: bool) -> Layout:
    """bounded: whether rows have their size, which does not follow from the rest of them."""
    from pyspark.sql.types import LongType, StructField, StructType

    kind = kind_of(changes.frame, "new")
    value = StructType([StructField("new", kind), StructField("old", kind), StructField("since", LongType())])
    return Layout((("k", kind_of(changes.frame, "k")),), value.add("size", LongType()) if bounded else value)


def _emitted_lookup(buffer: StoreTable, upstream: Lookup) -> Lookup:
    """Looks up the emitted rows: of a suppressed row its previous value."""

    def lookup(lookup_keys: DataFrame) -> DataFrame:
        looked_up = buffer.lookup(lookup_keys).withColumnsRenamed({"sv": "__buffered", "st": "__since"})
        is_buffered = F.col("__buffered").isNotNull()
        looked_up = upstream(looked_up).withColumn("sv", F.when(is_buffered, F.col("__buffered.old")).otherwise(F.col("sv")))
        return looked_up.withColumn("st", F.when(F.col("sv").isNotNull(), F.col("st"))).drop("__buffered", "__since")

    return lookup


def _max_evicted(table: StoreTable, buffer: BufferConfig) -> tuple[Column, Column]:
    """The maximum numbers of buffered rows and bytes that a batch can evict, by the `rows` and `bytes` that it adds.

    The buffer may exceed its bound already if the bound was changed since the last run.
    """
    assert table.index is not None
    bounds = []
    for name, limit in (("rows", buffer.max_record_count), ("bytes", buffer.max_byte_count)):
        total = table.index.total(F.col("p"), size=name == "bytes")
        bounds.append(F.lit(0) if limit is None else F.col(name) + F.greatest(total - F.lit(limit), F.lit(0)))
    return bounds[0], bounds[1]


def _size(row: str) -> Column:
    """The size of a row of a buffer with bounds; 0 if there is none, and of a row that came before there were bounds."""
    return F.coalesce(F.col(f"{row}.size"), F.lit(0))


def _counted(context: Context, node: str, store: StateStore, kinds: tuple[DataType, DataType], prior: Column) -> Column:
    """The bytes that Kafka's buffer counts for a change, with the table's serdes, or those inferred from the types.

    They are those of the key, of the values (that of before the row waited, and those before and after the change), and of the
    record that has changed it: its topic, partition, offset and time. Headers are not there (docs/parity.md).
    """
    key = formats.encoded(store.key_serde, F.col("k"), kinds[0], f"key of {node}")
    values = [formats.encoded(store.value_serde, value, kinds[1], f"value of {node}") for value in (F.col("new"), prior)]
    before = formats.encoded(store.value_serde, F.col("old"), kinds[1], f"value of {node}")
    values.append(F.when(~before.eqNullSafe(values[1]), before))
    parts = [F.coalesce(F.length(part), F.lit(0)).cast("bigint") for part in (key, *values)]
    return sum(parts, F.lit(_TIMES_AND_PARTITION) + context.topic_length())


def _with_evictions(node: str, rows: DataFrame, table: StoreTable, buffer: BufferConfig, order: list[Column]) -> DataFrame:
    """Rows with those `out` as well that are too many: the first of each task in this order. rows: with `size`, and `was`, that
    of before.
    """
    assert table.index is not None
    task, stays, was_buffered = Window.partitionBy("p"), (~F.col("out")).cast("bigint"), F.col("ov").isNotNull().cast("bigint")
    record_count = table.index.total(F.col("p"), size=False) + F.sum(stays - was_buffered).over(task)
    size = table.index.total(F.col("p"), size=True) + F.sum(stays * F.col("size") - F.col("was")).over(task)
    oldest = Window.partitionBy("p", "out").orderBy(*order).rowsBetween(Window.unboundedPreceding, -1)
    rows = rows.withColumns({"buffered": record_count, "buffered_bytes": size})
    older, older_bytes = F.count(F.lit(1)).over(oldest), F.coalesce(F.sum("size").over(oldest), F.lit(0))
    limits = buffer.max_record_count, buffer.max_byte_count
    most = tuple(_UNBOUNDED if limit is None else limit for limit in limits)
    too_many = ~F.col("out") & ((F.col("buffered") - older > most[0]) | (F.col("buffered_bytes") - older_bytes > most[1]))
    if buffer.emit_early:
        return rows.withColumn("out", F.col("out") | too_many)
    sentence = F.format_string(
        "%s buffer exceeded its max capacity. Currently [%d/%d] records and [%d/%d] bytes.",
        F.lit(node), F.col("buffered"), F.lit(most[0]), F.col("buffered_bytes"), F.lit(most[1]),
    )  # fmt: skip
    return rows.withColumn("out", F.when(too_many, F.raise_error(sentence).cast("boolean")).otherwise(F.col("out")))
