"""Joins of two tables by a foreign key (KIP-213): rows of the left table subscribe to rows of the right one, through two topics.

A left row that changes deletes its subscription to the old foreign key, and registers one for the new key. Subscriptions are
stored next to the right table, so that changes of the right table are joined with them. A registration carries the hash of the
left row, and so does its response. A response counts only if the left row still has that hash: responses to an older version of
the row are dropped. All registrations of one pair of keys go through one partition, and so do their responses.

Unlike Kafka Streams, so that results are correct at rest whatever both sides do meanwhile: a left row that was deleted, or has no
foreign key, is joined locally, without a registration; and a deleted subscription gets a null response for its hash, so that a
response that is still in flight is not the last one if the same row is inserted again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.record import HEADERS_TYPE
from headrace.sql_functions import F
from headrace.streams.engine import formats
from headrace.streams.engine.columns import checked, column, keyed, kind_of, null
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import Changes, Records, SubscriptionRegistrations, SubscriptionResponses
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.store_table import StoreTable
from headrace.streams.functions import Function
from headrace.streams.operations import JoinKind, ResponseJoin, SubscriptionSend

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

# Kafka's SubscriptionWrapper.Instruction; with the second there is no response where the right table has no row.
_DELETE_SUBSCRIPTION, _PROPAGATE_IF_ROW_EXISTS, _PROPAGATE_NULL_TOO = b"\x00", b"\x01", b"\x02"


def send(node: str, operation: SubscriptionSend, left: Changes) -> SubscriptionRegistrations:
    """The registrations of left rows that changed: delete the old subscription, and register the new one."""
    old, new = _foreign_keys(node, operation.extractor)
    unsubscribe = F.when(
        F.col("fo").isNotNull() & ~F.col("fo").eqNullSafe(F.col("fn")),
        F.struct(
            F.col("fo").alias("k"), F.lit(_DELETE_SUBSCRIPTION).alias("instruction"), _hash(left, F.col("old")).alias("hash")
        ),
    )
    # A row without a subscription before has no result that a null response would have to delete.
    always = F.lit(operation.kind is JoinKind.LEFT) | F.col("fo").isNotNull()
    instruction = F.when(always, F.lit(_PROPAGATE_NULL_TOO)).otherwise(F.lit(_PROPAGATE_IF_ROW_EXISTS))
    subscribe = F.when(
        F.col("fn").isNotNull(),
        F.struct(F.col("fn").alias("k"), instruction.alias("instruction"), _hash(left, F.col("new")).alias("hash")),
    )

    def frame() -> DataFrame:
        rows = left.frame.withColumns({"fo": old, "fn": new})
        rows = rows.select("p", "k", "t", "o", F.explode(F.array(unsubscribe, subscribe)).alias("x")).where("x is not null")
        primary_partition = F.col("p").cast("int").alias("primary_partition")
        return rows.select("p", "x.k", F.col("k").alias("v"), "x.instruction", "x.hash", primary_partition, "t", "o")

    return SubscriptionRegistrations(checked(frame, node))


def receive(context: Context, store: str, registrations: SubscriptionRegistrations) -> SubscriptionRegistrations:
    """Store the subscriptions; returns the last registration of each pair of keys."""
    key = F.struct(F.col("k").alias("fk"), F.col("v").alias("pk")).alias("k")
    last = registrations.frame.groupBy("p", key).agg(
        F.max_by(F.struct("instruction", "hash", "primary_partition", "t", "o"), "o").alias("x")
    )
    table = _subscription_table(context, store, last)
    subscription = F.when(
        F.col("x.instruction") != F.lit(_DELETE_SUBSCRIPTION), F.struct("x.hash", F.col("x.primary_partition").alias("home"))
    )
    updates = context.compute_once(
        table.lookup(last).select(
            "p",
            "k",
            subscription.alias("v"),
            "x.t",
            F.col("sv").alias("ov"),
            F.col("st").alias("ot"),
            "x.o",
            "x.instruction",
            "x.hash",
            "x.primary_partition",
        )
    )
    context.put(store, updates.where("v is not null or ov is not null"))
    columns = ["p", F.col("k.fk").alias("k"), F.col("k.pk").alias("v"), "instruction", "hash", "primary_partition", "t", "o"]
    return SubscriptionRegistrations(updates.select(*columns, F.col("ov").isNotNull().alias("was_subscribed")))


def join_subscriptions(node: str, registrations: SubscriptionRegistrations, right: Changes) -> SubscriptionResponses:
    """The responses to the registrations of this batch, with the row that the right table has after the batch."""
    if right.lookup is None:
        raise StreamsError(f"{node}: the right table of this join is kept nowhere; give it a store with Materialized.")
    types = [kind_of(frame, "k").simpleString() for frame in (registrations.frame, right.frame)]
    if types[0] != types[1]:
        raise StreamsError(
            f"{node}: the foreign keys are of type {types[0]}, but the keys of the right table of type {types[1]}."
        )
    looked_up = _current_rows(right, registrations.frame)
    row = F.when(F.col("instruction") != F.lit(_DELETE_SUBSCRIPTION), F.col("row"))
    needs_response = (
        (F.col("instruction") != F.lit(_PROPAGATE_IF_ROW_EXISTS)) | F.col("row").isNotNull() | F.col("was_subscribed")
    )
    time = F.greatest("t", F.when(row.isNotNull(), F.col("row_t")))
    columns = ["p", F.col("v").alias("k"), row.alias("v"), "hash", "primary_partition", time.alias("t"), "o"]
    responses = looked_up.where(needs_response).select(columns)
    return SubscriptionResponses(responses)


def join_foreign_table(
    context: Context, store: str, right: Changes, registrations: SubscriptionRegistrations
) -> SubscriptionResponses:
    """The responses to subscriptions to right rows that changed, except those registered in this batch."""
    changed = right.frame.where("old is not null or new is not null")
    changed = changed.select("p", F.col("k").alias("fk"), F.col("new").alias("row"), F.col("t").alias("row_t"), "o")
    # A subscription's key is JSON that begins with the foreign key: subscriptions to one key are a range of the store.
    fk = F.to_json(F.struct(F.col("fk").cast(_key_of(context, store)).alias("fk")), {"ignoreNullFields": "false"})
    prefix = F.concat(F.substr(fk, F.lit(1), F.length(fk) - F.lit(1)), F.lit(",")).cast("binary")
    rows = changed.withColumn("x", F.explode(context.state.tables[store].prefix_scan(F.col("p"), prefix)))
    pairs = registrations.frame.select("p", F.struct(F.col("k").alias("fk"), F.col("v").alias("pk")).alias("k"))
    met = rows.select("p", "x.k", "x.v", "x.t", "row", "row_t", "o").join(pairs, ["p", "k"], "left_anti")
    return SubscriptionResponses(
        met.select(
            "p",
            F.col("k.pk").alias("k"),
            F.col("row").alias("v"),
            "v.hash",
            F.col("v.home").alias("primary_partition"),
            F.col("row_t").alias("t"),
            "o",
        )
    )


def join_responses(
    node: str, operation: ResponseJoin, extractor: Function, left: Changes, responses: SubscriptionResponses
) -> Records:
    """The changed rows of the join; deleted ones have no value."""
    if left.lookup is None:
        raise StreamsError(f"{node}: the left table of this join is kept nowhere; give it a store with Materialized.")
    inner = operation.kind is JoinKind.INNER
    current = _current_rows(left, responses.frame).where(_hash(left, F.col("row")) == F.col("hash"))
    last = current.groupBy("p", "k").agg(F.max_by(F.struct("row", "v", "t", "o"), "o").alias("x"))
    deleted = F.col("x.v").isNull() if inner else F.lit(False)
    responded = last.select("p", "k", F.col("x.row").alias("l"), F.col("x.v").alias("r"), deleted.alias("deleted"), "x.t", "x.o")
    old, new = _foreign_keys(node, extractor)
    had = "fo is not null" if inner else "old is not null or new is not null"
    settled = left.frame.withColumns({"fo": old, "fn": new}).where(f"fn is null and ({had})")
    nothing = null(kind_of(responses.frame, "v")).alias("r")
    over = F.lit(True) if inner else F.col("new").isNull()
    settled = settled.select("p", "k", F.col("new").alias("l"), nothing, over.alias("deleted"), "t", "o")
    joined = column(keyed(operation.joiner, node, F.col("k"), F.col("l"), F.col("r")))
    value = F.when(~F.col("deleted"), joined).alias("v")
    rows = responded.unionByName(settled)
    headers = F.lit(None).cast(HEADERS_TYPE).alias("h")
    return Records(checked(lambda: rows.select("p", "k", value, "t", "o", headers), node), ordered=False)


def _foreign_keys(node: str, extractor: Function) -> tuple[Column, Column]:
    """The foreign keys of the old and the new row of a change, NULL where there is no row."""

    def of(name: str) -> Column:
        return F.when(F.col(name).isNotNull(), column(keyed(extractor, node, F.col("k"), F.col(name))))

    return of("old"), of("new")


def _hash(left: Changes, row: Column) -> Column:
    """The hash of a row's bytes, because a restored row may differ in what its serde does not write."""
    return F.unhex(F.md5(formats.encoded(None, row, kind_of(left.frame, "new"), "row of the left table")))


def _current_rows(table: Changes, lookup_keys: DataFrame) -> DataFrame:
    """Add `row` and `row_t`: value and time of the row that the table has for p and k after this batch."""
    assert table.lookup is not None
    changed = table.frame.select("p", "k", F.struct("new", "t").alias("__c"))
    looked_up = table.lookup(lookup_keys).join(changed, ["p", "k"], "left")
    row = F.when(F.col("__c").isNotNull(), F.col("__c.new")).otherwise(F.col("sv"))
    time = F.when(F.col("__c").isNotNull(), F.col("__c.t")).otherwise(F.col("st"))
    return looked_up.withColumns({"row": row, "row_t": time}).drop("__c", "sv", "st")


def _key_of(context: Context, store: str) -> DataType:
    """The type of the foreign keys in a store of subscriptions."""
    key: Any = context.state.tables[store].layout.keys[0][1]
    return key["fk"].dataType


def _subscription_table(context: Context, store: str, last: DataFrame) -> StoreTable:
    from pyspark.sql.types import BinaryType, IntegerType, StructField, StructType

    key: DataType = kind_of(last, "k")
    value = StructType([StructField("hash", BinaryType()), StructField("home", IntegerType())])
    return context.state.table(store, Layout((("k", key),), value))
