"""The columns of a record that an SQL expression of a user refers to, from its text: no Spark session is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator

PARTS = ("topic", "partition", "offset", "timestamp", "headers", "key", "value")
_SKIPPED = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_STEP = r"\s*[.:]\s*(?:`[^`]+`|[A-Za-z_]\w*)"
_REFERENCE = re.compile(rf"(?<![\w.:`])({'|'.join(PARTS)})\b((?:{_STEP})*)(?!\s*\()", re.IGNORECASE)
_NAME = re.compile(r"`([^`]+)`|(\w+)")


def references(expression: str) -> Iterator[tuple[str, ...]]:
    """The columns that an expression refers to, as paths: `value:a.b::bigint + key.c` has `value`, `a`, `b` and `key`, `c`."""
    for match in _REFERENCE.finditer(_SKIPPED.sub("''", expression)):
        yield _path(match)


def sole_reference(expression: str) -> tuple[str, ...] | None:
    """The path of the column that an expression consists of, None for any other expression."""
    match = _REFERENCE.fullmatch(expression.strip())
    return _path(match) if match else None


def _path(match: re.Match[str]) -> tuple[str, ...]:
    part = match[1].lower()
    steps = tuple(quoted or plain for quoted, plain in _NAME.findall(match[2]))
    return (part, *steps) if part in ("key", "value") else (part,)
