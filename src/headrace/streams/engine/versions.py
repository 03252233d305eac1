"""Every single change of a table in a batch, for stream-table joins between two changes (`Changes.versions`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from headrace.sql_functions import F, Window
from headrace.streams.engine.columns import kind_of
from headrace.streams.engine.flows import Changes

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

Step = Callable[["Column", "Column"], "Column"]


def folded(grouped: DataFrame, items: str, kind: DataType, step: Step, names: Sequence[str] = ("p", "k")) -> DataFrame:
    """The versions of an aggregation. grouped: names, `sv` (the previous value) and a list of structs whose first field is the
    place; step: returns the value after one of these.
    """
    place = grouped.schema[items].dataType.elementType.names[0]  # type: ignore[attr-defined]
    before = F.struct(F.col("sv").cast(kind).alias("v"), F.expr(f"cast(array() as array<{kind.simpleString()}>)").alias("all"))

    def add(state: Column, item: Column) -> Column:
        value = step(state["v"], item)
        return F.struct(value.alias("v"), F.array_append(state["all"], value).alias("all"))

    values = F.aggregate(items, before, add, lambda state: state["all"])
    return _listed(grouped, F.transform(items, lambda item: item[place]), values, names)


def counted(grouped: DataFrame, places: str, names: Sequence[str]) -> DataFrame:
    """The versions of a count. grouped: names, `sv` (the previous count) and the list of places."""
    before = F.coalesce("sv", F.lit(0))
    return _listed(grouped, F.col(places), F.transform(places, lambda _, i: before + i + F.lit(1)), names)


def joined(left: Changes, right: Changes, row: Callable[[Column, Column], Column]) -> DataFrame:
    """The versions of a join of two tables. row: returns the joined value of both sides' values."""
    assert left.versions is not None and right.versions is not None and left.lookup is not None and right.lookup is not None
    kinds = kind_of(left.versions, "v"), kind_of(right.versions, "v")
    nothing = [F.lit(None).cast(f"struct<v:{kind.simpleString()}>") for kind in kinds]
    value = F.struct("v")
    left_versions = left.versions.select("p", "k", "o", "at", value.alias("l"), nothing[1].alias("r"))
    right_versions = right.versions.select("p", "k", "o", "at", nothing[0].alias("l"), value.alias("r"))
    until_now = Window.partitionBy("p", "k").orderBy("o").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    last = [F.last(side, ignorenulls=True).over(until_now).alias(side) for side in ("l", "r")]
    frame = left.lookup(left_versions.unionByName(right_versions).select("p", "k", "o", "at", *last)).withColumnsRenamed(
        {"sv": "lv", "st": "lt"}
    )
    frame = right.lookup(frame).withColumnsRenamed({"sv": "rv", "st": "rt"})
    sides = [F.when(F.col(side).isNotNull(), F.col(side)["v"]).otherwise(F.col(f"{side}v")) for side in ("l", "r")]
    return frame.select("p", "k", row(*sides).alias("v"), "o", "at")


def versions_by_key(versions: DataFrame) -> DataFrame:
    """The versions of each p and k in one row, as a list `versions` of structs (o, v) in the order of their places."""

    def compared(version: Column, other: Column) -> Column:
        return F.when(version["o"] < other["o"], -1).when(version["o"] > other["o"], 1).otherwise(0)

    grouped = versions.groupBy("p", "k").agg(F.collect_list(F.struct("o", "v")).alias("versions"))
    return grouped.select("p", "k", F.array_sort("versions", compared).alias("versions"))


def version_at(place: str) -> Column:
    """Of the list `versions`, the last one that is not behind a place; NULL if there is none.

    Found by halves: a key may have as many versions in a batch as there are records that ask for them.
    """
    number = F.call_function("headrace_versions_until", F.col("versions"), F.col(place))
    return F.when(number > 0, F.col("versions")[number - 1])


def _listed(grouped: DataFrame, places: Column, values: Column, names: Sequence[str]) -> DataFrame:
    rows = grouped.select(*names, F.explode(F.arrays_zip(places.alias("o"), values.alias("v"))).alias("x"))
    return rows.select(*names, "x.v", "x.o", F.col("x.o").alias("at"))
