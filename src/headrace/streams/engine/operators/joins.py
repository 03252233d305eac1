"""Joins with tables: a stream's records with the row of their key, and two tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.errors import StreamsError
from headrace.sql_functions import F
from headrace.streams.engine.columns import apply, checked, column, keyed, parameters
from headrace.streams.engine.context import NULL_JOIN_KEY_OR_VALUE, Context
from headrace.streams.engine.flows import Changes, Records
from headrace.streams.engine.versions import joined as joined_versions
from headrace.streams.engine.versions import version_at, versions_by_key
from headrace.streams.functions import Function
from headrace.streams.operations import GlobalTableJoin, JoinKind, StreamTableJoin, TableJoin

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def stream_table(context: Context, node: str, operation: StreamTableJoin, records: Records, table: Changes) -> Records:
    """Each record with the row of the table at the record's place in the order."""
    if table.lookup is None:
        raise StreamsError(f"{node}: the table of this join is kept nowhere; give it a store with Materialized.")
    condition = "v is not null" if operation.kind is JoinKind.LEFT else "k is not null and v is not null"
    frame = records.frame.where(context.takes(node, condition, NULL_JOIN_KEY_OR_VALUE))
    if table.as_of is not None:
        looked_up = table.as_of(frame.select("p", "k", "v", "t", "o", "h"))
        if operation.kind is JoinKind.INNER:
            looked_up = looked_up.where("other is not null")
        return replace(_joined(node, operation.joiner, looked_up, records), ordered=False)
    changed = versions_by_key(
        table.frame.select("p", "k", F.col("new").alias("v"), "o") if table.versions is None else table.versions
    )
    rows = frame.join(changed.hint("shuffle_hash"), ["p", "k"], "left").select(
        "p", "k", "v", "t", "o", "h", version_at("o").alias("x")
    )
    looked = table.lookup(rows)
    other = F.when(F.col("x").isNotNull(), F.col("x.v")).otherwise(F.col("sv"))
    looked = looked.withColumn("other", other)
    if operation.kind is JoinKind.INNER:
        looked = looked.where("other is not null")
    return _joined(node, operation.joiner, looked, records)


def with_global(context: Context, node: str, operation: GlobalTableJoin, records: Records) -> Records:
    """Each record with the row of a derived key in a global table; a joiner of four gets its own key and that one (KIP-1340)."""
    frame = records.frame.where(context.takes(node, "v is not null", NULL_JOIN_KEY_OR_VALUE))
    selected = column(apply(operation.key_selector, node, F.col("k"), F.col("v")))
    frame = checked(lambda: frame.withColumns({"__k": selected, "__p": F.lit(0)}), node)
    if operation.kind is JoinKind.INNER:
        frame = frame.where(context.takes(node, "__k is not null", NULL_JOIN_KEY_OR_VALUE))
    looked = context.state.global_tables[operation.store].lookup(frame, ["__p", "__k"]).withColumn("other", F.col("sv"))
    if operation.kind is JoinKind.INNER:
        looked = looked.where("other is not null")
    mapped = (F.col("__k"),) if parameters(operation.joiner) > 3 else ()
    return replace(_joined(node, operation.joiner, looked, records, *mapped), ordered=False)


def tables(context: Context, node: str, operation: TableJoin, left: Changes, right: Changes) -> Changes:
    """Two tables by key: a change of either side gives the joined row before and after the batch."""
    if left.lookup is None or right.lookup is None:
        raise StreamsError(f"{node}: a table of this join is kept nowhere; give it a store with Materialized.")

    def sides(name: str, changes: Changes) -> DataFrame:
        return changes.frame.select("p", "k", F.struct("old", "new", "t", "o").alias(name))

    keys = left.frame.select("p", "k").unionByName(right.frame.select("p", "k")).distinct()
    frame = left.lookup(keys).withColumnsRenamed({"sv": "lv", "st": "lt"})
    frame = right.lookup(frame).withColumnsRenamed({"sv": "rv", "st": "rt"})
    frame = frame.join(sides("l", left), ["p", "k"], "left").join(sides("r", right), ["p", "k"], "left")

    def after(side: str) -> Column:
        return F.when(F.col(side).isNotNull(), F.col(f"{side}.new")).otherwise(F.col(f"{side}v"))

    def by(mine: str, theirs: str) -> Column:
        """The time of the result of a record of one side: of rows that are gone the time does not count."""
        stands = F.coalesce(F.col(f"{theirs}.t"), F.col(f"{theirs}t"))
        return F.greatest(F.col(f"{mine}.t"), F.when(after(theirs).isNotNull(), stands))

    def before(mine: str, theirs: str) -> Column:
        """The same, of a record that the last one of the other side has come after."""
        return F.greatest(F.col(f"{mine}.t"), F.when(F.col(f"{theirs}v").isNotNull(), F.col(f"{theirs}t")))

    # A record that meets no row of the other side gives nothing in an inner join, nor one of the right side in a left join.
    left_gives = after("r").isNotNull() if operation.kind is JoinKind.INNER else F.lit(True)
    right_gives = F.lit(True) if operation.kind is JoinKind.OUTER else after("l").isNotNull()
    left_is_last = F.col("l").isNotNull() & (F.col("r").isNull() | (F.col("l.o") > F.col("r.o")))
    left_time = F.when(left_gives, by("l", "r")).otherwise(before("r", "l"))
    right_time = F.when(right_gives, by("r", "l")).otherwise(before("l", "r"))
    time = F.when(left_is_last, left_time).otherwise(right_time)
    old = _rows(node, operation, F.col("lv"), F.col("rv"))
    new = _rows(node, operation, after("l"), after("r"))
    place = F.greatest("l.o", "r.o")
    joined = checked(lambda: frame.select("p", "k", old.alias("old"), new.alias("new"), time.alias("t"), place.alias("o")), node)

    def lookup(lookup_keys: DataFrame) -> DataFrame:
        assert left.lookup is not None and right.lookup is not None
        looked_up = left.lookup(lookup_keys).withColumnsRenamed({"sv": "__lv", "st": "__lt"})
        looked_up = right.lookup(looked_up).withColumnsRenamed({"sv": "__rv", "st": "__rt"})
        value = _rows(node, operation, F.col("__lv"), F.col("__rv"))
        there = [F.when(F.col(f"__{side}v").isNotNull(), F.col(f"__{side}t")) for side in ("l", "r")]
        looked_up = looked_up.withColumns({"sv": value, "st": F.when(value.isNotNull(), F.greatest(*there))})
        return looked_up.drop("__lv", "__lt", "__rv", "__rt")

    versions = None
    if node in context.tables_with_all_changes and left.versions is not None and right.versions is not None:
        versions = joined_versions(left, right, lambda left_value, right_value: _rows(node, operation, left_value, right_value))
    return Changes(context.compute_once(joined.where("old is not null or new is not null")), lookup, versions)


def _rows(node: str, operation: TableJoin, left: Column, right: Column) -> Column:
    has_result = {
        JoinKind.INNER: left.isNotNull() & right.isNotNull(),
        JoinKind.LEFT: left.isNotNull(),
        JoinKind.OUTER: left.isNotNull() | right.isNotNull(),
    }[operation.kind]
    return F.when(has_result, column(keyed(operation.joiner, node, F.col("k"), left, right)))


def _joined(node: str, joiner: Function, frame: DataFrame, records: Records, *before: Column) -> Records:
    value = column(keyed(joiner, node, F.col("k"), *before, F.col("v"), F.col("other")))
    return replace(records, frame=checked(lambda: frame.select("p", "k", value.alias("v"), "t", "o", "h"), node))
