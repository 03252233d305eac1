"""An index of a store's rows by time.

Rows that wait for stream time (windows that close, unmatched records, suppressed changes) are read by the range of time by which
a batch advances, not by a scan of all waiting rows. The index is another store, without a changelog: a restore fills it from the
rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.sql_functions import F
from headrace.streams.engine import formats
from headrace.streams.engine.changelog import Changelog

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headrace.streams.engine.runtime import TaskRuntime


class TimeIndex:
    """An index over a store. Its keys are the time (8 bytes) and then the key of the row; its values are empty, or sizes."""

    def __init__(self, runtime: TaskRuntime, store: str, changelog: Changelog, time: Column, size: Column | None = None) -> None:
        """time: of a row, by the columns of the layout and `v`, not below 0; it must not change while the row exists.

        size: of a row in bytes, by the same columns, for `oldest` and the totals; it is the value in the index.
        """
        self.name = f"{store}#time"
        self._runtime, self._store, self._log, self._time, self._size = runtime, store, changelog, time, size
        runtime.create(self.name, persistent=bool(changelog.store.persistent))
        if size is not None:
            runtime.track_totals(self.name)

    def changes(self, updates: DataFrame) -> DataFrame:
        """The changes of the index for updates of the store, in the store's format: p, key, value, t, old."""
        condition = "(v is null) <> (ov is null)" if self._size is None else "v is not null or ov is not null"
        changed = updates.where(condition).withColumn("deleted", F.col("v").isNull())
        return self._rows(changed.withColumn("v", F.coalesce("v", "ov")), F.col("deleted"))

    def fill(self, rows: DataFrame) -> None:
        """Replace the contents by an index of these rows; runs a job."""
        self._runtime.clear(self.name)
        self._runtime.load(self.name, self._rows(rows, F.lit(False)))

    def clear(self) -> None:
        """Delete all rows."""
        self._runtime.clear(self.name)

    def delete_expired(self, partition: int, limit: int) -> None:
        """Delete the rows of a task whose time is before a limit."""
        self._runtime.delete_before(self.name, partition, limit)

    def between(self, partition: Column, first: Column, last: Column) -> Column:
        """The rows between two times, both inclusive: an array of the bytes `key` and `value` of the store, in order."""
        ids = F.lit(self._runtime.id), F.lit(self._store), F.lit(self.name)
        bounds = first.cast("bigint"), last.cast("bigint")
        return F.call_function("headrace_state_range", *ids, partition.cast("int"), *bounds)

    def oldest(self, partition: Column, last: Column, rows: Column, size: Column) -> Column:
        """The rows up to a time, and the oldest of the later ones, up to this many rows and bytes, as `between` returns them.

        Rows with the same time are returned together.
        """
        ids = F.lit(self._runtime.id), F.lit(self._store), F.lit(self.name)
        numbers = (number.cast("bigint") for number in (last, rows, size))
        return F.call_function("headrace_state_oldest", *ids, partition.cast("int"), *numbers)

    def total(self, partition: Column, *, size: bool) -> Column:
        """The number of rows of a task, or their total size."""
        ids = F.lit(self._runtime.id), F.lit(self.name)
        return F.call_function("headrace_state_total", *ids, partition.cast("int"), F.lit(size))

    def _rows(self, rows: DataFrame, deleted: Column) -> DataFrame:
        row = self._log.key({name: F.col(name) for name in self._log.layout.names[1:]})
        key = F.concat(F.call_function("headrace_long_bytes", self._time.cast("bigint"), F.lit(8)), row)
        content = F.lit(b"") if self._size is None else formats.long_bytes(self._size.cast("bigint"))
        value = F.when(~deleted, content)
        old = F.lit(None).cast("binary")
        return rows.select(
            F.col("p").cast("int").alias("p"), key.alias("key"), value.alias("value"), F.col("t").cast("bigint").alias("t"),
            old.alias("old"),
        )  # fmt: skip
