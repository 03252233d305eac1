"""What a store holds between batches: rows by task and key, in two layers of Spark's memory (and its local disk beyond that).

Most rows are in `base`; what has changed since `base` was written is in `delta`, which wins. A batch looks its keys up in both
and adds to `delta` only, so that it costs what it changes and one scan of `base`; a `delta` that has grown is merged into a new
`base`. Both are cut off from the queries that made them, and laid out by task and key, so that a look-up moves
the batch's rows only. Nothing of it outlives the process: the changelog does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

_MERGE_ROWS = 20_000  # below this number of rows a delta is not worth a new base


@dataclass(frozen=True)
class Layout:
    """The columns of a store: `keys` beside the task's partition, in the order of the changelog's key; `value`: type of `v`."""

    keys: tuple[tuple[str, DataType], ...]
    value: DataType

    @property
    def names(self) -> list[str]:
        """What identifies a row."""
        return ["p", *(name for name, _ in self.keys)]

    def schema(self) -> str:
        """Columns and types as DDL."""
        keys = [f"{name} {kind.simpleString()}" for name, kind in self.keys]
        return ", ".join(["p int", *keys, f"v {self.value.simpleString()}", "t bigint"])


class StoreTable:
    """The rows of one store: `Layout.names`, `v`, `t` (bigint, ms); a row whose `v` is NULL is gone."""

    def __init__(self, spark: SparkSession, layout: Layout, parts: int) -> None:
        """parts: into how many pieces it is cut, one for each slot that works on it."""
        self.layout = layout
        self._spark, self._parts = spark, parts
        self._base = self._delta = self._keep(spark.createDataFrame([], layout.schema()))
        self._delta_rows = self._base_rows = 0
        self.kept_from: dict[int, int] = {}
        """By task, the time (ms) before which windows have expired; they go when the delta is merged the next time."""

    def lookup(self, frame: DataFrame, keys: Sequence[str] | None = None) -> DataFrame:
        """Add `sv` and `st`, value and time of each row's row here, NULL if there is none. keys: the frame's names of them."""
        from pyspark.sql import functions as F

        mine = self.layout.names
        names = list(keys or mine)
        for layer in ("b", "d") if self._delta_rows else ("b",):
            kept = self._base if layer == "b" else self._delta
            renamed = kept.select(
                *[F.col(own).alias(f"__{layer}_{own}") for own in mine],
                F.struct("v", "t").alias(f"__{layer}"),
            )
            condition = [F.col(name) == F.col(f"__{layer}_{own}") for name, own in zip(names, mine, strict=True)]
            joined = frame.hint("shuffle_hash").join(renamed, _all(condition), "left")
            frame = joined.drop(*[f"__{layer}_{own}" for own in mine])
        found = F.coalesce(F.col("__d"), F.col("__b")) if self._delta_rows else F.col("__b")
        live = found["v"].isNotNull()
        return frame.withColumns({"sv": F.when(live, found["v"]), "st": F.when(live, found["t"])}).drop("__b", "__d")

    def rows(self) -> DataFrame:
        """All rows that there are."""
        if not self._delta_rows:
            return self._base
        old = self._base.join(self._delta.select(*self.layout.names), self.layout.names, "left_anti")
        return old.unionByName(self._delta.where("v is not null"))

    def apply(self, updates: DataFrame) -> None:
        """Take in rows of the same columns, each key once; runs a job."""
        names = self.layout.names
        merged = updates.select(*names, "v", "t")
        if self._delta_rows:
            merged = self._delta.join(updates.select(*names), names, "left_anti").unionByName(merged)
        before, self._delta = self._delta, self._keep(merged)
        self._delta_rows = self._delta.count()
        _release(before, self._base)
        if self._delta_rows > max(_MERGE_ROWS, self._base_rows // 4):
            self._merge()

    def replace(self, rows: DataFrame) -> None:
        """Hold exactly these rows from now on; runs a job."""
        old = self._base, self._delta
        self._base = self._keep(rows.select(*self.layout.names, "v", "t"))
        self._base_rows = self._base.count()
        self._delta, self._delta_rows = self._base, 0
        for frame in old:
            _release(frame, self._base)

    def _merge(self) -> None:
        self.replace(self._unexpired(self.rows()))

    def _unexpired(self, rows: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        if not self.kept_from:
            return rows
        times = self._spark.createDataFrame(list(self.kept_from.items()), "p int, first bigint")
        end = F.col("e") if "e" in self.layout.names else F.col("w")  # a session is kept by its end, a window by its start
        kept = rows.join(F.broadcast(times), "p", "left").where(F.col("first").isNull() | (end >= F.col("first")))
        return kept.drop("first")

    def _keep(self, frame: DataFrame) -> DataFrame:
        return frame.repartition(self._parts, *self.layout.names).localCheckpoint(eager=False)


def release(frame: DataFrame) -> None:
    """Give back the memory of a frame that was cut off with `localCheckpoint`."""
    plan = frame._jdf.queryExecution().logical()  # type: ignore[operator]
    if plan.getClass().getSimpleName() == "LogicalRDD":
        plan.rdd().unpersist(False)


def _release(frame: DataFrame, kept: DataFrame) -> None:
    if frame is not kept:
        release(frame)


def _all(conditions: Sequence[Column]) -> Column:
    result = conditions[0]
    for condition in conditions[1:]:
        result = result & condition
    return result
