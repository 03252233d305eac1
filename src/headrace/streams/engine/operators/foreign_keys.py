"""Joins of two tables by a foreign key (KIP-213): rows of the left table ask the right one for a row, through two topics.

A row that changes tells the row that it asked before that it does not want it any more, and asks for the one of its foreign key.
What has been asked is kept beside the right table, so that its changes are answered as well. A question carries the hash of the
row that asks, its answer too, and an answer counts only if the row still has that hash: what was asked by a row as it was does
not overwrite what it is. All questions about one pair of rows go through one partition, and so do their answers.

Other than in Kafka Streams, for results that are right at rest whatever the two sides do meanwhile: a row that is gone, or has no
foreign key, is settled where it is and not by a question; and who ends a question gets the answer null for its hash, so that an
answer that is still under way is not the last word if the very same row comes back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.streams.engine import formats
from headrace.streams.engine.columns import HEADERS, checked, column, keyed, kind_of, null
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import Answers, Changes, Questions, Records
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.state import StoreTable
from headrace.streams.operations import ForeignKeyRespond, ForeignKeySend, Function, JoinKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_END, _ASK_FOR_A_ROW, _ASK = b"\x00", b"\x01", b"\x02"  # of the second an answer that there is no row is not wanted


def send(node: str, operation: ForeignKeySend, left: Changes) -> Questions:
    """The questions of the rows that have changed: the end of the old one, and the new one."""
    from pyspark.sql import functions as F

    old, new = _foreign_keys(node, operation.extractor)
    unsubscribe = F.when(
        F.col("fo").isNotNull() & ~F.col("fo").eqNullSafe(F.col("fn")),
        F.struct(F.col("fo").alias("k"), F.lit(_END).alias("ask"), _hash(left, F.col("old")).alias("hash")),
    )
    # A row that asked for nothing before has no result that an answer would have to take away.
    always = F.lit(operation.kind is JoinKind.LEFT) | F.col("fo").isNotNull()
    subscribe_kind = F.when(always, F.lit(_ASK)).otherwise(F.lit(_ASK_FOR_A_ROW))
    subscribe = F.when(
        F.col("fn").isNotNull(),
        F.struct(F.col("fn").alias("k"), subscribe_kind.alias("ask"), _hash(left, F.col("new")).alias("hash")),
    )

    def frame() -> DataFrame:
        rows = left.frame.withColumns({"fo": old, "fn": new})
        rows = rows.select("p", "k", "t", "o", F.explode(F.array(unsubscribe, subscribe)).alias("x")).where("x is not null")
        home = F.col("p").cast("int").alias("home")
        return rows.select("p", "x.k", F.col("k").alias("v"), "x.ask", "x.hash", home, "t", "o")

    return Questions(checked(frame, node))


def receive(context: Context, store: str, registrations: Questions) -> Questions:
    """Keep who wants which row; passes on the last question of each pair of rows."""
    from pyspark.sql import functions as F

    key = F.struct(F.col("k").alias("fk"), F.col("v").alias("pk")).alias("k")
    last = registrations.frame.groupBy("p", key).agg(F.max_by(F.struct("ask", "hash", "home", "t", "o"), "o").alias("x"))
    table = _subscribers(context, store, last)
    subscription = F.when(F.col("x.ask") != F.lit(_END), F.struct("x.hash", "x.home"))
    cut = context.cut(
        table.lookup(last).select(
            "p",
            "k",
            subscription.alias("v"),
            "x.t",
            F.col("sv").alias("ov"),
            F.col("st").alias("ot"),
            "x.o",
            "x.ask",
            "x.hash",
            "x.home",
        )
    )
    context.put(store, cut.where("v is not null or ov is not null"))
    columns = ["p", F.col("k.fk").alias("k"), F.col("k.pk").alias("v"), "ask", "hash", "home", "t", "o"]
    return Questions(cut.select(*columns, F.col("ov").isNotNull().alias("known")))


def look_up(node: str, registrations: Questions, right: Changes) -> Answers:
    """The answers to the questions of this batch: the row that the right table has after it."""
    from pyspark.sql import functions as F

    if right.lookup is None:
        raise StreamsError(f"{node}: the right table of this join is kept nowhere; give it a store with Materialized.")
    types = [kind_of(frame, "k").simpleString() for frame in (registrations.frame, right.frame)]
    if types[0] != types[1]:
        raise StreamsError(
            f"{node}: the foreign keys are of type {types[0]}, but the keys of the right table of type {types[1]}."
        )
    looked_up = _after(right, registrations.frame)
    row = F.when(F.col("ask") != F.lit(_END), F.col("row"))
    needs_response = (F.col("ask") != F.lit(_ASK_FOR_A_ROW)) | F.col("row").isNotNull() | F.col("known")
    time = F.greatest("t", F.when(row.isNotNull(), F.col("row_t")))
    columns = ["p", F.col("v").alias("k"), row.alias("v"), "hash", "home", time.alias("t"), "o"]
    responses = looked_up.where(needs_response).select(columns)
    return Answers(responses)


def change(context: Context, store: str, right: Changes, registrations: Questions) -> Answers:
    """The answers to those who want rows that have changed. asked: what has been asked in this batch, which `look_up` answers."""
    from pyspark.sql import functions as F

    changed = right.frame.where("old is not null or new is not null")
    changed = changed.select("p", F.col("k").alias("fk"), F.col("new").alias("row"), F.col("t").alias("row_t"), "o")
    # A subscription's key is JSON that begins with the foreign key: those of one are a range of the store.
    fk = F.to_json(F.struct(F.col("fk").cast(_key_of(context, store)).alias("fk")), {"ignoreNullFields": "false"})
    prefix = F.concat(F.substr(fk, F.lit(1), F.length(fk) - F.lit(1)), F.lit(",")).cast("binary")
    rows = changed.withColumn("x", F.explode(context.memory.tables[store].beginning(F.col("p"), prefix)))
    pairs = registrations.frame.select("p", F.struct(F.col("k").alias("fk"), F.col("v").alias("pk")).alias("k"))
    met = rows.select("p", "x.k", "x.v", "x.t", "row", "row_t", "o").join(pairs, ["p", "k"], "left_anti")
    return Answers(
        met.select("p", F.col("k.pk").alias("k"), F.col("row").alias("v"), "v.hash", "v.home", F.col("row_t").alias("t"), "o")
    )


def respond(node: str, operation: ForeignKeyRespond, extractor: Function, left: Changes, responses: Answers) -> Records:
    """The rows of the join that have changed; those that are gone have no value."""
    from pyspark.sql import functions as F

    if left.lookup is None:
        raise StreamsError(f"{node}: the left table of this join is kept nowhere; give it a store with Materialized.")
    inner = operation.kind is JoinKind.INNER
    now = _after(left, responses.frame).where(_hash(left, F.col("row")) == F.col("hash"))
    last = now.groupBy("p", "k").agg(F.max_by(F.struct("row", "v", "t", "o"), "o").alias("x"))
    deleted = F.col("x.v").isNull() if inner else F.lit(False)
    responded = last.select("p", "k", F.col("x.row").alias("l"), F.col("x.v").alias("r"), deleted.alias("gone"), "x.t", "x.o")
    old, new = _foreign_keys(node, extractor)
    had = "fo is not null" if inner else "old is not null or new is not null"
    settled = left.frame.withColumns({"fo": old, "fn": new}).where(f"fn is null and ({had})")
    nothing = null(kind_of(responses.frame, "v")).alias("r")
    over = F.lit(True) if inner else F.col("new").isNull()
    settled = settled.select("p", "k", F.col("new").alias("l"), nothing, over.alias("gone"), "t", "o")
    joined = column(keyed(operation.joiner, node, F.col("k"), F.col("l"), F.col("r")))
    value = F.when(~F.col("gone"), joined).alias("v")
    rows = responded.unionByName(settled)
    return Records(checked(lambda: rows.select("p", "k", value, "t", "o", F.lit(None).cast(HEADERS).alias("h")), node))


def _foreign_keys(node: str, extractor: Function) -> tuple[Column, Column]:
    """The foreign keys of the old and the new row of a change, NULL where there is no row."""
    from pyspark.sql import functions as F

    def of(name: str) -> Column:
        return F.when(F.col(name).isNotNull(), column(keyed(extractor, node, F.col("k"), F.col(name))))

    return of("old"), of("new")


def _hash(left: Changes, row: Column) -> Column:
    """Of a row's bytes, because a row that was restored may differ in what its serde does not write."""
    from pyspark.sql import functions as F

    return F.unhex(F.md5(formats.encoded(None, row, kind_of(left.frame, "new"), "row of the left table")))


