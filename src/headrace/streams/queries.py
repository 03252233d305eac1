"""Interactive queries: the read-only store that `KafkaStreams.store` and the test driver return."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.streams.serde_values import encoder
from headrace.streams.serdes import Serde
from headrace.streams.stores import WINDOWED, StateStore, StoreKind

if TYPE_CHECKING:
    from headrace.streams.engine.store_reader import StoreReader, StoreRow

_KEYED = (StoreKind.KEY_VALUE, StoreKind.VERSIONED)


class ReadOnlyStore:
    """A store as of the last batch. Keys and values are Python's, in the order of the serialized keys.

    Each call reads only the requested range of keys. Expired windows (stream time less retention) are not returned. Methods raise
    StreamsError for a store of another kind, and for a key that its serde cannot write.
    """

    def __init__(self, store: StateStore, open_reader: Callable[[], AbstractContextManager[StoreReader]]) -> None:
        """open_reader: opens a reader of the store's rows, which do not change until the end of the `with` block."""
        self._store, self._open_reader = store, open_reader

    def get(self, key: Any, as_of: int | None = None) -> Any:
        """The value of a key, None if there is none.

        as_of: for a versioned store, the time (ms) of the version; else the last one. None if history does not reach back so far.
        """
        self._require("get", *_KEYED)
        with self._open_reader() as reader:
            if self._store.kind is StoreKind.KEY_VALUE:
                return reader.get(key)
            every = reader.rows_of_key(key)
            rows = [row for row in every if as_of is None or row.times[0] <= as_of][-1:]
            forgotten = as_of is not None and rows != every[-1:] and as_of < reader.expired.get(every[0].partition, as_of)
            return reader.values(rows)[0] if rows and not forgotten else None

    def versions(self, key: Any) -> list[tuple[int, Any]]:
        """The versions of a key in a versioned store: time (ms) and value, None for a deletion; the oldest first."""
        self._require("versions", StoreKind.VERSIONED)
        with self._open_reader() as reader:
            rows = reader.rows_of_key(key)
            return [(row.times[0], value) for row, value in zip(rows, reader.values(rows), strict=True)]

    def range(self, low: Any, high: Any) -> Iterator[tuple[Any, Any]]:
        """Keys with their (last) values from `low` to `high`, both inclusive; None is no bound."""
        self._require("range", *_KEYED)
        with self._open_reader() as reader:
            return self._rows(reader, reader.rows_of_keys(low, high))

    def prefix_scan(self, prefix: Any, serde: Serde) -> Iterator[tuple[Any, Any]]:
        """Keys with their values whose bytes begin with those that a serde writes for `prefix`."""
        self._require("prefix_scan", StoreKind.KEY_VALUE)
        try:
            source = encoder(serde)(prefix)
        except (struct.error, TypeError, ValueError) as error:
            raise StreamsError(f"{prefix!r} is no value of the {serde.name} serde.") from error
        with self._open_reader() as reader:
            return self._rows(reader, reader.prefix_scan(source or b""))

    def all(self) -> Iterator[tuple[Any, Any]]:
        """All keys with their (last) values; of a windowed store ((key, start, end), value)."""
        with self._open_reader() as reader:
            return self._rows(reader, reader.between(b"", None))

    def fetch(self, key: Any, time_from: int | None = None, time_to: int | None = None) -> Iterator[tuple[int, Any]]:
        """Windows or sessions of a key that begin between two times in ms, both inclusive: (start, value), sorted."""
        self._require("fetch", *WINDOWED)
        first, last = time_from or 0, time_to
        with self._open_reader() as reader:
            if self._store.kind is StoreKind.WINDOW:
                rows = reader.rows_of_key(key, first, last)
            else:  # in the order of their ends
                rows = [row for row in reader.rows_of_key(key, first) if self._within(row, first, last)]
            return iter([(self._start(row), value) for row, value in zip(rows, reader.values(rows), strict=True)])

    def fetch_range(
        self, low: Any, high: Any, time_from: int | None = None, time_to: int | None = None
    ) -> Iterator[tuple[Any, Any]]:
        """Windows or sessions of the keys from `low` to `high` that begin between two times, all inclusive; None is no bound:
        ((key, start, end), value).
        """
        self._require("fetch_range", *WINDOWED)
        with self._open_reader() as reader:
            rows = reader.rows_of_keys(low, high)
            return self._rows(reader, [row for row in rows if self._within(row, time_from or 0, time_to)])

    def fetch_all(self, time_from: int | None = None, time_to: int | None = None) -> Iterator[tuple[Any, Any]]:
        """The same of all keys; goes through the whole store."""
        return self.fetch_range(None, None, time_from, time_to)

    def find_sessions(self, key: Any, earliest_end: int, latest_start: int) -> Iterator[tuple[Any, Any]]:
        """Sessions of a key that end at or after a time and begin at or before another one: ((key, start, end), value)."""
        self._require("find_sessions", StoreKind.SESSION)
        with self._open_reader() as reader:
            return self._rows(reader, [row for row in reader.rows_of_key(key, earliest_end) if row.times[1] <= latest_start])

    def approximate_num_entries(self) -> int:
        """The estimated number of rows: RocksDB's estimate, which counts changes that have not been merged yet."""
        with self._open_reader() as reader:
            return reader.count()

    def _rows(self, reader: StoreReader, rows: list[StoreRow]) -> Iterator[tuple[Any, Any]]:
        if self._store.kind is StoreKind.VERSIONED:
            rows = [
                row for row in {(row.partition, row.key): row for row in rows}.values() if row.value is not None
            ]  # the last of each key
        keys, values = reader.keys(rows), reader.values(rows)
        if self._store.kind in WINDOWED:
            keys = [(key, self._start(row), self._end(row)) for key, row in zip(keys, rows, strict=True)]
        return iter(list(zip(keys, values, strict=True)))

    def _within(self, row: StoreRow, first: int, last: int | None) -> bool:
        return self._start(row) >= first and (last is None or self._start(row) <= last)

    def _start(self, row: StoreRow) -> int:
        return row.times[1] if self._store.kind is StoreKind.SESSION else row.times[0]

    def _end(self, row: StoreRow) -> int:
        return row.times[0] if self._store.kind is StoreKind.SESSION else row.times[0] + (self._store.window_size_ms or 0)

    def _require(self, method: str, *kinds: StoreKind) -> None:
        if self._store.kind not in kinds:
            raise StreamsError(
                f"{method} asks a {' or '.join(kinds)} store, and {self._store.name} is a {self._store.kind} store."
            )
