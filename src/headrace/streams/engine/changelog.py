"""Writes the changes of a store to its changelog topic, and restores the store from it.

Key, value and timestamp are those that Kafka Streams writes for a store of this kind. Headers make the restore exact: `b`, the
number of the batch that wrote the record, and `o`, the row that it replaced (time, then value; absent if there was none). An
interrupted batch is run again from the state before it, which `o` preserves even if the log was compacted (docs/decisions/0012).
It may write other rows than before (the time of the clock, a new version of the application), so what it has written is taken
back in the topic first.

A versioned store has a row for each version: in the store its time follows the key, and a byte before the value tells whether
there is one; in the topic the time is the record's, and a deletion has no value.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.record import HEADERS_TYPE
from headrace.sql_functions import F
from headrace.streams.engine import formats
from headrace.streams.engine.layout import Layout
from headrace.streams.row_headers import without_headers_column
from headrace.streams.serdes import Serde
from headrace.streams.stores import StateStore, StoreKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

BATCH, OLD = "b", "o"
UNDONE = 2**63 - 1
"""The number, as of a batch, of records that take back what an interrupted batch has written: their row is that of `o`."""
REMEDY = "Reset the application (kafka-streams-application-reset.sh), or give the store another name."
_TAILS = {
    StoreKind.WINDOW: (("w", 8), ("n", 4)), StoreKind.SESSION: (("e", 8), ("w", 8)), StoreKind.VERSIONED: (("w", 8),),
}  # fmt: skip
_GONE, _THERE = b"\x00", b"\x01"


@dataclass(frozen=True)
class Changelog:
    """The topic of a store, and the format of its rows there."""

    topic: str
    store: StateStore
    layout: Layout
    key_serde: Serde
    value_serde: Serde

    @classmethod
    def of(cls, topic: str, store: StateStore, layout: Layout) -> Changelog:
        """With the store's serdes; else, and for buffers, whose rows are internal, with serdes inferred from the types."""
        has_user_rows = store.kind is not StoreKind.BUFFER
        key, value = (store.key_serde, store.value_serde) if has_user_rows else (None, None)
        return cls(topic, store, layout, key or formats.inferred(layout.keys[0][1]), value or formats.inferred(layout.value))

    @property
    def signature(self) -> str:
        """A hash of everything that existing rows depend on: 8 hexadecimal digits."""
        kind, value = self.layout.keys[0][1].simpleString(), self.value_serde.name
        headers = " headers" if self.store.with_headers else ""
        text = f"{self.store.kind} {self.store.window_size_ms} {self.key_serde.name} {kind} {value}{headers}"
        return f"{zlib.crc32(text.encode()):08x}"

    @property
    def what(self) -> str:
        """A description of the store's values, for messages."""
        return f"value of store {self.store.name}"

    @property
    def versioned(self) -> bool:
        """Whether the store keeps history."""
        return self.store.kind is StoreKind.VERSIONED

    def encoded(self, rows: DataFrame) -> DataFrame:
        """Rows in the store's format: p, key, value, t, and `old`, the previous row (time, then value), NULL if none.

        rows: the columns of the layout, v, t, and `ov`, `ot` of the previous row if known, or its bytes as `old`.
        """
        value = self.stored(formats.encoded(self.value_serde, F.col("v"), self.layout.value, self.what))
        old = F.col("old") if "old" in rows.columns else F.lit(None).cast("binary")
        if "ov" in rows.columns:
            before = formats.encoded(self.value_serde, F.col("ov"), self.layout.value, self.what)
            old = F.concat(formats.long_bytes(F.col("ot")), before)
        key = self.key({name: F.col(name) for name in self.layout.names[1:]})
        columns = [F.col("p").cast("int").alias("p"), key.alias("key"), value.alias("value")]
        return rows.select(*columns, F.col("t").cast("bigint").alias("t"), old.alias("old"))

    def records(self, stored: DataFrame) -> DataFrame:
        """Rows of the store as records, columns of `delivery.COLUMNS`, without the previous rows.

        stored: p, key, and `value` with the time in front of it.
        """
        topic, headers = F.lit(self.topic).alias("topic"), F.lit(None).cast(HEADERS_TYPE).alias("headers")
        time = F.call_function("headrace_bytes_long", F.substr("value", F.lit(1), F.lit(8)))
        value = F.substr("value", F.lit(9), F.length("value") - F.lit(8))
        encoded = stored.withColumns({"t": time, "value": value})
        if self.versioned:
            key, value = F.substr("key", F.lit(1), F.length("key") - F.lit(8)), self.body(F.col("value"))
            encoded = encoded.withColumns({"key": key, "value": value})
        return encoded.select(topic, F.col("p").alias("partition"), "key", "value", headers, "t", F.lit(True).alias("numbered"))

    def restored(self, log: DataFrame, pending: Mapping[int, int]) -> DataFrame:
        """The rows from the records of the topic, as they were before interrupted batches: p, key, value, t.

        log: the records, columns partition, offset, key, value, headers, t; pending: the number of the interrupted batch, by
        partition.
        """
        cut_off, (before, since) = _is_interrupted(pending) | _is_undone(), _previous_row()
        value = F.when(cut_off, before).otherwise(F.col("value"))
        time = F.when(cut_off, since).otherwise(F.col("t"))
        if self.versioned:  # the previous row has the byte already
            log = log.withColumns({"key": F.concat("key", formats.long_bytes(F.col("t")))})
            value = F.when(cut_off, before).otherwise(self.stored(F.col("value")))
        bad = formats.decoded(self.value_serde, self.body(value), self.layout.value)[1]
        columns = [self._checked_key().alias("key"), self._checked(value, bad, "value").alias("value"), time.alias("t")]
        return log.select(F.col("partition").alias("p"), *columns)

    def undone(self, log: DataFrame, pending: Mapping[int, int]) -> DataFrame:
        """Records that take back what interrupted batches have written, columns of `delivery.COLUMNS`; for rows that were taken
        back already, none. To be written with the number UNDONE. log, pending: as for `restored`.
        """
        row = ["partition", "key", *(["t"] if self.versioned else [])]
        written = log.where(_is_interrupted(pending) | _is_undone())
        last = written.groupBy(*row).agg(F.max_by(F.struct("headers", F.col("t").alias("time")), "offset").alias("last"))
        last = last.select(*row, "last.headers", "last.time").where(_is_interrupted(pending))
        (before, since), old = _previous_row(), _header(OLD)
        value, time = (self.body(before), F.col("t")) if self.versioned else (before, F.coalesce(since, "time"))
        headers = F.when(old.isNotNull(), F.array(F.struct(F.lit(OLD).alias("key"), old.alias("value"))))
        return last.select(
            F.lit(self.topic).alias("topic"), "partition", "key", value.alias("value"), headers.alias("headers"),
            time.alias("t"), F.lit(True).alias("numbered"),
        )  # fmt: skip

    def stored(self, value: Column) -> Column:
        """The value of a row in the store, from the bytes that the value serde writes."""
        if not self.versioned:
            return value
        return F.when(value.isNull(), F.lit(_GONE)).otherwise(F.concat(F.lit(_THERE), value))

    def body(self, value: Column) -> Column:
        """The bytes that the value serde reads, from the value of a row in the store."""
        if self.store.with_headers:
            return without_headers_column(value)
        if not self.versioned:
            return value
        return F.when(F.substr(value, F.lit(1), F.lit(1)) == F.lit(_THERE), F.substr(value, F.lit(2), F.length(value) - F.lit(1)))

    def key(self, columns: Mapping[str, Column], *, whole: bool = True) -> Column:
        """The bytes of a key. columns: by the names of the layout; whole: with the window, session or version time."""
        name, kind = self.layout.keys[0]
        parts = [formats.encoded(self.key_serde, columns[name].cast(kind), kind, f"key of store {self.store.name}")]
        for tail, width in self.tail() if whole else ():
            number = columns[tail] if tail in self.layout.names else F.lit(0)
            parts.append(F.call_function("headrace_long_bytes", number.cast("bigint"), F.lit(width)))
        return F.concat(*parts)

    def keys(self, key: Column) -> list[tuple[str, Column]]:
        """The columns of a key, by their names, from its bytes."""
        tail = self.tail()
        length = F.length(key) - self.tail_bytes
        name, kind = self.layout.keys[0]
        value, _ = formats.decoded(self.key_serde, F.substr(key, F.lit(1), length), kind)
        columns, position = [(name, value.cast(kind))], length + 1
        for column, width in tail:
            if column in self.layout.names:
                bytes_ = F.substr(key, position, F.lit(width))
                kind = dict(self.layout.keys)[column]
                columns.append((column, F.call_function("headrace_bytes_long", bytes_).cast(kind)))
            position = position + width
        return columns

    def tail(self) -> tuple[tuple[str, int], ...]:
        """The columns behind the user's key, with their widths in bytes."""
        return _TAILS.get(self.store.kind, ())

    @property
    def tail_bytes(self) -> int:
        """The number of bytes behind the user's key."""
        return sum(width for _, width in self.tail())

    def _checked_key(self) -> Column:
        kind = self.layout.keys[0][1]
        length = F.length("key") - F.lit(self.tail_bytes)
        bad = formats.decoded(self.key_serde, F.substr(F.col("key"), F.lit(1), length), kind)[1]
        return self._checked(F.col("key"), bad, "key")

    def _checked(self, source: Column, bad: Column, what: str) -> Column:
        """The bytes, or an error if this store's serde cannot read them."""
        serde = self.key_serde if what == "key" else self.value_serde
        sentence = (
            f"The changelog {self.topic} holds a {what} that the {serde.name} serde cannot read: was it written by another "
            f"topology? {REMEDY}"
        )
        return F.when(~bad, source).otherwise(F.raise_error(F.lit(sentence)).cast("binary"))


def _is_interrupted(pending: Mapping[int, int]) -> Column:
    """Whether an interrupted batch has written a record: by partition, its number."""
    number, interrupted = F.call_function("headrace_bytes_long", _header(BATCH)), F.lit(False)
    for partition, batch in pending.items():
        interrupted = interrupted | ((F.col("partition") == partition) & (number == batch))
    return F.coalesce(interrupted, F.lit(False))


def _is_undone() -> Column:
    return F.coalesce(F.call_function("headrace_bytes_long", _header(BATCH)) == F.lit(UNDONE), F.lit(False))


def _previous_row() -> tuple[Column, Column]:
    """Value and time of the row that a record has replaced, NULL if there was none."""
    old = _header(OLD)
    before = F.when(F.length(old) >= 8, F.substr(old, F.lit(9), F.length(old) - F.lit(8)))
    return before, F.call_function("headrace_bytes_long", F.substr(old, F.lit(1), F.lit(8)))


def _header(name: str) -> Column:
    """The value of the last header of a name, NULL if there is none."""
    matching = F.filter(
        F.coalesce(F.col("headers"), F.expr(f"cast(array() as {HEADERS_TYPE})")), lambda header: header["key"] == name
    )
    return F.try_element_at(matching, F.lit(-1))["value"]
