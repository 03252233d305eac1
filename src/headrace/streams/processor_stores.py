"""The stores that a processor gets from its context: Kafka's KeyValueStore, WindowStore, SessionStore and VersionedKeyValueStore.

A store has the rows from before the batch, overlaid with the changes of the processor and of those that share stores with it.
Changes are written to the changelog with the other results of the batch, and to the store after that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.streams.changed_rows import ChangedRows, after_prefix
from headrace.streams.row_headers import Headers, headers_of, prepend_headers, without_headers
from headrace.streams.serde_values import decoder, encoder
from headrace.streams.serdes import Serde
from headrace.streams.stores import StateStore, StoreKind

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

PUT_RETURN_CODE_NOT_PUT = -(1 << 63)
"""Returned by `VersionedKeyValueStore.put` for a version that it rejects."""
_LONG, _NUMBER = 8, b"\0\0\0\0"  # behind the start of a window stands a number, which is 0 unless the store keeps duplicates


@dataclass(frozen=True)
class ValueAndTimestamp:
    """The row of a key in a store with timestamps."""

    value: Any
    timestamp: int
    """In milliseconds."""


@dataclass(frozen=True)
class ValueTimestampHeaders:
    """The row of a key, or of a key and window, in a store with headers."""

    value: Any
    timestamp: int
    """In milliseconds."""
    headers: Headers = ()


@dataclass(frozen=True)
class AggregationWithHeaders:
    """The row of a session in a store with headers."""

    aggregation: Any
    headers: Headers = ()


_WITH_MORE = (ValueAndTimestamp, ValueTimestampHeaders, AggregationWithHeaders)  # than a value


@dataclass(frozen=True)
class VersionedRecord:
    """A version of a row in a versioned store."""

    value: Any
    timestamp: int
    """The start of its validity, in ms."""
    valid_to: int | None = None
    """The end of its validity, exclusive; None for the last one."""


@dataclass(frozen=True)
class StoreAccess:
    """A store that a processor uses."""

    store: StateStore
    """With the serdes of its rows."""
    kinds: tuple[DataType, DataType]
    """The types of its keys and values."""
    socket: str
    """The socket that serves its rows."""
    is_global: bool = False
    """Whether it is global: stored under partition 0, and read-only."""
    read_only: bool = False
    """Whether it is the store of another operator."""


class _ProcessorStore:
    """Shared by all stores. time: returns the timestamp of the current record; ahead: returns keys of the next records."""

    def __init__(
        self, access: StoreAccess, rows: ChangedRows, time: Callable[[], int], ahead: Callable[[Any], Iterable[Any]]
    ) -> None:
        store, (key, value) = access.store, access.kinds
        assert store.key_serde is not None and store.value_serde is not None
        self.name = store.name
        self._rows, self._time, self._ahead, self._writes = rows, time, ahead, not (access.is_global or access.read_only)
        self._key, self._key_of = encoder(store.key_serde, key), decoder(store.key_serde, key)
        self._value, self._value_of = encoder(store.value_serde, value), decoder(store.value_serde, value)
        self._timestamped, self._with_headers = store.timestamped, store.with_headers
        self._size, self._retention = store.window_size_ms or 0, store.retention_ms or 0

    def _bytes(self, key: Any) -> bytes:
        encoded = self._key(key)
        if encoded is None:
            raise StreamsError(f"The store {self.name} has no key None.")
        return encoded

    def _check_writes(self) -> None:
        if not self._writes:
            raise StreamsError(f"The store {self.name} is global, or another operator's: processors can read it only.")

    def _put(self, key: bytes, value: Any, timestamp: int | None = None) -> None:
        self._check_writes()
        headers: Headers = ()
        if isinstance(value, _WITH_MORE):
            headers = () if isinstance(value, ValueAndTimestamp) else value.headers
            if isinstance(value, AggregationWithHeaders):
                value = value.aggregation
            else:
                value, timestamp = value.value, value.timestamp
        encoded = self._value(value)
        if self._with_headers and encoded is not None:
            encoded = prepend_headers(headers, encoded)
        self._rows.put(key, encoded, self._time() if timestamp is None else timestamp)

    def _is_retained(self, start: int, time: int) -> bool:
        """Whether a window or session is retained that has this start, and this time for its retention; advances stream time.

        None begins before 0.
        """
        self._check_writes()
        self._rows.stream_time = max(self._rows.stream_time, time)
        retained = start >= 0 and time >= self._retained_from
        if not retained:
            self._rows.dropped.append(time)
        return retained

    @property
    def _retained_from(self) -> int:
        """The time from which windows and sessions are retained; older rows may still exist, and are not returned."""
        return self._rows.stream_time - self._retention + 1

    def _as_value(self, value: bytes, time: int) -> Any:
        if not self._with_headers:
            decoded = self._value_of(value)
            return ValueAndTimestamp(decoded, time) if self._timestamped else decoded
        headers, decoded = headers_of(value), self._value_of(without_headers(value))
        return ValueTimestampHeaders(decoded, time, headers) if self._timestamped else AggregationWithHeaders(decoded, headers)


class KeyValueStore(_ProcessorStore):
    """The latest value of each key. The values of a store with timestamps are `ValueAndTimestamp`, with headers
    `ValueTimestampHeaders`.
    """

    def get(self, key: Any) -> Any:
        """The value of a key, None if there is none."""
        row = self._rows.get(self._bytes(key), lambda: [self._bytes(after) for after in self._ahead(key) if after is not None])
        return None if row is None else self._as_value(*row)

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key; None deletes it."""
        self._put(self._bytes(key), value)

    def put_if_absent(self, key: Any, value: Any) -> Any:
        """Set the value of a key that has none; returns the previous value."""
        current = self.get(key)
        if current is None:
            self.put(key, value)
        return current

    def put_all(self, entries: Iterable[tuple[Any, Any]]) -> None:
        """Set the values of several keys."""
        for key, value in entries:
            self.put(key, value)

    def delete(self, key: Any) -> Any:
        """Delete a key; returns the previous value."""
        current = self.get(key)
        self.put(key, None)
        return current

    def range(self, low: Any, high: Any) -> Iterator[tuple[Any, Any]]:
        """Keys and values from `low` to `high`, both inclusive, in the order of the keys' bytes; None is no bound."""
        return self._between(low, high, False)

    def reverse_range(self, low: Any, high: Any) -> Iterator[tuple[Any, Any]]:
        """The same, the last key first."""
        return self._between(low, high, True)

    def prefix_scan(self, prefix: Any, serde: Serde) -> Iterator[tuple[Any, Any]]:
        """Keys whose bytes begin with those that a serde writes for `prefix`, and their values, in the order of the bytes."""
        start = encoder(serde)(prefix) or b""
        rows = self._rows.scan(start, after_prefix(start))
        return ((self._key_of(key), self._as_value(value, time)) for key, value, time in rows)

    def all(self) -> Iterator[tuple[Any, Any]]:
        """All keys and values of this task, in the order of the keys' bytes."""
        return self._between(None, None, False)

    def reverse_all(self) -> Iterator[tuple[Any, Any]]:
        """The same, the last key first."""
        return self._between(None, None, True)

    def approximate_num_entries(self) -> int:
        """The number of keys; exact here."""
        return sum(1 for _ in self._rows.scan(b"", None))

    def _between(self, low: Any, high: Any, backwards: bool) -> Iterator[tuple[Any, Any]]:
        start, end = b"" if low is None else self._bytes(low), None if high is None else self._bytes(high) + b"\0"
        return ((self._key_of(key), self._as_value(value, time)) for key, value, time in self._rows.scan(start, end, backwards))


