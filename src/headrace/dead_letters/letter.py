"""A dead letter: a record that failed, with the context of the failure from the headers `__connect.errors.*` (KIP-298). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from headrace.config.whole_number import shortened, whole_number
from headrace.connect_config.rules import DLQ
from headrace.errors import BadRequestError
from headrace.preview.records import RawRecord, notation
from headrace.runtime.tolerance import ERROR_HEADERS, RECORD_TOPIC

_SHOWN_BYTES = 8 << 10


@dataclass(frozen=True)
class LetterId:
    """The partition and offset of a dead letter in its topic."""

    partition: int
    offset: int

    @classmethod
    def parse(cls, text: object) -> LetterId:
        """Parse `partition:offset`. Raises BadRequestError."""
        partition, colon, offset = text.partition(":") if isinstance(text, str) else ("", "", "")
        numbers = whole_number(partition), whole_number(offset)
        if not colon or numbers[0] is None or numbers[1] is None:
            shown = shortened(repr(text))
            raise BadRequestError(f"{shown} names no dead letter; it has to be '<partition>:<offset>', like '0:42'.")
        return cls(numbers[0], numbers[1])

    def __str__(self) -> str:
        return f"{self.partition}:{self.offset}"


@dataclass(frozen=True)
class Replay:
    """An earlier replay of a dead letter."""

    time: str
    """ISO 8601, UTC."""
    destination: str
    """The topic that it was written to."""


@dataclass(frozen=True)
class Letter:
    """A record of a dead letter topic; facts that its headers lack are None."""

    id: LetterId
    record: RawRecord
    """The record that failed: its original topic, partition and offset if they are known, else those of the letter; its key and
    value as they were read, its headers without those of the failure."""
    context: Mapping[str, str]
    """The headers of the failure, without their prefix."""
    sizes: tuple[int | None, int | None] = (None, None)
    """The lengths in bytes of the whole key and value; None: of null."""
    replay: Replay | None = None
    """The last earlier one; None if it was not replayed."""

    @classmethod
    def of(cls, record: RawRecord) -> Letter:
        """From a record of a dead letter topic."""
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
                partition=whole_number(context.get("partition", "")),
                offset=whole_number(context.get("offset", "")) or 0,
            )
        return cls(LetterId(record.partition or 0, record.offset), original, context, (_size(record.key), _size(record.value)))

    @classmethod
    def beginning_of(cls, record: RawRecord) -> Letter:
        """The letter with no more of its key, value and headers than `json` has of them."""
        letter = cls.of(record)
        headers = tuple((name, _cut(value)) for name, value in letter.record.headers)
        return replace(letter, record=replace(letter.record, key=_cut(record.key), value=_cut(record.value), headers=headers))

    @classmethod
    def reason_of(cls, record: RawRecord) -> Letter:
        """The letter with no more than `reasons` needs of it."""
        letter = cls.of(record)
        context = {name: text for name, text in letter.context.items() if name != "exception.stacktrace"}
        return replace(letter, record=replace(letter.record, key=None, value=None, headers=()), context=context)

    @property
    def connector(self) -> str | None:
        """The connector that it failed in."""
        return self.context.get("connector.name")

    @property
    def topic(self) -> str | None:
        """The topic that it was read from."""
        return self.context.get("topic")

    def original_record(self, default_topic: str) -> RawRecord:
        """The record that failed, before its chain. default_topic: its topic, if the letter does not name it."""
        return self.record if self.topic else replace(self.record, topic=self.context.get(RECORD_TOPIC) or default_topic)

    def json(self) -> dict[str, Any]:
        """The JSON of the REST API; long keys and values are cut."""
        record, context = self.record, self.context
        has_origin = self.topic is not None
        return {
            "id": str(self.id),
            "timestamp": record.timestamp,
            "connector": self.connector,
            "task": whole_number(context.get("task.id", "")),
            "stage": context.get("stage"),
            "class": context.get("class.name"),
            "exception": context.get("exception.class.name"),
            "message": context.get("exception.message"),
            "stacktrace": context.get("exception.stacktrace"),
            "origin": {"topic": record.topic, "partition": record.partition, "offset": record.offset} if has_origin else None,
            "key": _beginning(record.key),
            "key_bytes": self.sizes[0],
            "value": _beginning(record.value),
            "value_bytes": self.sizes[1],
            "headers": [[name, _beginning(value)] for name, value in record.headers],
            "replayed": None if self.replay is None else {"time": self.replay.time, "topic": self.replay.destination},
        }


def _size(value: bytes | None) -> int | None:
    return None if value is None else len(value)


def _cut(value: bytes | None) -> bytes | None:
    """The beginning of a value, one byte longer than is shown of it, so that it is seen that there is more."""
    return None if value is None else value[: _SHOWN_BYTES + 1]


def _beginning(value: bytes | None) -> str | dict[str, str] | None:
    if value is None or len(value) <= _SHOWN_BYTES:
        return notation(value)
    cut = value[:_SHOWN_BYTES]
    for missing in range(1, 4):  # bytes of a UTF-8 character that was split
        if cut[-missing] >= 0xC0:
            return notation(cut if _length(cut[-missing]) == missing else cut[:-missing])
    return notation(cut)


def _length(first: int) -> int:
    """The length in bytes of a UTF-8 character with this first byte."""
    return 2 if first < 0xE0 else 3 if first < 0xF0 else 4


def topic_of(config: Mapping[str, str | None]) -> str | None:
    """The dead letter topic that a connector's configuration names."""
    return (config.get(DLQ) or "").strip() or None
