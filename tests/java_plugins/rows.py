"""The records of a task in Java as rows, from a process of plugins, without Spark."""

from __future__ import annotations

import struct
from socket import socket
from typing import Any

from headrace.spark.host_process import ProcessHost, _length_prefixed, _received


def rows(host: ProcessHost, task: str, start: int, end: int) -> list[list[Any]]:
    """The rows of a range of records; fails with the trace of an exception."""
    with host._connected() as connection:
        connection.sendall(b"\1" + _length_prefixed(task) + struct.pack(">qq?", start, end, True))
        found = []
        while (kind := _received(connection, 1)) == b"\1":
            found.append([_value(connection) for _ in range(9)])
        assert kind == b"\0", _bytes(connection).decode()
        return found


def _value(connection: socket) -> Any:
    kind = _received(connection, 1)[0]
    if kind == 0:
        return None
    if kind in (2, 3):
        return struct.unpack(">i" if kind == 2 else ">q", _received(connection, 4 if kind == 2 else 8))[0]
    if kind == 5:
        return [_value(connection) for _ in range(*struct.unpack(">i", _received(connection, 4)))]
    return _bytes(connection).decode() if kind == 1 else _bytes(connection)


def _bytes(connection: socket) -> bytes:
    return _received(connection, *struct.unpack(">i", _received(connection, 4)))
