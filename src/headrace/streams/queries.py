"""Reads of a state store from outside: `KafkaStreams.store` and the driver for tests give one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from headrace.streams.stores import StateStore, StoreKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class StoredTable(Protocol):
    """What is asked of a store."""

    def rows(self) -> DataFrame:
        """All rows."""
        ...

    def reads_alone(self) -> bool:
        """Whether `get` works for its serdes."""
        ...

    def get(self, key: Any) -> Any:
        """The value of a key, without a job."""
        ...


class ReadOnlyStore:
    """A store as it was after the last batch. Keys and values are those of Python; each call but `get` is a Spark job."""

    def __init__(self, store: StateStore, look: Callable[[], AbstractContextManager[StoredTable]]) -> None:
        """look: gives the store's table, which stays as it is until the end of the `with` block."""
        self._store, self._look = store, look

    def get(self, key: Any, as_of: int | None = None) -> Any:
        """The value of a key, None if there is none: a look-up, unless the store's serdes need Spark (docs/streams.md).

        as_of: of a versioned store, the time (ms) that it is wanted of; else the last one.
        """
        from pyspark.sql import functions as F

        if self._store.kind is StoreKind.VERSIONED:
            versions = self.versions(key)
            return next((value for time, value in reversed(versions) if as_of is None or time <= as_of), None)
        with self._look() as table:
            if table.reads_alone():
                return table.get(key)
            found = table.rows().where(F.col("k") == F.lit(key)).select("v").limit(1).collect()
        return found[0][0] if found else None

    def versions(self, key: Any) -> list[tuple[int, Any]]:
        """The versions of a key that a versioned store keeps: time (ms) and value, None for a deletion; the oldest first."""
        from pyspark.sql import functions as F

        with self._look() as table:
            found = table.rows().where(F.col("k") == F.lit(key)).select("w", "v").orderBy("w").collect()
        return [(row[0], row[1]) for row in found]

    def range(self, low: Any, high: Any) -> Iterator[tuple[Any, Any]]:
        """Keys with their values from `low` to `high`, both inclusive, sorted; None is no bound."""
        from pyspark.sql import functions as F

        condition: Column = F.lit(True)
        if low is not None:
            condition = condition & (F.col("k") >= F.lit(low))
        if high is not None:
            condition = condition & (F.col("k") <= F.lit(high))
        with self._look() as table:
            rows = table.rows()
            if self._store.kind is StoreKind.VERSIONED:
                rows = (
                    rows.groupBy("p", "k").agg(F.max_by(F.struct("v"), "w").alias("x")).select("k", "x.v").where("v is not null")
                )
            found = rows.where(condition).select("k", "v").orderBy("k").collect()
        return ((row[0], row[1]) for row in found)

    def all(self) -> Iterator[tuple[Any, Any]]:
        """All keys with their (last) values, sorted; of a windowed store ((key, start, end or None), value)."""
        if self._store.kind in (StoreKind.WINDOW, StoreKind.SESSION):
            return self._windows(None)
        return self.range(None, None)

    def fetch(self, key: Any, time_from: int | None = None, time_to: int | None = None) -> Iterator[tuple[int, Any]]:
        """Windows of a key that begin between two times in ms, both inclusive: (start, value), sorted."""
        rows = self._windows(key)
        return ((k[1], v) for k, v in rows if (time_from is None or k[1] >= time_from) and (time_to is None or k[1] <= time_to))

    def approximate_num_entries(self) -> int:
        """How many rows there are; exact here."""
        with self._look() as table:
            return table.rows().count()

    def _windows(self, key: Any) -> Iterator[tuple[Any, Any]]:
        from pyspark.sql import functions as F

        with self._look() as table:
            rows = table.rows()
            frame = rows if key is None else rows.where(F.col("k") == F.lit(key))
            end = F.col("e") if "e" in frame.columns else F.col("w") + F.lit(self._store.window_size_ms or 0)
            found = frame.select("k", "w", end.alias("e"), "v").orderBy("k", "w").collect()
        return (((row[0], row[1], row[2]), row[3]) for row in found)
