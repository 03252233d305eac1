"""Folds the values of a key in a batch, in their order: `count`, `reduce` and `aggregate`.

User functions get Columns; Spark folds the values of a key with its function `aggregate` over a sorted list, one after the other
as Kafka Streams does, so any function may be used, not only associative ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.sql_functions import F
from headrace.streams.engine import formats
from headrace.streams.engine.columns import apply, checked, column, null
from headrace.streams.operations import Aggregation, Count, Fold, Reduce
from headrace.streams.serdes import Serde

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType


def result_type(
    spark: SparkSession, operation: Aggregation, node: str, row: tuple[DataType, DataType], serde: Serde | None
) -> DataType:
    """The type of an aggregate. row: types of key and value; serde: of the store, which decides if it is given."""
    from pyspark.sql.types import LongType, VariantType

    if isinstance(operation, Count):
        return LongType()
    if isinstance(operation, Reduce):
        return row[1]
    if serde is not None and not isinstance(formats.type_of(serde), VariantType):
        return formats.type_of(serde)
    frame = spark.createDataFrame([], f"k {row[0].simpleString()}, v {row[1].simpleString()}")
    kind = _type(frame, column(apply(operation.initializer, node)), node)
    for _ in range(2):  # the sum of 0 and a long is a long, and so is the sum of that and a long
        kind = _type(frame, aggregate_with(operation, node, _col("k"), _col("v"), null(kind), kind, cast=False), node)
    return kind


def _type(frame: DataFrame, value: Column, node: str) -> DataType:
    return checked(lambda: frame.select(value.alias("x")), node).schema["x"].dataType


def _col(name: str) -> Column:
    return F.col(name)


def aggregate_with(
    operation: Aggregation, node: str, key: Column, value: Column, before: Column, kind: DataType, cast: bool = True
) -> Column:
    """The aggregate after one more value. before: NULL if there is none yet."""
    if isinstance(operation, Count):
        return F.coalesce(before, F.lit(0)) + F.lit(1)
    if isinstance(operation, Reduce):
        result = F.when(before.isNull(), value).otherwise(column(apply(operation.reducer, node, before, value)))
    else:
        start = column(apply(operation.initializer, node)).cast(kind)
        result = column(apply(operation.aggregator, node, key, value, F.coalesce(before, start)))
    return result.cast(kind) if cast else result


def may_be_null(spark: SparkSession, operation: Aggregation, node: str, row: tuple[DataType, DataType], kind: DataType) -> bool:
    """Whether an aggregate may become NULL by a record with a value, as far as Spark can tell. row: types of key and value."""
    from pyspark.sql.types import StructField, StructType

    if isinstance(operation, Count):
        return False
    types = (("k", row[0], False), ("v", row[1], False), ("a", kind, isinstance(operation, Fold)))
    frame = spark.createDataFrame([], StructType([StructField(*field) for field in types]))
    value = aggregate_with(operation, node, _col("k"), _col("v"), _col("a"), kind)
    return checked(lambda: frame.select(value.alias("x")), node).schema["x"].nullable


def unchanged_by_null(new: Column, value: Column, before: Column) -> Column:
    """The aggregate after a value that may be NULL, as in windows: a function that returns NULL for it changes nothing."""
    return F.when(value.isNull(), F.coalesce(new, before)).otherwise(new)


def aggregate_without(operation: Aggregation, node: str, key: Column, value: Column, before: Column, kind: DataType) -> Column:
    """The aggregate of a table without an old value; NULL stays NULL."""
    if isinstance(operation, Count):
        return before - F.lit(1)
    subtractor = operation.subtractor
    assert subtractor is not None, node
    arguments = (before, value) if isinstance(operation, Reduce) else (key, value, before)
    return F.when(before.isNotNull(), column(apply(subtractor, node, *arguments)).cast(kind))


def merged(operation: Aggregation, node: str, key: Column, left: Column, right: Column, kind: DataType) -> Column:
    """Two sessions' aggregates as one; `left` is NULL before the first."""
    if isinstance(operation, Count):
        return F.coalesce(left, F.lit(0)) + right
    if isinstance(operation, Reduce):
        return F.when(left.isNull(), right).otherwise(column(apply(operation.reducer, node, left, right)).cast(kind))
    assert isinstance(operation, Fold) and operation.merger is not None, node
    start = column(apply(operation.initializer, node)).cast(kind)
    return column(apply(operation.merger, node, key, F.coalesce(left, start), right)).cast(kind)


def ordered(order: list[Column], values: Sequence[Column], kinds: Sequence[DataType]) -> Column:
    """An aggregate: the values of a group as structs, sorted by where the records stood.

    kinds: the types of values that may be anything.
    """
    places = [expression.alias(f"_{i}") for i, expression in enumerate(order)]
    listed = F.collect_list(F.struct(*places, *values))
    if all(map(sortable, kinds)):
        return F.sort_array(listed)
    names = [f"_{i}" for i in range(len(order))]

    def place(item: Column) -> Column:
        return F.struct(*[item[name] for name in names])

    return F.array_sort(listed, lambda a, b: F.when(place(a) < place(b), -1).when(place(a) > place(b), 1).otherwise(0))


def sortable(kind: DataType) -> bool:
    """Whether Spark can sort lists of this type, which it cannot with maps and VARIANT in it."""
    text = kind.simpleString()
    return "map<" not in text and "variant" not in text
