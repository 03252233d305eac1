"""Which schemas of a registry a converter has read and written."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

Direction = Literal["read", "written"]


@dataclass(frozen=True)
class SchemaUse:
    """A schema that a converter uses."""

    direction: Direction
    part: str
    """`key` or `value`."""
    id: int
    type: str
    """AVRO, JSON or PROTOBUF."""
    subject: str | None
    version: int | None
    """`subject`, `version`: where the registry has it; None if that is not known."""
    since: int
    """When it was met first, in ms since the epoch."""


class SchemaUses:
    """The schemas of one converter, those used last at the end; the oldest are forgotten."""

    MOST = 1000

    def __init__(self) -> None:
        self._found: dict[tuple[Direction, int, str | None], SchemaUse] = {}

    def add(self, direction: Direction, part: str, id: int, type: str, subject: str | None, version: int | None) -> None:
        """Note a schema that is used now."""
        key = direction, id, subject
        if key not in self._found:
            self._found[key] = SchemaUse(direction, part, id, type, subject, version, time.time_ns() // 1_000_000)
            if len(self._found) > self.MOST:
                self._found.pop(next(iter(self._found)))

    def all(self) -> list[SchemaUse]:
        """Those that are known."""
        return list(self._found.values())
