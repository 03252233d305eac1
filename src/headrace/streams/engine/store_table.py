"""The rows of a store between batches: by task and key in RocksDB, on local disk (`jvm/java/io/headrace/streams`).

A row is stored as the bytes of its changelog record, with the time before the value. An operator looks up rows by key, so the
cost of a batch does not depend on the size of the store. The store is deleted with the process; only the changelog is durable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.errors import StreamsError
from headrace.sql_functions import F
from headrace.streams.engine import formats
from headrace.streams.engine.changelog import Changelog
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.store_reader import StoreReader
from headrace.streams.engine.time_index import TimeIndex
from headrace.streams.stores import StateStore, StoreKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headrace.streams.engine.runtime import TaskRuntime

_ALWAYS = 2**63 - 1
_SWEEP_ROWS = 20_000  # expired windows are deleted after this many changes, or a fourth of the store's rows


class StoreTable:
    """The rows of one store: `Layout.names`, `v`, `t` (bigint, ms)."""

    def __init__(
        self, runtime: TaskRuntime, name: str, changelog: Changelog, time: Column | None = None, size: Column | None = None
    ) -> None:
        """time: of each row, if `due` is to find rows by it; size: its bytes, for `oldest`."""
        self.layout: Layout = changelog.layout
        self.runtime, self._name, self._log = runtime, name, changelog
        self._changes = 0
        self.expired_until: dict[int, int] = {}
        """By task, the time (ms) up to which windows have expired: look-ups ignore them, and `delete_expired` deletes them."""
        runtime.create(name, persistent=bool(changelog.store.persistent), tail=changelog.tail_bytes)
        self.index = None if time is None else TimeIndex(runtime, name, changelog, time, size)

    @property
    def store_with_serdes(self) -> StateStore:
        """The store, with the serdes of its rows."""
        return replace(self._log.store, key_serde=self._log.key_serde, value_serde=self._log.value_serde)

    def lookup(self, frame: DataFrame, keys: Sequence[str] | None = None) -> DataFrame:
        """Add `sv` and `st`, value and time of the stored row, NULL if there is none. keys: the key columns of the frame.

        For a versioned store the last version; its keys are p and k.
        """
        if self._log.versioned:
            looked_up = self.version(frame, F.lit(_ALWAYS), keys)
            return looked_up.withColumn("st", F.when(F.col("sv").isNotNull(), F.col("st")))
        partition, *key_columns = list(keys or self.layout.names)
        key = self._log.key(dict(zip(self.layout.names[1:], map(F.col, key_columns), strict=True)))
        row = F.call_function("headrace_state_get", *self._where(), F.col(partition).cast("int"), key)
        looked_up = frame.withColumn("__row", row)
        return looked_up.withColumns({"sv": self._value(F.col("__row")), "st": _time(F.col("__row"))}).drop("__row")

    def version(self, frame: DataFrame, time: Column, keys: Sequence[str] | None = None) -> DataFrame:
        """Add `sv` and `st`, value and time of the last version of p and k that is not after a time: `sv` is NULL for one that
        deletes, both if there is none.
        """
        partition, name = keys or ("p", "k")
        key = self._log.key({"k": F.col(name)}, whole=False)
        row = F.call_function("headrace_state_version", *self._where(), F.col(partition).cast("int"), key, time.cast("bigint"))
        looked_up = frame.withColumn("__row", row)
        return looked_up.withColumns({"sv": self._value(F.col("__row")), "st": _time(F.col("__row"))}).drop("__row")

    def row_of_version(self, partition: Column, key: Column, time: Column) -> Column:
        """The bytes of a version, time and then value, NULL if there is none of this time."""
        whole = self._log.key({"k": key, "w": time})
        return F.call_function("headrace_state_get", *self._where(), partition.cast("int"), whole)

    def rows_of_key(self, partition: Column, key: Column, first: Column) -> Column:
        """The rows of a key whose first time behind it (of a session its end) is not before `first`: an array of `Layout.names`
        without p and k, `v`, `t`.
        """
        prefix, tail = self._log.key({"k": key}, whole=False), F.lit(self._log.tail_bytes)
        where = *self._where(), partition.cast("int"), prefix, tail, first.cast("bigint")
        return self._decoded(F.call_function("headrace_state_rows_of_key", *where), without="k")

    def last_number(self, partition: Column, key: Column, time: Column) -> Column:
        """The greatest `n` of the rows of a key and a time `w`, NULL if there are none."""
        prefix = F.concat(self._log.key({"k": key}, whole=False), formats.long_bytes(time))
        rows = F.call_function("headrace_state_scan", *self._where(), partition.cast("int"), prefix)
        own = F.filter(rows, lambda row: F.length(row["key"]) == F.length(prefix) + F.lit(4))  # others are of longer keys
        number = F.transform(own, lambda row: F.call_function("headrace_bytes_long", F.substr(row["key"], F.lit(-4), F.lit(4))))
        return F.array_max(number)

    def prefix_scan(self, partition: Column, prefix: Column) -> Column:
        """The rows whose key begins with some bytes: an array of `Layout.names` without p, `v`, `t`."""
        return self._decoded(F.call_function("headrace_state_scan", *self._where(), partition.cast("int"), prefix))

    def due(self, tasks: DataFrame, last: Column, first: Column | None = None) -> DataFrame:
        """The rows whose time is not after `last` and not before `first`, of some tasks: `Layout.names`, `v`, `t`.

        tasks: p, each once, and the columns that the times are computed from.
        """
        assert self.index is not None
        rows = self.index.between(F.col("p"), F.lit(0) if first is None else first, last)
        return tasks.select("p", F.explode(self._decoded(rows)).alias("row")).select("p", "row.*")

    def oldest(self, tasks: DataFrame, last: Column, count: Column, size: Column) -> DataFrame:
        """The rows that are due at `last`, and the oldest of the others, at least this many rows and bytes, as `due` returns
        them.

        tasks: p, each once, and the columns that the numbers are computed from.
        """
        assert self.index is not None
        rows = self.index.oldest(F.col("p"), last, count, size)
        return tasks.select("p", F.explode(self._decoded(rows)).alias("row")).select("p", "row.*")

    def _decoded(self, rows: Column, without: str = "") -> Column:
        def row(stored_row: Column) -> Column:
            columns = [column for column in self._log.keys(stored_row["key"]) if column[0] != without]
            value, time = self._value(stored_row["value"]), _time(stored_row["value"])
            return F.struct(*[column.alias(name) for name, column in columns], value.alias("v"), time.alias("t"))

        return F.transform(rows, row)

    def stored(self) -> DataFrame:
        """All rows as stored: p, key, and `value` with the time in front."""
        return self.runtime.scan(self._name)

    def rows(self) -> DataFrame:
        """All rows, decoded: the columns of the key, value and time."""
        keys = [column.alias(name) for name, column in self._log.keys(F.col("key"))]
        value, time = self._value(F.col("value")), _time(F.col("value"))
        return self.stored().select("p", *keys, value.alias("v"), time.alias("t"))

    def reader(self) -> StoreReader:
        """A reader for use between batches. Raises StreamsError if the store is closed."""
        if self.runtime.is_closed:
            raise StreamsError(f"Store {self._name} is currently closed.")
        return StoreReader(self.runtime, self._name, self._log, self.expired_until)

    def load(self, rows: DataFrame) -> None:
        """Load rows outside of a batch: `Layout.names`, `v` (NULL deletes), `t`; runs a job."""
        self.runtime.load(self._name, self._log.encoded(rows))
        self._fill_index()

    def restore(self, rows: DataFrame) -> None:
        """Replace the contents by rows of a changelog: p, key, value, t, in its order; runs a job."""
        self.runtime.clear(self._name)
        self.runtime.load(self._name, rows)
        self._fill_index()

    def clear(self) -> None:
        """Delete all rows."""
        self.runtime.clear(self._name)
        if self.index is not None:
            self.index.clear()

    def _fill_index(self) -> None:
        if self.index is not None:
            self.index.fill(self.rows())

    def delete_expired(self, changes: int) -> None:
        """Delete expired windows now and then. changes: how many rows a batch has changed."""
        self._changes += changes
        if not self.expired_until or self._changes < _SWEEP_ROWS or self._changes < self.runtime.size(self._name) // 4:
            return
        self._changes = 0
        # The key of a session has its end, and then its start; that of a window its start, and then a sequence number.
        behind = 16 if self._log.store.kind is StoreKind.SESSION else 12
        for partition, first in self.expired_until.items():
            if self._log.versioned:
                self.runtime.expire_versions(self._name, partition, first)
                continue
            self.runtime.expire(self._name, partition, behind, first)
            if self.index is not None:
                self.index.delete_expired(partition, first)

    def _where(self) -> tuple[Column, Column]:
        return F.lit(self.runtime.id), F.lit(self._name)

    def _value(self, row: Column) -> Column:
        body = self._log.body(F.substr(row, F.lit(9), F.length(row) - F.lit(8)))
        return formats.decoded(self._log.value_serde, body, self.layout.value)[0].cast(self.layout.value)


def _time(row: Column) -> Column:
    return F.call_function("headrace_bytes_long", F.substr(row, F.lit(1), F.lit(8)))
