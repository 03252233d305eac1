"""The rows of a store in the order of a time that each of them has.

What waits for stream time (windows that close, records without a partner, changes that are held back) is read by the range of
time that a batch has brought, not by a scan of everything that waits. The index is a store beside the other one, without a
changelog: a restore fills it from the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.streams.engine import formats
from headrace.streams.engine.changelog import Changelog

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headrace.streams.engine.runtime import TaskRuntime


class TimeIndex:
    """An index over a store. Its keys are the time (8 bytes) and then the key of the row; its values are empty, or sizes."""

    def __init__(self, runtime: TaskRuntime, store: str, changelog: Changelog, time: Column, size: Column | None = None) -> None:
        """time: of a row, by the columns of the layout and `v`, not below 0; it stays the same as long as the row is there.

        size: its bytes by the same columns, for `oldest` and the totals; then the index has it as its value.
        """
        self.name = f"{store}#time"
        self._runtime, self._store, self._log, self._time, self._size = runtime, store, changelog, time, size
        runtime.create(self.name, persistent=bool(changelog.store.persistent))
        if size is not None:
            runtime.track_totals(self.name)

    def changes(self, updates: DataFrame) -> DataFrame:
        """What changes with rows that come and go, as a store has it: p, key, value, t, old. updates: those of the store."""
        from pyspark.sql import functions as F

        condition = "(v is null) <> (ov is null)" if self._size is None else "v is not null or ov is not null"
        changed = updates.where(condition).withColumn("gone", F.col("v").isNull())
        return self._rows(changed.withColumn("v", F.coalesce("v", "ov")), F.col("gone"))

    def fill(self, rows: DataFrame) -> None:
        """Hold exactly what these rows of the store say; runs a job."""
        from pyspark.sql import functions as F

        self._runtime.clear(self.name)
        self._runtime.load(self.name, self._rows(rows, F.lit(False)))

    def clear(self) -> None:
        """Hold nothing."""
        self._runtime.clear(self.name)

    def delete_expired(self, partition: int, limit: int) -> None:
        """Forget the rows of a task whose time is before a limit."""
        self._runtime.delete_before(self.name, partition, limit)

    def between(self, partition: Column, first: Column, last: Column) -> Column:
        """The rows from a time to another, both included: an array of the bytes `key` and `value` of the store, in order."""
        from pyspark.sql import functions as F

        ids = F.lit(self._runtime.id), F.lit(self._store), F.lit(self.name)
        bounds = first.cast("bigint"), last.cast("bigint")
        return F.call_function("headrace_state_range", *ids, partition.cast("int"), *bounds)

    def oldest(self, partition: Column, last: Column, rows: Column, size: Column) -> Column:
        """The rows up to a time, and of those behind it the oldest that are so many and so large: as `between` has them.

        Rows of one time come together.
        """
        from pyspark.sql import functions as F

        ids = F.lit(self._runtime.id), F.lit(self._store), F.lit(self.name)
        numbers = (number.cast("bigint") for number in (last, rows, size))
        return F.call_function("headrace_state_oldest", *ids, partition.cast("int"), *numbers)

    def total(self, partition: Column, *, size: bool) -> Column:
        """How many rows a task has, or how large all of them are."""
        from pyspark.sql import functions as F

        ids = F.lit(self._runtime.id), F.lit(self.name)
        return F.call_function("headrace_state_total", *ids, partition.cast("int"), F.lit(size))

    def _rows(self, rows: DataFrame, deleted: Column) -> DataFrame:
        from pyspark.sql import functions as F

        row = self._log.key({name: F.col(name) for name in self._log.layout.names[1:]})
        key = F.concat(F.call_function("headrace_long_bytes", self._time.cast("bigint"), F.lit(8)), row)
        content = F.lit(b"") if self._size is None else formats.long_bytes(self._size.cast("bigint"))
        value = F.when(~deleted, content)
        old = F.lit(None).cast("binary")
        return rows.select(
            F.col("p").cast("int").alias("p"), key.alias("key"), value.alias("value"), F.col("t").cast("bigint").alias("t"),
            old.alias("old"),
        )  # fmt: skip