class WindowStore(_ProcessorStore):
    """Values of keys and windows, by the start of the window in ms. A store that retains duplicates keeps every value of one."""

    def __init__(self, access: StoreAccess, *arguments: Any) -> None:
        super().__init__(access, *arguments)
        self._duplicates = access.store.retain_duplicates
        self._numbers: dict[bytes, int] = {}
        """By key and start, the number of the last value that this batch has put."""

    def put(self, key: Any, value: Any, window_start: int) -> None:
        """Set the value of a window; None deletes it. Expired windows, and those that begin before 0, are ignored.

        A store that retains duplicates adds the value to those of the window, and ignores None.
        """
        prefix = self._bytes(key)
        plain = value.value if isinstance(value, ValueAndTimestamp | ValueTimestampHeaders) else value
        if self._duplicates and plain is None:
            return
        if self._is_retained(window_start, window_start):
            window = prefix + _long(window_start)
            self._put(window + (self._next_number(window) if self._duplicates else _NUMBER), value)

    def fetch(self, key: Any, time_from: int, time_to: int | None = None) -> Any:
        """The value of the window that begins at a time (the last one of several), None if there is none; with two times (start,
        value) of all between.
        """
        prefix = self._bytes(key)
        if time_to is None:
            if time_from < 0:  # no window begins there, but a program may ask for the one before the first
                return None
            window = prefix + _long(time_from)
            last = self._last_of(window) if self._duplicates else None
            row = last[1:] if last else self._rows.get(window + _NUMBER)
            return None if row is None or time_from < self._retained_from else self._as_value(*row)
        time_from = max(time_from, self._retained_from)
        rows = self._rows.scan(prefix + _long(max(time_from, 0)), prefix + _long(max(time_to, -1) + 1))
        whole = len(prefix) + _LONG + len(_NUMBER)
        near = (row for row in rows if len(row[0]) == whole and time_from <= _start(row[0]) <= time_to)
        return ((_start(row_key), self._as_value(value, time)) for row_key, value, time in near)

    def all(self) -> Iterator[tuple[tuple[Any, int, int], Any]]:
        """Everything of this task: ((key, start, end), value)."""
        return self.fetch_all(0, (1 << 63) - 1)

    def fetch_all(self, time_from: int, time_to: int) -> Iterator[tuple[tuple[Any, int, int], Any]]:
        """The same for windows that begin between two times, both inclusive."""
        time_from = max(time_from, self._retained_from)
        for key, value, time in self._rows.scan(b"", None):
            start = _start(key)
            if time_from <= start <= time_to:
                yield (self._key_of(key[: -_LONG - len(_NUMBER)]), start, start + self._size), self._as_value(value, time)

    def _next_number(self, window: bytes) -> bytes:
        """Behind those of the window's values: unlike Kafka's, which start at 0 again when a task does, they overwrite none."""
        if window not in self._numbers:
            last = self._last_of(window)
            self._numbers[window] = int.from_bytes(last[0][-len(_NUMBER) :], "big") if last else 0
        self._numbers[window] += 1
        return self._numbers[window].to_bytes(len(_NUMBER), "big")

    def _last_of(self, window: bytes) -> tuple[bytes, bytes, int] | None:
        """Key, value and time of the row that was put last for a key and start."""
        whole = len(window) + len(_NUMBER)
        rows = self._rows.scan(window, window + b"\xff" * (len(_NUMBER) + 1), True)
        return next((row for row in rows if len(row[0]) == whole), None)


