"""Column lineage of a chain: the input columns that each output column comes from, by the settings of its stages. Pure.

A column is a part of the record, or a field of its key, value or headers: `value.address.city`. Fields that no setting of the
chain names are listed together as `value.*`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

PARTS = ("topic", "partition", "timestamp", "key", "value", "headers")
Path = tuple[str, ...]


class Influence(IntEnum):
    """How an input column influences an output column; of several steps, the greatest counts."""

    IDENTITY = 0
    """The output column is a copy of it."""
    TRANSFORMATION = 1
    """The output column is computed from it."""
    MASKED = 2
    """The output column replaces it by a constant."""
    CONDITION = 3
    """It decides whether the column is changed (a predicate)."""
    FILTER = 4
    """It decides whether the record is dropped."""


@dataclass(frozen=True)
class ColumnOrigin:
    """An origin of a column: a column of the input record."""

    path: Path
    """The part of the record, then the names of fields."""
    influence: Influence = Influence.IDENTITY

    def below(self, steps: Path) -> ColumnOrigin:
        """The origin of a field of the column; the fields of a changed column have the origin of the whole column."""
        return self if self.influence else replace(self, path=(*self.path, *steps))

    def by(self, influence: Influence) -> ColumnOrigin:
        """The origin after a further step with this influence."""
        return replace(self, influence=max(self.influence, influence))


@dataclass(frozen=True)
class ColumnLineage:
    """The origins of a part of a record, or of a field, and those of its fields that differ."""

    origins: frozenset[ColumnOrigin] = frozenset()
    """The origins of the whole, and of every field that `fields` does not name."""
    fields: Mapping[str, ColumnLineage | None] = field(default_factory=dict)
    """By name; None: removed."""
    closed: bool = False
    """Whether it has no other fields than `fields`."""
    delimiter: str | None = None
    """The delimiter of flattened field names (Flatten)."""

    def get(self, path: Path) -> ColumnLineage:
        """The lineage of a field; a field that does not exist has no origins."""
        if not path:
            return self
        step, *inner_path = path
        if step in self.fields:
            return (self.fields[step] or CONSTANT).get(tuple(inner_path))
        if flattened := self._flattened(step):
            return flattened.get(tuple(inner_path))
        if self.closed:
            return CONSTANT
        steps = tuple(step.split(self.delimiter)) if self.delimiter else (step,)
        return ColumnLineage(frozenset(origin.below(steps) for origin in self.origins)).get(tuple(inner_path))

    def _flattened(self, name: str) -> ColumnLineage | None:
        """The lineage of a flattened field: `order_id` is the field `id` of `order`, or of `order_*`."""
        steps = name.split(self.delimiter) if self.delimiter else []
        for count in range(len(steps) - 1, 0, -1):
            outer = str(self.delimiter).join(steps[:count])
            if flattened := self.fields.get(f"{outer}{self.delimiter}*") or self.fields.get(outer):
                return flattened.get(tuple(steps[count:]))
        return None

    def has(self, name: str) -> bool:
        """Whether it may have a field of this name."""
        if name in self.fields:
            return self.fields[name] is not None
        return not self.closed or self._flattened(name) is not None

    def put(self, path: Path, lineage: ColumnLineage) -> ColumnLineage:
        """The lineage with a field set."""
        if not path:
            return lineage
        step, *inner_path = path
        return replace(self, fields={**self.fields, step: self.get((step,)).put(tuple(inner_path), lineage)})

    def without(self, names: Iterable[str]) -> ColumnLineage:
        """The lineage without these fields."""
        return replace(self, fields={**self.fields, **dict.fromkeys(names)})

    def only(self, names: Iterable[str]) -> ColumnLineage:
        """The lineage with these fields alone."""
        return closed({name: self.get((name,)) for name in names if self.has(name)})

    def appended(self, name: str, lineage: ColumnLineage) -> ColumnLineage:
        """The lineage of headers with one appended, besides those of the same name."""
        before = self.get((name,)) if self.has(name) else CONSTANT
        return self.put((name,), ColumnLineage(before.every() | lineage.every()))

    def by(self, influence: Influence) -> ColumnLineage:
        """The lineage of one value that is computed from all of it."""
        return ColumnLineage(frozenset(origin.by(influence) for origin in self.every()))

    def changed(self, names: Iterable[str], influence: Influence) -> ColumnLineage:
        """The lineage with these fields changed, each computed from itself."""
        changed = self
        for name in names:
            changed = changed.put((name,), changed.get((name,)).by(influence)) if changed.has(name) else changed
        return changed

    def every(self) -> frozenset[ColumnOrigin]:
        """The origins of it and of all its fields."""
        return self.origins.union(*(lineage.every() for lineage in self.fields.values() if lineage))

    def flat(self, delimiter: str) -> ColumnLineage:
        """The flattened lineage: nested fields under their joined names."""
        fields: dict[str, ColumnLineage | None] = {}
        for name, field_lineage in self.fields.items():
            inner = field_lineage and field_lineage.flat(delimiter)
            if inner is None or not inner.fields:
                fields[name] = inner
            else:
                unnamed = {} if inner.closed else {"*": ColumnLineage(inner.origins)}
                fields |= {f"{name}{delimiter}{below}": lineage for below, lineage in {**inner.fields, **unnamed}.items()}
        return replace(self, fields=fields, delimiter=delimiter)

    def or_else(self, other: ColumnLineage, conditions: frozenset[ColumnOrigin]) -> ColumnLineage:
        """This lineage where a predicate holds, the other elsewhere. conditions: the columns that the predicate reads."""
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
    """The lineage of a struct or map that has exactly these fields."""
    return ColumnLineage(fields=dict(fields), closed=True)


CONSTANT = ColumnLineage(closed=True)
"""The lineage of a constant."""


@dataclass(frozen=True)
class RecordLineage:
    """The parts of a record."""

    parts: Mapping[str, ColumnLineage]
    """By names of PARTS."""
    filters: frozenset[ColumnOrigin] = frozenset()
    """The columns that decide whether the record is dropped."""

    @classmethod
    def read(cls) -> RecordLineage:
        """The lineage of the input record: each part comes from itself."""
        return cls({part: ColumnLineage(frozenset({ColumnOrigin((part,))})) for part in (*PARTS, "offset")})

    def __getitem__(self, part: str) -> ColumnLineage:
        return self.parts[part]

    def with_part(self, part: str, lineage: ColumnLineage) -> RecordLineage:
        """The lineage with a part set."""
        return replace(self, parts={**self.parts, part: lineage})

    def at(self, path: Path) -> ColumnLineage:
        """The lineage of a part, or of a field of one."""
        return self.parts[path[0]].get(path[1:])

    def opaque(self, parts: Sequence[str] = PARTS, of: Sequence[str] = PARTS) -> RecordLineage:
        """The lineage after a step that may compute each of `parts` from everything in the parts `of`."""
        everything = ColumnLineage(frozenset().union(*(self[part].by(Influence.TRANSFORMATION).origins for part in of)))
        return replace(self, parts={**self.parts, **dict.fromkeys(parts, everything)})


@dataclass(frozen=True)
class ColumnRow:
    """A row of the lineage table of a chain."""

    column: str
    """`*`: the record itself, which filters may drop."""
    origins: Sequence[tuple[str, str]]
    """Column and influence of each; empty: a constant."""


def rows(record: RecordLineage) -> list[ColumnRow]:
    """The lineage table: each column of the output record, with its origins."""
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