def _after(table: Changes, lookup_keys: DataFrame) -> DataFrame:
    """Add `row` and `row_t`: value and time of the row that the table has for p and k after this batch."""
    from pyspark.sql import functions as F

    assert table.lookup is not None
    changed = table.frame.select("p", "k", F.struct("new", "t").alias("__c"))
    looked_up = table.lookup(lookup_keys).join(changed, ["p", "k"], "left")
    row = F.when(F.col("__c").isNotNull(), F.col("__c.new")).otherwise(F.col("sv"))
    time = F.when(F.col("__c").isNotNull(), F.col("__c.t")).otherwise(F.col("st"))
    return looked_up.withColumns({"row": row, "row_t": time}).drop("__c", "sv", "st")


def _key_of(context: Context, store: str) -> DataType:
    """The type of the foreign keys in a store of subscriptions."""
    key: Any = context.memory.tables[store].layout.keys[0][1]
    return key["fk"].dataType


def _subscribers(context: Context, store: str, last: DataFrame) -> StoreTable:
    from pyspark.sql.types import BinaryType, IntegerType, StructField, StructType

    key: DataType = kind_of(last, "k")
    value = StructType([StructField("hash", BinaryType()), StructField("home", IntegerType())])
    return context.memory.table(store, Layout((("k", key),), value))