class SessionStore(_ProcessorStore):
    """Values of keys and sessions: a session is (key, start, end), in ms."""

    def put(self, session: tuple[Any, int, int], value: Any) -> None:
        """Set the value of a session; None deletes it. Expired sessions, and those that begin before 0, are ignored."""
        key, start, end = session
        prefix = self._bytes(key)
        if self._is_retained(min(start, end), end):
            self._put(prefix + _long(end) + _long(start), value)

    def remove(self, session: tuple[Any, int, int]) -> None:
        """Delete a session."""
        key, start, end = session
        if min(start, end) >= 0:
            self._put(self._bytes(key) + _long(end) + _long(start), None)

    def fetch_session(self, key: Any, start: int, end: int) -> Any:
        """The value of a session, None if there is none."""
        row = None if min(start, end) < 0 else self._rows.get(self._bytes(key) + _long(end) + _long(start))
        return None if row is None or end < self._retained_from else self._as_value(*row)

    def fetch(self, key: Any) -> Iterator[tuple[tuple[Any, int, int], Any]]:
        """All sessions of a key: ((key, start, end), value)."""
        return self.find_sessions(key, 0, (1 << 63) - 1)

    def find_sessions(self, key: Any, earliest_end: int, latest_start: int) -> Iterator[tuple[tuple[Any, int, int], Any]]:
        """Sessions of a key that end at or after a time and start at or before another one."""
        prefix, earliest_end = self._bytes(key), max(earliest_end, self._retained_from)
        after = prefix + b"\xff" * (2 * _LONG)
        for row_key, value, time in self._rows.scan(prefix + _long(max(earliest_end, 0)), after):
            start, end = int.from_bytes(row_key[-_LONG:], "big"), int.from_bytes(row_key[-2 * _LONG : -_LONG], "big")
            whole = len(row_key) == len(prefix) + 2 * _LONG and row_key.startswith(prefix)
            if whole and end >= earliest_end and start <= latest_start:
                yield (key, start, end), self._as_value(value, time)


