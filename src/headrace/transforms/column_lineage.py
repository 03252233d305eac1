"""Of which columns of the record that comes in each column of the record that goes out is made, as a chain's stages say. Pure.

A column is a part of the record, or a field of its key, value or headers: `value.address.city`. Fields that no setting of the
chain names are together `value.*`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

PARTS = ("topic", "partition", "timestamp", "key", "value", "headers")
Path = tuple[str, ...]


class Influence(IntEnum):
    """How a column comes of another; of several on the way, the greatest counts."""

    IDENTITY = 0
    """It is the same."""
    TRANSFORMATION = 1
    """It is made of it."""
    MASKED = 2
    """It stands in its place, and says nothing of it."""
    CONDITION = 3
    """It decides whether the column is changed (a predicate)."""
    FILTER = 4
    """It decides whether the record is there at all."""


@dataclass(frozen=True)
class ColumnOrigin:
    """Of what a column is made: a column of the record that came in, and how."""

    path: Path
    influence: Influence = Influence.IDENTITY

    def below(self, steps: Path) -> ColumnOrigin:
        """Of a field of it; what is no more the same has no fields that are."""
        return self if self.influence else replace(self, path=(*self.path, *steps))

    def by(self, influence: Influence) -> ColumnOrigin:
        """Of what is made of the column in turn."""
        return replace(self, influence=max(self.influence, influence))


@dataclass(frozen=True)
class ColumnLineage:
    """A part of a record, or a field: what it is made of, and which of its fields are made of something else."""

    origins: frozenset[ColumnOrigin] = frozenset()
    """Of the whole, and of every field that `fields` does not name."""
    fields: Mapping[str, ColumnLineage | None] = field(default_factory=dict)
    """By name; None: taken out."""
    closed: bool = False
    """Whether there are no fields but those."""
    delimiter: str | None = None
    """Between the names of nested fields that have become one name (Flatten)."""

    def get(self, path: Path) -> ColumnLineage:
        """A field of it; one that is not there has no origins."""
        if not path:
            return self
        step, *others = path
        if step in self.fields:
            return (self.fields[step] or CONSTANT).get(tuple(others))
        if known := self._flattened(step):
            return known.get(tuple(others))
        if self.closed:
            return CONSTANT
        steps = tuple(step.split(self.delimiter)) if self.delimiter else (step,)
        return ColumnLineage(frozenset(origin.below(steps) for origin in self.origins)).get(tuple(others))

    def _flattened(self, name: str) -> ColumnLineage | None:
        """A field that has been a field of one that is known: of `order`, or of `order_*`, `order_id` is the field `id`."""
        steps = name.split(self.delimiter) if self.delimiter else []
        for count in range(len(steps) - 1, 0, -1):
            outer = str(self.delimiter).join(steps[:count])
            if known := self.fields.get(f"{outer}{self.delimiter}*") or self.fields.get(outer):
                return known.get(tuple(steps[count:]))
        return None

    def has(self, name: str) -> bool:
        """Whether there may be such a field."""
        if name in self.fields:
            return self.fields[name] is not None
        return not self.closed or self._flattened(name) is not None

    def put(self, path: Path, lineage: ColumnLineage) -> ColumnLineage:
        """With a field set."""
        if not path:
            return lineage
        step, *others = path
        return replace(self, fields={**self.fields, step: self.get((step,)).put(tuple(others), lineage)})

    def without(self, names: Iterable[str]) -> ColumnLineage:
        """Without some fields."""
        return replace(self, fields={**self.fields, **dict.fromkeys(names)})

    def only(self, names: Iterable[str]) -> ColumnLineage:
        """With these fields alone."""
        return closed({name: self.get((name,)) for name in names if self.has(name)})

    def appended(self, name: str, lineage: ColumnLineage) -> ColumnLineage:
        """Of headers: with one more, beside those of the same name."""
        before = self.get((name,)) if self.has(name) else CONSTANT
        return self.put((name,), ColumnLineage(before.every() | lineage.every()))

    def by(self, influence: Influence) -> ColumnLineage:
        """What is made of it as a whole: one value."""
        return ColumnLineage(frozenset(origin.by(influence) for origin in self.every()))

    def changed(self, names: Iterable[str], influence: Influence) -> ColumnLineage:
        """With fields that are made of what they were."""
        changed = self
        for name in names:
            changed = changed.put((name,), changed.get((name,)).by(influence)) if changed.has(name) else changed
        return changed

    def every(self) -> frozenset[ColumnOrigin]:
        """The origins of it and of all its fields."""
        return self.origins.union(*(lineage.every() for lineage in self.fields.values() if lineage))

    def flat(self, delimiter: str) -> ColumnLineage:
        """With the fields of its fields in their place, their names joined."""
        fields: dict[str, ColumnLineage | None] = {}
        for name, field_lineage in self.fields.items():
            inner = field_lineage and field_lineage.flat(delimiter)
            if inner is None or not inner.fields:
                fields[name] = inner
            else:
                others = {} if inner.closed else {"*": ColumnLineage(inner.origins)}
                fields |= {f"{name}{delimiter}{below}": lineage for below, lineage in {**inner.fields, **others}.items()}
        return replace(self, fields=fields, delimiter=delimiter)

    def or_else(self, other: ColumnLineage, conditions: frozenset[ColumnOrigin]) -> ColumnLineage:
        """This where a predicate holds, the other where not; conditions: what the predicate looks at."""
        if self == other:
            return self
        names = dict.fromkeys([*other.fields, *self.fields])
        fields = {name: _either(self, other, name, conditions) for name in names}
        whole = self.origins == other.origins and self.closed == other.closed
        origins = (self.origins | other.origins) | (frozenset() if whole else conditions)
        return ColumnLineage(origins, fields, self.closed and other.closed, self.delimiter or other.delimiter)


def _either(first: ColumnLineage, other: ColumnLineage, name: str, conditions: frozenset[ColumnOrigin]) -> ColumnLineage | None:
    if not first.has(name) and not other.has(name):
        return None
    return first.get((name,)).or_else(other.get((name,)), conditions)


def closed(fields: Mapping[str, ColumnLineage]) -> ColumnLineage:
    """A struct or map of these fields."""
    return ColumnLineage(fields=dict(fields), closed=True)


CONSTANT = ColumnLineage(closed=True)
"""What is made of nothing in the record."""


@dataclass(frozen=True)
class RecordLineage:
    """The parts of a record."""

    parts: Mapping[str, ColumnLineage]
    filters: frozenset[ColumnOrigin] = frozenset()
    """What decides whether the record is there."""

    @classmethod
    def read(cls) -> RecordLineage:
        """A record as it comes in."""
        return cls({part: ColumnLineage(frozenset({ColumnOrigin((part,))})) for part in (*PARTS, "offset")})

    def __getitem__(self, part: str) -> ColumnLineage:
        return self.parts[part]

    def with_part(self, part: str, lineage: ColumnLineage) -> RecordLineage:
        """With a part set."""
        return replace(self, parts={**self.parts, part: lineage})

    def at(self, path: Path) -> ColumnLineage:
        """A part, or a field of one."""
        return self.parts[path[0]].get(path[1:])

    def opaque(self, parts: Sequence[str] = PARTS, of: Sequence[str] = PARTS) -> RecordLineage:
        """After something that may make `parts` of all that is in the parts `of`."""
        everything = ColumnLineage(frozenset().union(*(self[part].by(Influence.TRANSFORMATION).origins for part in of)))
        return replace(self, parts={**self.parts, **dict.fromkeys(parts, everything)})


@dataclass(frozen=True)
class ColumnRow:
    """A line of the table of a chain."""

    column: str
    """`*`: the record itself, as filters decide."""
    origins: Sequence[tuple[str, str]]
    """Column and influence of each; none: it is a constant."""


def rows(record: RecordLineage) -> list[ColumnRow]:
    """The table: each column of the record that is written, with what it is made of."""
    rows = [row for part in PARTS for row in _rows((part,), record[part])]
    filters = [ColumnRow("*", _named(record.filters))] if record.filters else []
    return filters + rows


def _rows(path: Path, lineage: ColumnLineage) -> list[ColumnRow]:
    below = [row for name, inner in lineage.fields.items() if inner for row in _rows((*path, name), inner)]
    if lineage.closed:
        return below if lineage.fields else [ColumnRow(text(path), ())]
    return [*below, ColumnRow(text(path) + (".*" if lineage.fields else ""), _named(lineage.origins))]


def _named(origins: Iterable[ColumnOrigin]) -> list[tuple[str, str]]:
    return sorted((text(origin.path), origin.influence.name) for origin in origins)


def text(path: Path) -> str:
    """A column's name: backticks enclose a step that has dots."""
    return ".".join(f"`{step}`" if "." in step else step for step in path)
