"""The named intermediate columns of a compiled chain, in layers: a column refers to layers before its own only.

Each layer becomes one projection; Spark runs them in one pass. Named columns keep the size of a chain linear: an expression that
is used twice is written once.
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
_SIMPLE = re.compile(r"[\w.`]+|'(?:[^'\\]|\\.)*'|\(-\d+L\)|\(NOT h\d+\)")
_CONJUNCTION = re.compile(r"\((?:h\d+|\(NOT h\d+\))(?: AND (?:h\d+|\(NOT h\d+\)))+\)")


@dataclass
class JsonReader:
    """One pass over a JSON text (a binary column); the members to read are collected while the chain is compiled.

    `field` and `member` give columns of the struct that `headrace_json_read` returns; its `rest` is the text of all members that
    are not read. A kind is one of the numbers of `headrace.values.kinds.JSON`.
    """

    name: str
    """Of the column with the struct; those of its fields begin with it."""
    source: Sql
    """Binary."""
    mode: str = ""
    """What is kept of numbers, a letter each: see `JsonRead.java`. For other functions the plan that they read by."""
    function: str = "headrace_json_read"
    names: list[str] = field(default_factory=list)
    """The members to read."""

    def field(self, part: str) -> Sql:
        """The part (`k`, `l`, `d`, `s`, `rest`, `error`) of the whole text."""
        return f"{self.name}_{part}"

    def member(self, member: str) -> str:
        """The suffix of the columns of a member of the object; `rest` does not contain it any more."""
        if member not in self.names:
            self.names.append(member)
        return str(self.names.index(member))

    def columns(self) -> list[Sql]:
        """The fields of the struct, as columns."""
        parts = ["error", "rest", *"klds", *(f"{part}{i}" for i in range(len(self.names)) for part in "klds")]
        return [f"{self.name}.{part} AS {self.name}_{part}" for part in parts]

    def sql(self) -> Sql:
        """The function call, for the members requested so far."""
        return call(self.function, self.source, lit("".join("\0" + n for n in self.names)), lit(self.mode))


class Scope:
    """Names expressions; `apply` adds them to a DataFrame."""

    def __init__(self) -> None:
        self._layers: list[dict[str, Sql] | JsonReader | FilterLayer | NamedLayer] = []
        self._pending: dict[str, Sql] = {}
        self._names: dict[Sql, str] = {}
        self._implied: dict[Sql, frozenset[Sql]] = {}
        """What holds where a condition holds, which is a conjunction of named columns."""
        self._count = 0

    def bind(self, expression: Sql) -> Sql:
        """The name of a column with this value; the expression itself if it is a column or a literal already."""
        if _SIMPLE.fullmatch(expression):
            return expression
        name = self._names.get(expression)
        if name is not None:
            return name
        opposite = self._names.get(expression[5:-1]) if expression.startswith("(NOT ") else None
        if opposite is not None:
            return f"(NOT {opposite})"
        if self._pending and any(used in self._pending for used in _NAME.findall(expression)):
            self._flush()
        name = self._new("h")
        self._pending[name] = expression
        self._names[expression] = name
        if _CONJUNCTION.fullmatch(expression):
            self._implied[name] = frozenset().union(*map(self._implied_by, expression[1:-1].split(" AND ")))
        return name

    def is_impossible(self, condition: Sql) -> bool:
        """Whether a condition that `bind` returned never holds: two steps with the same predicate, the second with `negate`."""
        implied = self._implied.get(condition, frozenset())
        return any(f"(NOT {other})" in implied for other in implied)

    def _implied_by(self, condition: Sql) -> frozenset[Sql]:
        return self._implied.get(condition, frozenset()) | {condition}

    def bind_named(self, names: Mapping[str, Sql], columns: Mapping[str, Column]) -> dict[str, Sql]:
        """Add columns that a user has written, which refer to nothing but these names; returns the name of each in the frame."""
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

    def filter_rows(self, condition: Sql) -> None:
        """Drop the rows for which the condition does not hold."""
        self._flush()
        self._layers.append(FilterLayer(condition))

    def apply(self, frame: DataFrame) -> DataFrame:
        """The frame with every named column added, without the rows that `filter_rows` drops."""
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
        self._level_of: dict[str, int] = {}  # the level after which the columns of a name exist

    def add(self, name: str, columns: Sequence[Sql]) -> None:
        """Add columns of a name, after all columns that they refer to."""
        level = max(
            (self._level_of.get(reference, 0) for column in columns for reference in _REFERENCE.findall(column)), default=0
        )
        if level == len(self._levels):
            self._levels.append([])
        self._levels[level] += columns
        self._level_of[name] = level + 1

    def added_to(self, frame: DataFrame) -> DataFrame:
        """The frame with the columns that were added since the last call."""
        for columns in self._levels:
            frame = frame.selectExpr("*", *columns)
        self._levels, self._level_of = [], {}
        return frame


def filter_here(frame: DataFrame, condition: Sql) -> DataFrame:
    """The rows for which a condition holds; Spark does not push this filter down.

    Spark pushes a filter below every projection whose columns are all deterministic, and copies the expressions of the condition
    once for each projection. `headrace_here`, which returns its argument, is declared nondeterministic.
    """
    columns = frame.columns
    return frame.selectExpr("*", f"headrace_here({condition}) AS kept_here").where("kept_here").select(*map(quoted, columns))


def count_rows(frame: DataFrame, accumulator: int) -> DataFrame:
    """The same rows; each row that is evaluated adds one to a long accumulator of the driver. accumulator: its id."""
    return frame.where(f"headrace_count({accumulator}L)")


@dataclass(frozen=True)
class FilterLayer:
    """A layer that drops rows."""

    condition: Sql
    """Of the rows that stay."""


@dataclass(frozen=True)
class NamedLayer:
    """A layer whose columns refer to the columns `names`, which are dropped after it."""

    names: Mapping[str, Sql]
    """What users call columns, each with the expression that it stands for."""
    columns: Mapping[str, Column]
    """By their names in the frame."""

    def apply(self, frame: DataFrame) -> DataFrame:
        """The frame with the columns added; a column of the frame that has the name of one of `names` is not changed."""
        renames = {c: f"headrace_kept_{c}" for c in frame.columns if c.lower() in self.names}
        frame = frame.withColumnsRenamed(renames)
        frame = frame.selectExpr("*", *(f"{sql} AS {quoted(name)}" for name, sql in self.names.items()))
        frame = frame.select("*", *(column.alias(name) for name, column in self.columns.items())).drop(*self.names)
        return frame.withColumnsRenamed({renamed: column for column, renamed in renames.items()})
