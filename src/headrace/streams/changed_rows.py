"""The rows of a store of processors in one task: those from before the batch, overlaid with the changes of the batch."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

_LONG = 8


def after_prefix(prefix: bytes) -> bytes | None:
    """The first key behind all that begin with these bytes; None: no key is behind them."""
    whole = prefix.rstrip(b"\xff")
    return whole[:-1] + bytes([whole[-1] + 1]) if whole else None


class StoredRows(Protocol):
    """The rows of a store before the batch: keys are bytes with the task's partition as a prefix."""

    def get(self, store: str, keys: Sequence[bytes]) -> list[bytes | None]:
        """Rows by their keys."""
        ...

    def scan(self, store: str, start: bytes, end: bytes, backwards: bool) -> Iterator[tuple[bytes, bytes]]:
        """Keys and rows from `start`, before `end`."""
        ...


class ChangedRows:
    """The rows of a store for one task, with the changes of this batch. A row is its time (8 bytes) and its value."""

    def __init__(self, stored: StoredRows, store: str, partition: int) -> None:
        self._stored, self._store = stored, store
        self._prefix, self._after = partition.to_bytes(4, "big"), (partition + 1).to_bytes(4, "big")
        self._known: dict[bytes, bytes | None] = {}
        self.changes: dict[bytes, tuple[bytes | None, int]] = {}
        """By key, the value (None: deleted) and the time."""
        self.stream_time = -1
        """The greatest time put into the store: of a version, the start of a window or the end of a session."""
        self.dropped: list[int] = []
        """The times of expired puts."""

    def get(self, key: bytes, ahead: Callable[[], Iterable[bytes]] = tuple) -> tuple[bytes, int] | None:
        """Value and time of a key. ahead: returns keys of the next look-ups, which are fetched with the same request."""
        change = self.changes.get(key)
        if change is not None:
            value, time = change
            return None if value is None else (value, time)
        if key not in self._known:
            self._fetch([key, *ahead()])
        row = self._known[key]
        return None if row is None else _split(row)

    def put(self, key: bytes, value: bytes | None, time: int) -> None:
        """Change a row."""
        self.changes[key] = (value, time)

    def scan(self, start: bytes, end: bytes | None, backwards: bool = False) -> Iterator[tuple[bytes, bytes, int]]:
        """Key, value and time of the current rows from a key to another one, exclusive (None: to the last)."""
        changed = {key: row for key, row in self.changes.items() if key >= start and (end is None or key < end)}
        stop = self._after if end is None else self._prefix + end
        stored = ((key[4:], *_split(row)) for key, row in self._stored.scan(self._store, self._prefix + start, stop, backwards))
        unchanged = (row for row in stored if row[0] not in changed)
        new = ((key, value, time) for key, (value, time) in sorted(changed.items(), reverse=backwards) if value is not None)
        return heapq.merge(unchanged, new, key=lambda row: row[0], reverse=backwards)

    def changed(self) -> Iterator[tuple[bytes, bytes | None, bytes | None, int]]:
        """The changes: key, value, the row from before the batch, and the time; not of a row that was not there, and is not."""
        self._fetch(self.changes)
        for key, (value, time) in self.changes.items():
            old = self._known[key]
            if value is not None or old is not None:
                yield key, value, old, time

    def _fetch(self, keys: Iterable[bytes]) -> None:
        """Fetch the rows that are not known yet, with one request."""
        missing = list(dict.fromkeys(key for key in keys if key not in self._known))
        if missing:
            self._known.update(zip(missing, self._stored.get(self._store, [self._prefix + key for key in missing]), strict=True))


def _split(row: bytes) -> tuple[bytes, int]:
    return row[_LONG:], int.from_bytes(row[:_LONG], "big", signed=True)
