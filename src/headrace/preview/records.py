"""The input records of a preview: as JSON lines, or as the objects of a request.

A record is an object with optional members: `topic` (default: the connector's), `partition` (0), `offset` (the index of the
record), `timestamp` (ms since the epoch, null for none; now), `key`, `value` (null), `headers` (a list of `[name, value]`). A
key, value or header value is the text of the bytes, or `{"base64": "…"}`, or null for no bytes.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.errors import BadRequestError
from headrace.values.times import now_ms

MAX_RECORDS = 1000
"""The maximum number of records of a preview: the response is read by people, and has all of them."""

Bytes = bytes | None
_MEMBERS = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")
_INT, _LONG = 2**31, 2**63


@dataclass(frozen=True)
class RawRecord:
    """A record with key, value and headers as bytes: of a topic, or at the start of a chain, where it may have no partition."""

    topic: str
    partition: int | None
    """None at the start of a chain that is not fed by a topic."""
    offset: int
    timestamp: int | None
    """Ms since the epoch."""
    key: Bytes
    value: Bytes
    headers: Sequence[tuple[str, Bytes]] = ()

    def json(self) -> dict[str, Any]:
        """The record in the form of the input of a preview."""
        place = {"topic": self.topic, "partition": self.partition, "offset": self.offset, "timestamp": self.timestamp}
        headers = [[name, notation(value)] for name, value in self.headers]
        return {**place, "key": notation(self.key), "value": notation(self.value), "headers": headers}


def notation(value: Bytes) -> str | dict[str, str] | None:
    """Bytes as text, or as `{"base64": …}` if they are not printable UTF-8."""
    if value is None:
        return None
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = "\0"
    if all(c.isprintable() or c in "\n\r\t" for c in text):
        return text
    return {"base64": base64.b64encode(value).decode()}


def as_bytes(shown: str | Mapping[str, str] | None) -> Bytes:
    """The bytes of a text or `{"base64": …}` (the inverse of `notation`)."""
    return base64.b64decode(shown["base64"]) if isinstance(shown, Mapping) else None if shown is None else shown.encode()


def from_lines(raw: bytes, topic: str) -> list[RawRecord]:
    """The records of a file of JSON lines; blank lines are skipped. topic: for records that name none.

    Raises BadRequestError with the number of the line.
    """
    now, records = now_ms(), []
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if line.strip():
            records.append(_checked(f"line {number}", lambda line=line, n=number - 1: _record(_parsed(line), topic, n, now)))
    return _check_count(records)


def from_objects(objects: Sequence[Any], topic: str) -> list[RawRecord]:
    """The records of a request. Raises BadRequestError with the number of the record, from 1."""
    now = now_ms()
    return _check_count(
        [_checked(f"record {n}", lambda g=g, n=n: _record(g, topic, n - 1, now)) for n, g in enumerate(objects, 1)]
    )


def count(value: Any) -> int:
    """The requested number of live records. Raises BadRequestError unless it is from 1 to MAX_RECORDS."""
    if not _is_integer(value) or not 1 <= value <= MAX_RECORDS:
        raise BadRequestError(f"`live` is {json.dumps(value)}; it has to be a number of records from 1 to {MAX_RECORDS}.")
    return value


def _check_count(records: list[RawRecord]) -> list[RawRecord]:
    if not records:
        raise BadRequestError("There are no records to preview; give at least one.")
    if len(records) > MAX_RECORDS:
        raise BadRequestError(f"There are {len(records)} records; a preview takes {MAX_RECORDS} at most.")
    return records


def _checked(where: str, read: Callable[[], RawRecord]) -> RawRecord:
    try:
        return read()
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"{where} is no record: {error}.") from None


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8, at its byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON, at its character {error.pos + 1}: {error.msg}") from None


def _record(value: Any, topic: str, place: int, now: int) -> RawRecord:
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, got {_shown(value)}")
    _check_members(value)
    name = value.get("topic", topic)
    if not isinstance(name, str) or not name:
        raise ValueError(f"`topic` has to be a name, got {_shown(name)}")
    name.encode()
    timestamp = value.get("timestamp", now)
    return RawRecord(
        topic=name,
        partition=_number("partition", value.get("partition", 0), 0, _INT),
        offset=_number("offset", value.get("offset", place), 0, _LONG),
        timestamp=None if timestamp is None else _number("timestamp", timestamp, -_LONG, _LONG),
        key=_bytes("key", value.get("key")),
        value=_bytes("value", value.get("value")),
        headers=tuple(_headers(value.get("headers"))),
    )


def _check_members(fields: dict[str, Any]) -> None:
    unknown = [name for name in fields if name not in _MEMBERS]
    if unknown:
        raise ValueError(f"it has no member `{unknown[0]}`; there are {', '.join(_MEMBERS)}")


def _number(name: str, value: Any, minimum: int, limit: int) -> int:
    if not _is_integer(value) or not minimum <= value < limit:
        raise ValueError(f"`{name}` has to be a whole number from {minimum} to {limit - 1}, got {_shown(value)}")
    return value


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _bytes(name: str, value: Any) -> Bytes:
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and list(value) == ["base64"] and isinstance(value["base64"], str):
        try:
            return base64.b64decode(value["base64"], validate=True)
        except binascii.Error as error:
            raise ValueError(f"`{name}` is not base64: {error}") from None
    hint = f"; write JSON data as a text: {json.dumps(json.dumps(value))}" if isinstance(value, (dict, list)) else ""
    raise ValueError(f'`{name}` has to be a text, {{"base64": "…"}} or null, got {_shown(value)}{hint}')


def _headers(headers: Any) -> Iterable[tuple[str, Bytes]]:
    if headers is None:
        return
    if not isinstance(headers, list):
        raise ValueError(f"`headers` has to be a list of [name, value], got {_shown(headers)}")
    for number, header in enumerate(headers):
        if not isinstance(header, list) or len(header) != 2 or not isinstance(header[0], str):
            raise ValueError(f"`headers[{number}]` has to be [name, value], got {_shown(header)}")
        header[0].encode()
        yield header[0], _bytes(f"headers[{number}]", header[1])


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 100 else text[:100] + "…"
