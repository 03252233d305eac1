"""A dead letter: a record that failed, with what the headers `__connect.errors.*` say of it (KIP-298). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from headrace.errors import BadRequestError
from headrace.preview.records import GivenRecord, notation
from headrace.runtime.tolerance import DLQ, ERROR_HEADERS, RECORD_TOPIC

_SHOWN_BYTES = 8 << 10
_LONG = 2**63


@dataclass(frozen=True)
class LetterId:
    """Where a dead letter stands in its topic."""

    partition: int
    offset: int

    @classmethod
    def parse(cls, text: object) -> LetterId:
        """From `partition:offset`. Raises BadRequestError."""
        partition, colon, offset = text.partition(":") if isinstance(text, str) else ("", "", "")
        numbers = [part for part in (partition, offset) if part.isascii() and part.isdigit() and int(part) < _LONG]
        if not colon or len(numbers) != 2:
            raise BadRequestError(f"{text!r} names no dead letter; it has to be '<partition>:<offset>', like '0:42'.")
        return cls(int(partition), int(offset))

    def __str__(self) -> str:
        return f"{self.partition}:{self.offset}"


@dataclass(frozen=True)
class Replay:
    """That a dead letter has been replayed."""

    time: str
    """ISO 8601, UTC."""
    destination: str
    """The topic that it was written to."""


@dataclass(frozen=True)
class Letter:
    """A record of a dead letter topic; what its headers do not say is None."""

    id: LetterId
    record: GivenRecord
    """The record that failed: its original topic, partition and offset as far as they are known, else those of the letter; its
    key and value as they were read, its headers without those of the failure."""
    context: Mapping[str, str]
    """The headers of the failure, without their prefix."""
    replay: Replay | None = None

    @classmethod
    def of(cls, record: GivenRecord) -> Letter:
        """From a record as it stands in a dead letter topic."""
        context = {
            name.removeprefix(ERROR_HEADERS): value.decode("utf-8", "replace")
            for name, value in record.headers
            if name.startswith(ERROR_HEADERS) and value is not None
        }
        headers = tuple(header for header in record.headers if not header[0].startswith(ERROR_HEADERS))
        original = replace(record, headers=headers, topic=context.get("topic", record.topic))
        if "topic" in context:
            original = replace(
                original,
                partition=_number(context.get("partition")),
                offset=_number(context.get("offset")) or 0,
            )
        return cls(LetterId(record.partition or 0, record.offset), original, context)

    @property
    def connector(self) -> str | None:
        """The connector that it failed in."""
        return self.context.get("connector.name")

    @property
    def topic(self) -> str | None:
        """The topic that it was read from."""
        return self.context.get("topic")

    def as_read(self, default_topic: str) -> GivenRecord:
        """The record that failed, as its source gave it. default_topic: its topic, where the letter does not name it."""
        return self.record if self.topic else replace(self.record, topic=self.context.get(RECORD_TOPIC) or default_topic)

    def json(self) -> dict[str, Any]:
        """As the REST API shows it; of long keys and values the beginning."""
        record, context = self.record, self.context
        known = self.topic is not None
        return {
            "id": str(self.id),
            "timestamp": record.timestamp,
            "connector": self.connector,
            "task": _number(context.get("task.id")),
            "stage": context.get("stage"),
            "class": context.get("class.name"),
            "exception": context.get("exception.class.name"),
            "message": context.get("exception.message"),
            "stacktrace": context.get("exception.stacktrace"),
            "origin": {"topic": record.topic, "partition": record.partition, "offset": record.offset} if known else None,
            "key": _beginning(record.key),
            "key_bytes": None if record.key is None else len(record.key),
            "value": _beginning(record.value),
            "value_bytes": None if record.value is None else len(record.value),
            "headers": [[name, _beginning(value)] for name, value in record.headers],
            "replayed": None if self.replay is None else {"time": self.replay.time, "topic": self.replay.destination},
        }


def _beginning(value: bytes | None) -> str | dict[str, str] | None:
    if value is None or len(value) <= _SHOWN_BYTES:
        return notation(value)
    cut = value[:_SHOWN_BYTES]
    for missing in range(1, 4):  # of a character of UTF-8 that was cut apart
        if cut[-missing] >= 0xC0:
            return notation(cut if _length(cut[-missing]) == missing else cut[:-missing])
    return notation(cut)


def _length(first: int) -> int:
    """How many bytes a character of UTF-8 has that begins with this one."""
    return 2 if first < 0xE0 else 3 if first < 0xF0 else 4


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and int(text) < _LONG else None


def reasons(letters: Iterable[Letter]) -> list[dict[str, Any]]:
    """Why letters failed: each reason with how often, first and last; the most frequent first."""
    times_of: dict[tuple[str | None, ...], list[int | None]] = {}
    for letter in letters:
        context = letter.context
        message = context.get("exception.message")
        parts = (context.get("stage"), context.get("class.name"), context.get("exception.class.name"), message)
        times_of.setdefault((letter.connector, *parts), []).append(letter.record.timestamp)
    names = ("connector", "stage", "class", "exception", "message")
    rows = [
        {
            **dict(zip(names, key, strict=True)),
            "records": len(times),
            "first_ms": min((time for time in times if time is not None), default=None),
            "last_ms": max((time for time in times if time is not None), default=None),
        }
        for key, times in times_of.items()
    ]
    return sorted(rows, key=lambda row: (-row["records"], str(row["message"])))


def topic_of(config: Mapping[str, str | None]) -> str | None:
    """The dead letter topic that a connector's configuration names."""
    return (config.get(DLQ + "topic.name") or "").strip() or None
