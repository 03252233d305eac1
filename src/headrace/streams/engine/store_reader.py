"""Reads a store between batches, by ranges of its keys, for interactive queries.

Keys are ordered by their serialized bytes, as in Kafka Streams' RocksDB stores. Keys and values are decoded in Python where its
serdes can, otherwise by Spark.
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.sql_functions import F
from headrace.streams.changed_rows import after_prefix
from headrace.streams.engine import formats
from headrace.streams.engine.changelog import Changelog
from headrace.streams.row_headers import without_headers
from headrace.streams.serde_values import decoder, decodes_in_python, encoder
from headrace.streams.serdes import Serde
from headrace.streams.stores import WINDOWED, StoreKind

if TYPE_CHECKING:
    from headrace.streams.engine.runtime import TaskRuntime

_LAST = b"\x7f" + b"\xff" * 7  # the greatest time


@dataclass(frozen=True)
class StoreRow:
    """A key of a store with its value and time, as stored."""

    partition: int
    key: bytes
    """As the key serde writes it."""
    times: tuple[int, ...]
    """The times behind the key, in ms: the start of a window; end and start of a session; the time of a version."""
    value: bytes | None
    """As the value serde writes it; None: a version that deletes."""


class StoreReader:
    """The current rows of a store; no batch may run while it is used. Expired rows are not returned."""

    def __init__(self, runtime: TaskRuntime, name: str, log: Changelog, expired: Mapping[int, int]) -> None:
        """expired: by task, the time (ms) up to which windows have expired."""
        self.expired = expired
        """By task, the expired times; of a versioned store, the time up to which only the last version of a key is known."""
        self._runtime, self._name, self._log = runtime, name, log
        widths = [width for _, width in log.tail()]
        # The rows of a key are mixed with those of keys that begin with it: fewer are read if the last time is known better.
        self._newest = _bytes(max(expired.values()) + (log.store.retention_ms or 0)) if expired else _LAST
        self._tail, self._numbers = sum(widths), ">" + "".join({8: "q", 4: "i"}[width] for width in widths)

    def get(self, key: Any) -> Any:
        """The value of a key in any task, None if there is none."""
        row = self._runtime.get(self._name, self.encoded(key))
        if row is None:
            return None
        return self.values([StoreRow(0, b"", (), self._body(row))])[0]

    def rows_of_key(self, key: Any, first: int = 0, last: int | None = None) -> list[StoreRow]:
        """The rows of a key whose first time is between two, both inclusive (None: any), in the order of their times."""
        source = self.encoded(key)
        if last is not None and last < max(first, 0):  # times before 0 have no bytes
            return []
        end = source + (self._newest if last is None else _bytes(last)) + b"\xff" * (self._tail - 8)
        return [row for row in self.between(source + _bytes(first), end + b"\0") if row.key == source]

    def rows_of_keys(self, low: Any, high: Any) -> list[StoreRow]:
        """The rows of the keys from `low` to `high`, both inclusive; None is no bound."""
        first = b"" if low is None else self.encoded(low)
        if high is None:
            return self.between(first, None)
        last = self.encoded(high)
        if first > last:
            return []
        # The times behind a key are compared with the rest of a longer key that begins with it.
        tail = (self._newest + b"\xff" * self._tail)[: self._tail]
        end = max(last[:length] + tail for length in range(len(last) + 1) if last[:length] >= first)
        return [row for row in self.between(first, end + b"\0") if first <= row.key <= last]

    def prefix_scan(self, prefix: bytes) -> list[StoreRow]:
        """The rows whose key begins with some bytes."""
        return self.between(prefix, after_prefix(prefix))

    def between(self, start: bytes, end: bytes | None) -> list[StoreRow]:
        """The rows whose key bytes, including the times, are from `start` to `end`, exclusive (None: to the last)."""
        tasks = (self._of_task(partition, start, end) for partition in self._runtime.partitions)
        return [row for _, row in heapq.merge(*tasks, key=lambda entry: entry[0])]

    def _of_task(self, partition: int, start: bytes, end: bytes | None) -> Iterable[tuple[bytes, StoreRow]]:
        expired = self.expired.get(partition) if self._log.store.kind in WINDOWED else None
        for stored_key, row in self._runtime.between(self._name, partition, start, end):
            length = len(stored_key) - self._tail
            times = struct.unpack(self._numbers, stored_key[length:])
            if expired is None or times[0] > expired:
                yield stored_key, StoreRow(partition, stored_key[:length], times, self._body(row))

    def count(self) -> int:
        """The estimated number of rows."""
        return self._runtime.size(self._name)

    def encoded(self, key: Any) -> bytes:
        """The bytes of a key. Raises StreamsError for one that the serde cannot write."""
        serde, kind = self._log.key_serde, self._log.layout.keys[0][1]
        try:
            source = encoder(serde)(key) if decodes_in_python(serde) and serde.name != "json" else self._by_spark(key, kind)
        except (struct.error, TypeError, ValueError) as error:
            raise StreamsError(f"{key!r} is no key of the {serde.name} serde of the store {self._log.store.name}.") from error
        if source is None:
            raise StreamsError(f"The store {self._log.store.name} has no key None.")
        return source

    def keys(self, rows: list[StoreRow]) -> list[Any]:
        """The keys of rows."""
        return self._decoded(self._log.key_serde, self._log.layout.keys[0][1], [row.key for row in rows])

    def values(self, rows: list[StoreRow]) -> list[Any]:
        """The values of rows."""
        return self._decoded(self._log.value_serde, self._log.layout.value, [row.value for row in rows])

    def _body(self, row: bytes) -> bytes | None:
        if self._log.store.kind is StoreKind.VERSIONED:
            return row[9:] if row[8] else None
        return without_headers(row[8:]) if self._log.store.with_headers else row[8:]

    def _decoded(self, serde: Serde, kind: Any, sources: list[bytes | None] | list[bytes]) -> list[Any]:
        if decodes_in_python(serde):
            return list(map(decoder(serde, kind), sources))
        if not sources:
            return []
        frame = self._runtime.spark.createDataFrame(list(enumerate(sources)), "n int, x binary")
        value, _ = formats.decoded(serde, F.col("x"), kind)
        return [row[1] for row in frame.select("n", value.cast(kind).alias("v")).orderBy("n").collect()]

    def _by_spark(self, key: Any, kind: Any) -> bytes | None:
        from pyspark.sql.types import StructField, StructType

        frame = self._runtime.spark.createDataFrame([(key,)], StructType([StructField("k", kind)]))
        source = frame.select(self._log.key({"k": F.col("k")}, whole=False)).collect()[0][0]
        return None if source is None else bytes(source)


def _bytes(time: int) -> bytes:
    return min(max(time, 0), int.from_bytes(_LAST, "big")).to_bytes(8, "big")
