"""A processor that does with a store what its records say: see scripts.py."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headrace.streams import (
    AggregationWithHeaders,
    ProcessorContext,
    Record,
    Serdes,
    ValueAndTimestamp,
    ValueTimestampHeaders,
    VersionedRecord,
)
from headrace.streams.processor_stores import PUT_RETURN_CODE_NOT_PUT


class SCRIPTED:
    """Does what its records say, and forwards what it found."""

    def init(self, context: ProcessorContext) -> None:
        self._context, self._store = context, context.get_state_store("kept")

    def process(self, record: Record) -> None:
        found = [self._step(step, record.timestamp) for step in record.value.split(";")]
        self._context.forward(record.with_value(";".join(found)))

    def _step(self, step: str, time: int) -> str:
        method, *given = step.split("|")
        try:
            arguments = [self._argument(text, time) for text in given]
            if method == "prefix_scan":
                arguments.append(Serdes.string())
            return _text(getattr(self._store, method)(*arguments))
        except Exception:
            return "refused"

    def _argument(self, text: str, time: int) -> Any:
        if text == "-":
            return None
        if text.startswith("="):
            return self._wrapped(text[1:], time)
        key, *times = text.split("/")
        return (key, *map(int, times)) if times else int(text) if text.isdigit() else text

    def _wrapped(self, value: str, time: int) -> Any:
        headers = (("of", value.encode()), ("none", None))
        if self._store._with_headers and self._store._timestamped:
            return ValueTimestampHeaders(value, time, headers)
        if self._store._with_headers:
            return AggregationWithHeaders(value, headers)
        return ValueAndTimestamp(value, time) if self._store._timestamped else value


def _text(found: Any) -> str:
    match found:
        case None:
            return "none"
        case int():
            return "not put" if found == PUT_RETURN_CODE_NOT_PUT else str(found)
        case str():
            return found
        case ValueTimestampHeaders():
            return f"{found.value}@{found.timestamp}{_headers(found.headers)}"
        case AggregationWithHeaders():
            return f"{found.aggregation}{_headers(found.headers)}"
        case ValueAndTimestamp() | VersionedRecord():
            return f"{found.value}@{found.timestamp}"
        case _:
            rows = (("/".join(map(str, key)) if isinstance(key, tuple) else key, value) for key, value in found)
            return "{" + " ".join(f"{key}={_text(value)}" for key, value in rows) + "}"


def _headers(headers: Iterable[tuple[str, bytes | None]]) -> str:
    return "".join(f"+{name}:{'none' if value is None else value.decode()}" for name, value in headers)
