"""The schemas of a registry with which a converter has read or written data."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal

from headrace.values.schema import Schema
from headrace.values.times import now_ms

Direction = Literal["read", "written"]
_Use = tuple[Direction, str, int, str | None, str | None]
"""Direction, part, id, subject, topic."""
MAX_FIRST_USES = 10_000
"""How many uses of a task's schemas are known across its runs."""


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
    """Of the schema in the registry."""
    type: str
    """AVRO, JSON or PROTOBUF."""
    subject: str | None
    """Where the registry has it, as `version`; None if that is not known."""
    version: int | None
    since: int
    """When it was first used, in ms since the epoch."""
    fields: tuple[SchemaField, ...] = ()
    """The fields of its Connect schema; empty for data that is not a record."""
    topic: str | None = None
    """The topic whose record was written with it, or was the first to be read with it; None if that is not known."""


class SchemaUses:
    """The schemas of one converter, the last used at the end; beyond MAX_USES the least recently used are forgotten."""

    MAX_USES = 1000

    def __init__(self) -> None:
        self._uses: OrderedDict[_Use, SchemaUse] = OrderedDict()
        self.first_uses: OrderedDict[_Use, int] = OrderedDict()
        """When each was first used, in ms since the epoch; may be shared with earlier runs of the task."""

    def add(
        self,
        direction: Direction,
        part: str,
        id: int,
        type: str,
        subject_version: tuple[str | None, int | None],
        schema: Schema | None = None,
        topic: str | None = None,
    ) -> None:
        """Record the use of a schema.

        subject_version: None for each part that is not known; schema: Connect's; topic: as of `SchemaUse`.
        """
        subject, version = subject_version
        key = direction, part, id, subject, topic
        if key in self._uses:
            self._uses.move_to_end(key)
            return
        since = self.first_uses.setdefault(key, now_ms())
        while len(self.first_uses) > MAX_FIRST_USES:
            self.first_uses.popitem(last=False)
        self._uses[key] = SchemaUse(direction, part, id, type, subject, version, since, _fields(schema), topic)
        if len(self._uses) > self.MAX_USES:
            self._uses.pop(next(iter(self._uses)))

    def all(self) -> list[SchemaUse]:
        """All recorded uses, the last used at the end."""
        return list(self._uses.values())


def _fields(schema: Schema | None) -> tuple[SchemaField, ...]:
    fields = {} if schema is None else schema.fields
    return tuple(
        SchemaField(name, (field_schema.logical or field_schema.type.upper()).rpartition(".")[2])
        for name, field_schema in fields.items()
    )
