"""Which schemas of a registry a converter has read and written."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal

from headrace.values.schema import Schema

Direction = Literal["read", "written"]


@dataclass(frozen=True)
class SchemaField:
    """A field of a record."""

    name: str
    type: str
    """Connect's type, or the name of a logical one: INT32, Decimal."""


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
    fields: tuple[SchemaField, ...] = ()
    """What is in it in Connect; none for data that is no record."""


class SchemaUses:
    """The schemas of one converter, those used last at the end; those not used for longest are forgotten."""

    MOST = 1000

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[Direction, int, str | None], SchemaUse] = OrderedDict()

    def add(
        self,
        direction: Direction,
        part: str,
        id: int,
        type: str,
        place: tuple[str | None, int | None],
        schema: Schema | None = None,
    ) -> None:
        """Note a schema that is used now. place: subject and version, if they are known; schema: Connect's."""
        subject, version = place
        key = direction, id, subject
        if key in self._found:
            self._found.move_to_end(key)
            return
        since = time.time_ns() // 1_000_000
        self._found[key] = SchemaUse(direction, part, id, type, subject, version, since, _fields(schema))
        if len(self._found) > self.MOST:
            self._found.pop(next(iter(self._found)))

    def all(self) -> list[SchemaUse]:
        """Those that are known, the one used last at the end."""
        return list(self._found.values())


def _fields(schema: Schema | None) -> tuple[SchemaField, ...]:
    fields = {} if schema is None else schema.fields
    return tuple(
        SchemaField(name, (field_schema.logical or field_schema.type.upper()).rpartition(".")[2])
        for name, field_schema in fields.items()
    )