class VersionedKeyValueStore(_ProcessorStore):
    """Every version of each key's value, for the store's history retention."""

    def put(self, key: Any, value: Any, timestamp: int) -> int | None:
        """Set the value of a key from a time on; None deletes it. Returns the end of its validity, exclusive: None for the last
        version, and PUT_RETURN_CODE_NOT_PUT for an expired one, or a time before 0.
        """
        self._check_writes()
        prefix, encoded = self._bytes(key), self._value(value)
        if timestamp < max(self._history_from, 0):
            return PUT_RETURN_CODE_NOT_PUT
        self._rows.stream_time = max(self._rows.stream_time, timestamp)
        self._rows.put(prefix + _long(timestamp), b"\0" if encoded is None else b"\1" + encoded, timestamp)
        return next((_last_long(row_key) for row_key, _, _ in self._versions(prefix, timestamp + 1, None)), None)

    def get(self, key: Any, as_of_timestamp: int | None = None) -> VersionedRecord | None:
        """The version at a time, or the last one; None if there is none, or history does not reach back so far."""
        prefix = self._bytes(key)
        version = next(self._versions(prefix, 0, as_of_timestamp, backwards=True), None)
        if version is None:
            return None
        since = _last_long(version[0])
        until = next((_last_long(after) for after, _, _ in self._versions(prefix, since + 1, None)), None)
        forgotten = as_of_timestamp is not None and as_of_timestamp < self._history_from and until is not None
        value = None if forgotten or version[1][:1] == b"\0" else self._value_of(version[1][1:])
        return None if value is None else VersionedRecord(value, since, until)

    def delete(self, key: Any, timestamp: int) -> VersionedRecord | None:
        """Delete a key from a time on; returns its version at that time, None for an expired time, which deletes nothing."""
        version = self.get(key, timestamp)
        return None if self.put(key, None, timestamp) == PUT_RETURN_CODE_NOT_PUT else version

    @property
    def _history_from(self) -> int:
        return self._rows.stream_time - self._retention

    def _versions(
        self, prefix: bytes, first: int, last: int | None, *, backwards: bool = False
    ) -> Iterator[tuple[bytes, bytes, int]]:
        """The versions of a key between two times, both inclusive; None: to the last."""
        end = b"\xff" * _LONG if last is None else _long(max(last, -1) + 1)
        rows = self._rows.scan(prefix + _long(first), prefix + end, backwards)
        return (row for row in rows if len(row[0]) == len(prefix) + _LONG)


def _last_long(key: bytes) -> int:
    return int.from_bytes(key[-_LONG:], "big")


def _long(number: int) -> bytes:
    return min(number, (1 << 63) - 1).to_bytes(_LONG, "big")


def _start(key: bytes) -> int:
    return int.from_bytes(key[-_LONG - len(_NUMBER) : -len(_NUMBER)], "big")


STORES: dict[StoreKind, type[_ProcessorStore]] = {
    StoreKind.KEY_VALUE: KeyValueStore,
    StoreKind.WINDOW: WindowStore,
    StoreKind.SESSION: SessionStore,
    StoreKind.VERSIONED: VersionedKeyValueStore,
}
"""The store class for each kind."""
