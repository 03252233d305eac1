"""Typed values, and values as alternatives of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from headrace.values import kinds
from headrace.values.schema import DATE, Schema
from headrace.values.sql import NEVER, Sql, both, call, case, either, lit, negated

if TYPE_CHECKING:
    from headrace.values.open_struct import OpenStruct
    from headrace.values.scope import Scope


@dataclass(frozen=True)
class TypedValue:
    """A value whose kind is known.

    sql: a column as `headrace.values.kinds` says; NULL only where there is a schema: the value null of that type. schema: None
    for schemaless data. table: the members of a map or struct that is open for edits; then `sql` is not used.
    """

    kind: str
    sql: Sql = "NULL"
    schema: Schema | None = None
    table: OpenStruct | None = None

    @property
    def java(self) -> str:
        """The Java class that Connect would have, for messages."""
        return kinds.JAVA[self.kind]

    def is_null(self) -> Sql:
        """The condition that the value is null."""
        if self.kind == "null":
            return "true"
        if self.schema is None or self.table is not None:
            return NEVER
        return f"({self.sql} IS NULL)"

    def or_default(self, replace_null: bool) -> TypedValue:
        """The same with its schema's default in the place of null, if that is asked for."""
        if not replace_null or self.schema is None or self.schema.default is None or self.table is not None:
            return self
        return TypedValue(kinds.of_schema(self.schema), call("coalesce", self.sql, constant(self.schema)), self.schema)


@dataclass(frozen=True)
class Case:
    """A typed value and when it is the one; None: always."""

    when: Sql | None
    value: TypedValue


Value = tuple[Case, ...]
"""The alternatives exclude each other. A member of a map is absent where none of them holds."""

NULL = TypedValue("null")


def always(typed: TypedValue) -> Value:
    """A value of one kind."""
    return (Case(None, typed),)


def present(value: Value) -> Sql | None:
    """When one of the alternatives holds."""
    return either(a.when for a in value)


def only_when(condition: Sql | None, value: Value) -> Value:
    """The value under a further condition."""
    return tuple(Case(both(condition, a.when), a.value) for a in value if condition != NEVER)


def or_null(value: Value, schemaless: bool = True) -> Value:
    """The value, and null where it is absent."""
    absent = negated(present(value))
    return value if absent == NEVER or not schemaless else combined([*value, Case(absent, NULL)])


def mapped(value: Value, change: Callable[[Sql | None, TypedValue], Value | TypedValue]) -> Value:
    """Each alternative changed; the function gets when it holds."""
    found: list[Case] = []
    for a in value:
        changed = change(a.when, a.value)
        found += [Case(a.when, changed)] if isinstance(changed, TypedValue) else only_when(a.when, changed)
    return combined(found)


def combined(alternatives: Iterable[Case]) -> Value:
    """Alternatives of the same type made one, so that there are never more of them than types."""
    found: dict[Any, list[Case]] = {}
    for a in alternatives:
        if a.when != NEVER:
            found.setdefault(_key(a.value), []).append(a)
    return tuple(_one(same) for same in found.values())


def _key(value: TypedValue) -> Any:
    return (value.kind, value.schema, id(value.table) if value.table else None)


def _one(same: list[Case]) -> Case:
    if len(same) == 1:
        return same[0]
    when = either(a.when for a in same)
    branches = [(a.when, a.value.sql) for a in same]
    texts = {sql for _, sql in branches}
    sql = branches[0][1] if len(texts) == 1 else case(branches[:-1], branches[-1][1])
    return Case(when, replace(same[0].value, sql=sql))


def bound(value: Value, scope: Scope) -> Value:
    """The same with every expression named."""
    found = []
    for a in value:
        when = None if a.when is None else scope.bind(a.when)
        typed = a.value
        if typed.table is not None:
            typed = replace(typed, table=typed.table.bound(scope))
        elif typed.kind != "null":
            typed = replace(typed, sql=scope.bind(typed.sql))
        found.append(Case(when, typed))
    return tuple(found)


def constant(schema: Schema, value: Any = None) -> Sql:
    """A value in its JSON form (by default: the schema's default) as a column of the schema's kind."""
    value = schema.default if value is None else value
    kind = kinds.of_schema(schema)
    if kind == "date":
        return lit(int(value) * (86_400_000 if schema.name == DATE else 1))
    if kind == "decimal":
        if isinstance(value, str):
            return call("headrace_decimal_read", call("headrace_base64", lit(value)), str(schema.scale))
        return lit(str(value))
    if kind == "bytes":
        return call("headrace_base64", lit(value))
    if kind in kinds.NESTED:
        return lit(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    if kind == "float32":
        return f"float({lit(float(value))})"
    return lit(float(value) if kind == "float64" else value)
