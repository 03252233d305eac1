"""Tables: from topics, filtered, mapped, regrouped and aggregated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.record import HEADERS_TYPE
from headrace.sql_functions import F
from headrace.streams.engine import fold
from headrace.streams.engine.columns import apply, checked, column, keyed, kind_of, null, pair
from headrace.streams.engine.context import NULL_KEY, Context
from headrace.streams.engine.flows import Changes, Records, Regrouped
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.operators import versioned
from headrace.streams.engine.versions import folded
from headrace.streams.operations import TableAggregate, TableFilter, TableGroupBy, TableMapValues
from headrace.streams.stores import StateStore, StoreKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


Mapped = Callable[["Column"], "Column"]


def source(context: Context, node: str, store: str, materialized: bool, records: Records) -> Changes:
    """Records as changes of a table, the last one of each key if it is materialized; records without a key are skipped."""
    frame = records.frame.where(context.takes(node, "k is not null", NULL_KEY)).select("p", "k", "v", "t", "o")
    if materialized and context.state.stores[store].kind is StoreKind.VERSIONED:
        return versioned.put(context, store, frame)
    if not materialized:
        return Changes(
            frame.select("p", "k", null(kind_of(frame, "v")).alias("old"), F.col("v").alias("new"), "t", "o"), has_old=False
        )
    table = context.state.table(store, Layout((("k", kind_of(frame, "k")),), kind_of(frame, "v")))
    last = frame.groupBy("p", "k").agg(F.max_by(F.struct("v", "t", "o"), "o").alias("x"))
    looked = table.lookup(last)
    updates = context.compute_once(
        looked.select(
            "p",
            "k",
            F.col("x.v").alias("v"),
            F.col("x.t").alias("t"),
            F.col("sv").alias("ov"),
            F.col("st").alias("ot"),
            F.col("x.o").alias("o"),
        )
    )
    context.put(store, updates)
    return Changes(
        updates.select("p", "k", F.col("ov").alias("old"), F.col("v").alias("new"), "t", "o"),
        table.lookup,
        frame.select("p", "k", "v", "o", F.col("o").alias("at")),
    )


def restored(store: StateStore, records: Records) -> DataFrame:
    """The rows of a store restored from records: the last row of each key, without deletions, or every version."""
    if store.kind is StoreKind.VERSIONED:
        rows = records.frame.where("k is not null").groupBy("p", "k", "t").agg(F.max_by(F.struct("v"), "o").alias("x"))
        return rows.select("p", "k", F.col("t").alias("w"), F.col("x.v").alias("v"), "t")
    last = records.frame.where("k is not null").groupBy("p", "k").agg(F.max_by(F.struct("v", "t"), "o").alias("x"))
    return last.select("p", "k", F.col("x.v").alias("v"), F.col("x.t").alias("t")).where("v is not null")


def filter_table(context: Context, node: str, operation: TableFilter, changes: Changes) -> Changes:
    """Rows for which the predicate is true (with `negate`: is not); others become deletions."""

    def filtered(value: Column) -> Column:
        true = F.coalesce(column(apply(operation.predicate, node, F.col("k"), value)), F.lit(False))
        return F.when(value.isNotNull() & (~true if operation.negate else true), value)

    return _derived(context, node, operation.store, changes, filtered, drops_no_rows=True)


def map_table(context: Context, node: str, operation: TableMapValues, changes: Changes) -> Changes:
    """A new value per row. Also a deletion of a row that was not there is passed on, as in Kafka Streams."""

    def mapped(value: Column) -> Column:
        return F.when(value.isNotNull(), column(keyed(operation.mapper, node, F.col("k"), value)))

    return _derived(context, node, operation.store, changes, mapped)


def to_stream(changes: Changes) -> Records:
    """Changes as records; a deletion has a NULL value."""
    headers = F.lit(None).cast(HEADERS_TYPE).alias("h")
    frame = changes.frame if changes.puts is None else changes.puts
    return Records(frame.select("p", "k", F.col("new").alias("v"), "t", "o", headers), ordered=False)


def regroup(node: str, operation: TableGroupBy, changes: Changes) -> Regrouped:
    """Each change as two rows with the new key: the old value, to be removed from its group, and the new one, to be added."""

    def side(name: str, add: bool) -> Column:
        key, value = pair(apply(operation.selector, node, F.col("k"), F.col(name)), node)
        row = F.struct(key.alias("k"), value.alias("v"), F.lit(add).alias("add"))
        return F.when(F.col(name).isNotNull(), row)

    def frame() -> DataFrame:
        # Both from one row, in order, so that the old value is removed from its group before the new one is added.
        both = changes.frame.select("p", "t", "o", F.posexplode(F.array(side("old", False), side("new", True))).alias("i", "x"))
        rows = both.select("p", "x.k", "x.v", "x.add", "t", F.concat("o", F.array(F.col("i").cast("bigint"))).alias("o"))
        return rows.where("k is not null and v is not null")

    return Regrouped(checked(frame, node))


def aggregate(context: Context, node: str, operation: TableAggregate, rows: Regrouped) -> Changes:
    """A table with one aggregate per group, from which old values are removed before new ones are added."""
    frame, aggregation = rows.frame, operation.aggregation
    row = kind_of(frame, "k"), kind_of(frame, "v")
    kind = fold.result_type(context.spark, aggregation, node, row, context.state.stores[operation.store].value_serde)
    table = context.state.table(operation.store, Layout((("k", row[0]),), kind))
    listed = fold.ordered([F.col("o")], [F.col("add"), F.col("v")], [row[1]])
    grouped = frame.groupBy("p", "k").agg(listed.alias("x"), F.max("t").alias("mt"), F.max("o").alias("mo"))
    looked = table.lookup(grouped)

    def step(before: Column, item: Column) -> Column:
        add = fold.aggregate_with(aggregation, node, F.col("k"), item["v"], before, kind)
        return F.when(item["add"], add).otherwise(fold.aggregate_without(aggregation, node, F.col("k"), item["v"], before, kind))

    new = F.aggregate("x", F.col("sv").cast(kind), step)
    updates = context.compute_once(
        looked.select("p", "k", new.alias("v"), F.greatest("st", "mt").alias("t"), *_previous_row(), "mo")
        .where("v is not null or ov is not null")
    )  # fmt: skip
    context.put(operation.store, updates)
    versions = folded(looked, "x", kind, step) if node in context.tables_with_all_changes else None
    changed = updates.select("p", "k", F.col("ov").alias("old"), F.col("v").alias("new"), "t", F.col("mo").alias("o"))
    return Changes(changed, table.lookup, versions)


def last_per_key(changes: Changes) -> DataFrame:
    """The last change of each key, for a store; the `frame` of a table that is not materialized has all changes."""
    if changes.has_old:
        return changes.frame
    last = changes.frame.groupBy("p", "k").agg(F.max_by(F.struct("old", "new", "t", "o"), "o").alias("x"))
    return last.select("p", "k", "x.old", "x.new", "x.t", "x.o")


def materialize(context: Context, store: str, changes: Changes) -> Changes:
    """Materialize a derived table with a named store."""
    every = changes.frame if changes.puts is None else changes.puts
    if context.state.stores[store].kind is StoreKind.VERSIONED:
        return versioned.put(context, store, every.select("p", "k", F.col("new").alias("v"), "t", "o"))
    if changes.puts is not None:  # this store takes all records, also out-of-order ones
        changes = replace(changes, frame=changes.puts, has_old=False)
    frame, versions = last_per_key(changes), changes.versions
    if not changes.has_old:
        versions = changes.frame.select("p", "k", F.col("new").alias("v"), "o", F.col("o").alias("at"))
    table = context.state.table(store, Layout((("k", kind_of(frame, "k")),), kind_of(frame, "new")))
    looked = table.lookup(frame.select("p", "k", "new", "t", "o"))
    updates = context.compute_once(
        looked.select("p", "k", F.col("new").alias("v"), "t", *_previous_row(), "o")
        .where("v is not null or ov is not null")
    )  # fmt: skip
    context.put(store, updates)
    if versions is not None:  # they become visible at their place at this node
        versions = versions.withColumn("o", F.col("at"))
    return Changes(updates.select("p", "k", F.col("ov").alias("old"), F.col("v").alias("new"), "t", "o"), table.lookup, versions)


def _derived(
    context: Context, node: str, store: str | None, changes: Changes, of: Mapped, *, drops_no_rows: bool = False
) -> Changes:
    """drops_no_rows: whether a change from no row to none is left out, where the old row is known."""

    def frame() -> DataFrame:
        both = [of(F.col(name)).alias(name) for name in ("old", "new")]
        rows = changes.frame.select("p", "k", *both, "t", "o")
        return rows.where("old is not null or new is not null") if changes.has_old and drops_no_rows else rows

    def lookup(lookup_keys: DataFrame) -> DataFrame:
        assert changes.lookup is not None
        looked_up = changes.lookup(lookup_keys).withColumn("sv", of(F.col("sv")))
        return looked_up.withColumn("st", F.when(F.col("sv").isNotNull(), F.col("st")))

    versions = changes.versions
    if versions is not None:
        versions = versions.withColumn("v", of(F.col("v")))
    puts = None
    if changes.puts is not None:
        puts = changes.puts.select("p", "k", *[of(F.col(name)).alias(name) for name in ("old", "new")], "t", "o")

    def as_of(lookup_keys: DataFrame) -> DataFrame:
        assert changes.as_of is not None
        return changes.as_of(lookup_keys).withColumn("other", of(F.col("other")))

    derived = Changes(
        checked(frame, node),
        lookup if changes.lookup else None,
        versions,
        changes.has_old,
        puts,
        as_of if changes.as_of else None,
    )
    return derived if store is None else materialize(context, store, derived)


def _previous_row() -> list[Column]:
    """The previous row of a look-up, under the names that changelogs use."""
    return [F.col("sv").alias("ov"), F.col("st").alias("ot")]
