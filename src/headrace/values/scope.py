"""The named intermediate columns of a compiled chain, in layers: a column refers to layers before its own only.

Each layer becomes one projection; Spark runs them in one pass. Naming is what keeps a chain's size linear: an expression that is
used twice is written once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headrace.values.sql import Sql, call, lit, quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_NAME = re.compile(r"\b[hr]\d+\b")
_REFERENCE = re.compile(r"\b([hr]\d+)(?=_|\b)")  # r1_s is a column of r1
_SIMPLE = re.compile(r"[\w.`]+|'(?:[^'\\]|\\.)*'|\(-\d+L\)")


@dataclass
class JsonReader:
    """One pass over a JSON text (a binary column): what is asked of it is collected while the chain is compiled.

    `field` and `member` give columns of the struct that `headrace_json_read` makes; `rest` is the text of all the members that
    nobody asked for. A kind is one of the numbers of `headrace.values.kinds.JSON`.
    """

    name: str
    source: Sql
    mode: str = ""
    function: str = "headrace_json_read"
    names: list[str] = field(default_factory=list)

    def field(self, part: str) -> Sql:
        """The part (`k`, `l`, `d`, `s`, `rest`, `error`) of the whole text."""
        return f"{self.name}_{part}"

    def member(self, member: str) -> str:
        """The suffix of the columns of a member of the object; `rest` is without it from now on."""
        if member not in self.names:
            self.names.append(member)
        return str(self.names.index(member))

    def columns(self) -> list[Sql]:
        """The fields of the struct, as columns."""
        parts = ["error", "rest", *"klds", *(f"{part}{i}" for i in range(len(self.names)) for part in "klds")]
        return [f"{self.name}.{part} AS {self.name}_{part}" for part in parts]

    def sql(self) -> Sql:
        """The call, for what was asked until now."""
        return call(self.function, self.source, lit("".join("\0" + n for n in self.names)), lit(self.mode))


class Scope:
    """Names expressions; `apply` adds them to a DataFrame."""

    def __init__(self) -> None:
        self._layers: list[dict[str, Sql] | JsonReader | FilterLayer | NamedLayer] = []
        self._pending: dict[str, Sql] = {}
        self._known: dict[Sql, str] = {}
        self._count = 0

    def bind(self, expression: Sql) -> Sql:
        """A column with this value; the expression itself if it is a column or a literal already."""
        if _SIMPLE.fullmatch(expression):
            return expression
        known = self._known.get(expression)
        if known is not None:
            return known
        if self._pending and any(name in self._pending for name in _NAME.findall(expression)):
            self._flush()
        name = self._new("h")
        self._pending[name] = expression
        self._known[expression] = name
        return name

    def bind_named(self, names: Mapping[str, Sql], columns: Mapping[str, Column]) -> dict[str, Sql]:
        """Columns of a user's own making, which refer to nothing but these names; returns where each value is."""
        bound = {name: self.bind(sql) for name, sql in names.items()}
        self._flush()
        new_names = {key: self._new("h") for key in columns}
        self._layers.append(NamedLayer(bound, {new_names[key]: column for key, column in columns.items()}))
        return new_names

    def reader(self, source: Sql, mode: str = "", function: str = "headrace_json_read") -> JsonReader:
        """A pass over the JSON text in `source`, a binary expression, or over what another function reads as JSON."""
        bound = self.bind(f"coalesce({source}, X'')")  # nothing reads as JSON's null
        self._flush()
        reader = JsonReader(self._new("r"), bound, mode, function)
        self._layers.append(reader)
        return reader

    def keep(self, condition: Sql) -> None:
        """Let only rows pass where the condition holds."""
        self._flush()
        self._layers.append(FilterLayer(condition))

    def apply(self, frame: DataFrame) -> DataFrame:
        """The frame with every named column added, and without the rows that were not kept."""
        self._flush()
        levels = _Levels()
        for layer in self._layers:
            if isinstance(layer, FilterLayer):
                frame = filter_here(levels.added_to(frame), layer.condition)
            elif isinstance(layer, NamedLayer):
                frame = layer.apply(levels.added_to(frame))
            elif isinstance(layer, JsonReader):
                # Its fields become columns at once: one access each, however often they are used.
                levels.add(layer.name, [f"{layer.sql()} AS {layer.name}"])
                levels.add(layer.name, layer.columns())
            else:
                for name, sql in layer.items():
                    levels.add(name, [f"{sql} AS {name}"])
        return levels.added_to(frame)

    def _new(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def _flush(self) -> None:
        if self._pending:
            self._layers.append(self._pending)
            self._pending = {}


class _Levels:
    """Columns that are to be added to a frame, in as few projections as their references allow: Spark analyzes each of them."""

    def __init__(self) -> None:
        self._levels: list[list[Sql]] = []
        self._of: dict[str, int] = {}  # the level after which what belongs to a name is there

    def add(self, name: str, columns: Sequence[Sql]) -> None:
        """Add columns of a name, behind all that they refer to."""
        level = max((self._of.get(reference, 0) for column in columns for reference in _REFERENCE.findall(column)), default=0)
        if level == len(self._levels):
            self._levels.append([])
        self._levels[level] += columns
        self._of[name] = level + 1

    def added_to(self, frame: DataFrame) -> DataFrame:
        """The frame with the columns that were added, which are forgotten."""
        for columns in self._levels:
            frame = frame.selectExpr("*", *columns)
        self._levels, self._of = [], {}
        return frame


def filter_here(frame: DataFrame, condition: Sql) -> DataFrame:
    """The rows for which a condition holds, filtered where it stands.

    Spark pushes a filter below every projection whose columns are all deterministic, and takes a copy of all that leads to the
    condition along, once more for each projection. `headrace_here`, which gives back what it gets, is declared not to be.
    """
    columns = frame.columns
    return frame.selectExpr("*", f"headrace_here({condition}) AS kept_here").where("kept_here").select(*map(quoted, columns))


def counted(frame: DataFrame, accumulator: int) -> DataFrame:
    """The same rows, each of which adds one to a long accumulator of the driver, given by its id, when it passes."""
    return frame.where(f"headrace_count({accumulator}L)")


@dataclass(frozen=True)
class FilterLayer:
    """A layer that drops rows."""

    condition: Sql


@dataclass(frozen=True)
class NamedLayer:
    """A layer whose columns refer to names of their own, which are gone after it."""

    names: Mapping[str, Sql]
    columns: Mapping[str, Column]

    def apply(self, frame: DataFrame) -> DataFrame:
        """The frame with the columns added; one that is called like a name keeps its name and content."""
        taken = {c: f"headrace_kept_{c}" for c in frame.columns if c.lower() in self.names}
        frame = frame.withColumnsRenamed(taken)
        frame = frame.selectExpr("*", *(f"{sql} AS {quoted(name)}" for name, sql in self.names.items()))
        frame = frame.select("*", *(column.alias(name) for name, column in self.columns.items())).drop(*self.names)
        return frame.withColumnsRenamed({filter_here: c for c, filter_here in taken.items()})
