"""The records of MirrorMaker's own topics, in its binary format: offset syncs, checkpoints, heartbeats. Pure.

Big-endian; a STRING is its length in bytes (INT16) and UTF-8. The values of checkpoints and heartbeats begin with their version.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

VERSION = 0


class FormatError(ValueError):
    """A record that is not of this format."""


@dataclass(frozen=True)
class OffsetSync:
    """A record of the source at `upstream` is the one of the target at `downstream`."""

    topic: str
    """The topic's name in the source."""
    partition: int
    upstream: int
    """An offset of the source."""
    downstream: int
    """The offset of its copy in the target."""

    def key(self) -> bytes:
        """The record's key."""
        return _string(self.topic) + struct.pack(">i", self.partition)

    def value(self) -> bytes:
        """The record's value."""
        return struct.pack(">qq", self.upstream, self.downstream)

    @classmethod
    def read(cls, key: bytes | None, value: bytes | None) -> OffsetSync:
        """The reverse. Raises FormatError."""
        at = _RecordReader(key)
        topic, partition = at.string(), at.number(">i")
        at = _RecordReader(value)
        return cls(topic, partition, at.number(">q"), at.number(">q"))


@dataclass(frozen=True)
class Checkpoint:
    """A group has read a partition up to `upstream` in the source, which is `downstream` in the target."""

    group: str
    topic: str
    """The topic's name in the target."""
    partition: int
    upstream: int
    """The next offset that the group reads in the source."""
    downstream: int
    """Where it continues in the target."""
    metadata: str = ""
    """The text that the group committed with its offset."""

    def key(self) -> bytes:
        """The record's key."""
        return _string(self.group) + _string(self.topic) + struct.pack(">i", self.partition)

    def value(self) -> bytes:
        """The record's value."""
        return struct.pack(">hqq", VERSION, self.upstream, self.downstream) + _string(self.metadata)

    @classmethod
    def read(cls, key: bytes | None, value: bytes | None) -> Checkpoint:
        """The reverse. Raises FormatError."""
        at = _RecordReader(key)
        group, topic, partition = at.string(), at.string(), at.number(">i")
        at = _RecordReader(value).versioned()
        return cls(group, topic, partition, at.number(">q"), at.number(">q"), at.string())


@dataclass(frozen=True)
class Heartbeat:
    """A sign of life of a flow."""

    source: str
    """An alias, as `target`."""
    target: str
    timestamp: int
    """In ms since the epoch."""

    def key(self) -> bytes:
        """The record's key."""
        return _string(self.source) + _string(self.target)

    def value(self) -> bytes:
        """The record's value."""
        return struct.pack(">hq", VERSION, self.timestamp)

    @classmethod
    def read(cls, key: bytes | None, value: bytes | None) -> Heartbeat:
        """The reverse. Raises FormatError."""
        at = _RecordReader(key)
        source, target = at.string(), at.string()
        return cls(source, target, _RecordReader(value).versioned().number(">q"))


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">h", len(data)) + data


class _RecordReader:
    """A position in a record's key or value."""

    def __init__(self, data: bytes | None) -> None:
        self._data, self._at = data or b"", 0

    def number(self, form: str) -> int:
        try:
            (number,) = struct.unpack_from(form, self._data, self._at)
        except struct.error as error:
            raise FormatError(f"{len(self._data)} bytes are too few: {error}") from None
        self._at += struct.calcsize(form)
        return number

    def string(self) -> str:
        end = self._at + 2 + self.number(">h")
        data, self._at = self._data[self._at : end], end
        if end > len(self._data) or end < 2:
            raise FormatError(f"a text is longer than the {len(self._data)} bytes that are there")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"a text is no UTF-8: {error}") from None

    def versioned(self) -> _RecordReader:
        version = self.number(">h")
        if version != VERSION:
            raise FormatError(f"version {version} is not known")
        return self
