"""The client of `ProcessorServer.java`: connects a processor in a Python worker to its sub-topology's runtime, over a socket."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.errors import StreamsError


@dataclass(frozen=True)
class TaskTimes:
    """The times of a processor's task at the start of a batch."""

    partition: int
    stream_time: int
    """In ms, -1 if there is none."""
    dues: dict[int, int] | None
    """By the number of a schedule, its next call by wall-clock time; None: the processor has not run yet."""


class ProcessorLink:
    """A connection, from its first request to `close`."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path)
        self._input = self._socket.makefile("rb")

    def close(self) -> None:
        """Close the connection."""
        self._input.close()
        self._socket.close()

    def begin(self, node: str, piece: int) -> tuple[int, list[TaskTimes]]:
        """The wall-clock time, and the tasks of a partition of the batch."""
        self._socket.sendall(b"b" + _with_length(node.encode()) + struct.pack(">i", piece))
        now, count = self._read(">qi")
        tasks = []
        for _ in range(count):
            partition, time, size = self._read(">iqi")
            schedules = [self._read(">iq") for _ in range(size)]
            tasks.append(TaskTimes(partition, time, None if size < 0 else dict(schedules)))
        return now, tasks

    def get(self, store: str, keys: Sequence[bytes]) -> list[bytes | None]:
        """Rows by their keys."""
        key_bytes = b"".join(map(_with_length, keys))
        self._socket.sendall(b"g" + _with_length(store.encode()) + struct.pack(">i", len(keys)) + key_bytes)
        return [self._bytes() for _ in keys]

    def scan(self, store: str, start: bytes, end: bytes, backwards: bool) -> Iterator[tuple[bytes, bytes]]:
        """Keys and rows from `start`, before `end`."""
        more = True
        while more:
            bounds = _with_length(start) + _with_length(end) + struct.pack(">?", backwards)
            self._socket.sendall(b"s" + _with_length(store.encode()) + bounds)
            (count,) = self._read(">i")
            rows = [(self._bytes() or b"", self._bytes() or b"") for _ in range(count)]
            (more,) = self._read(">?")
            yield from rows
            if rows:
                start, end = (start, rows[-1][0]) if backwards else (rows[-1][0] + b"\0", end)

    def _read(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self._read_exactly(struct.calcsize(form)))

    def _bytes(self) -> bytes | None:
        (length,) = self._read(">i")
        return None if length < 0 else self._read_exactly(length)

    def _read_exactly(self, count: int) -> bytes:
        content = self._input.read(count)
        if len(content) < count:
            raise StreamsError("The connection to the stores of the sub-topology has ended.")
        return content


def _with_length(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content
