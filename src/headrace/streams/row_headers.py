"""Headers that are stored with a value (KIP-1271): the length of all headers (4 bytes), each header, and then the value's bytes.

A header is the length and the bytes of its name, and those of its value; length -1 for null.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from headrace.sql_functions import F

if TYPE_CHECKING:
    from pyspark.sql import Column

Headers = tuple[tuple[str, bytes | None], ...]
"""Names and values; a value may be None, as in Kafka."""


def prepend_headers(headers: Iterable[tuple[str, bytes | None]], value: bytes) -> bytes:
    """A value with headers in front of it."""
    every = b"".join(_part(name.encode()) + _part(content) for name, content in headers)
    return _part(every) + value


def headers_of(row: bytes) -> Headers:
    """The headers of a value."""
    end, position, parts = 4 + _length(row, 0), 4, list[bytes | None]()
    while position < end:
        length = _length(row, position)
        position += 4
        parts.append(None if length < 0 else row[position : position + length])
        position += max(length, 0)
    return tuple(((name or b"").decode(), content) for name, content in zip(parts[::2], parts[1::2], strict=True))


def without_headers(row: bytes) -> bytes:
    """A value without its headers."""
    return row[4 + _length(row, 0) :]


def without_headers_column(row: Column) -> Column:
    """The same in Spark."""
    length = F.call_function("headrace_bytes_long", F.substr(row, F.lit(1), F.lit(4))).cast("int")
    return F.substr(row, length + F.lit(5), F.length(row) - length - F.lit(4))


def _part(content: bytes | None) -> bytes:
    return b"\xff\xff\xff\xff" if content is None else len(content).to_bytes(4, "big") + content


def _length(row: bytes, position: int) -> int:
    return int.from_bytes(row[position : position + 4], "big", signed=True)
