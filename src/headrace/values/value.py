"""Values of records as SQL: typed ones, alternatives of them, and the members of a map or struct that is being edited."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from headrace.values import kinds
from headrace.values.schema import DATE, Schema
from headrace.values.scope import JsonReader, Scope
from headrace.values.sql import NEVER, Sql, all_of, any_of, call, case, kind_in, lit, negated


@dataclass(frozen=True)
class TypedValue:
    """A value whose kind is known."""

    kind: str
    sql: Sql = "NULL"
    """A column as `headrace.values.kinds` says; NULL only where there is a schema: the value null of that type."""
    schema: Schema | None = None
    """None for schemaless data."""
    table: OpenStruct | None = None
    """The members of a map or struct that is open for edits; then `sql` is not used."""

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
    return any_of(a.when for a in value)


def only_when(condition: Sql | None, value: Value) -> Value:
    """The value under a further condition."""
    return tuple(Case(all_of(condition, a.when), a.value) for a in value if condition != NEVER)


def or_null(value: Value, schemaless: bool = True) -> Value:
    """The value, and null where it is absent."""
    absent = negated(present(value))
    return value if absent == NEVER or not schemaless else combined([*value, Case(absent, NULL)])


def mapped(value: Value, change: Callable[[Sql | None, TypedValue], Value | TypedValue]) -> Value:
    """Each alternative changed; the function gets when it holds."""
    cases: list[Case] = []
    for a in value:
        changed = change(a.when, a.value)
        cases += [Case(a.when, changed)] if isinstance(changed, TypedValue) else only_when(a.when, changed)
    return combined(cases)


def combined(alternatives: Iterable[Case]) -> Value:
    """Alternatives of the same type made one, so that there are never more of them than types."""
    by_kind: dict[Any, list[Case]] = {}
    for a in alternatives:
        if a.when != NEVER:
            by_kind.setdefault(_key(a.value), []).append(a)
    return tuple(_one(same) for same in by_kind.values())


def _key(value: TypedValue) -> Any:
    return (value.kind, value.schema, id(value.table) if value.table else None)


def _one(same: list[Case]) -> Case:
    if len(same) == 1:
        return same[0]
    when = any_of(a.when for a in same)
    branches = [(a.when, a.value.sql) for a in same]
    texts = {sql for _, sql in branches}
    sql = branches[0][1] if len(texts) == 1 else case(branches[:-1], branches[-1][1])
    return Case(when, replace(same[0].value, sql=sql))


def bind_value(value: Value, scope: Scope) -> Value:
    """The same with every expression named."""
    cases = []
    for a in value:
        when = None if a.when is None else scope.bind(a.when)
        typed = a.value
        if typed.table is not None:
            typed = replace(typed, table=typed.table.with_bound_columns(scope))
        elif typed.kind != "null":
            typed = replace(typed, sql=scope.bind(typed.sql))
        cases.append(Case(when, typed))
    return tuple(cases)


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


@dataclass(frozen=True)
class OpenStruct:
    """Members by name."""

    fields: Mapping[str, Value] = field(default_factory=dict)
    """What is known of a member; an empty value: it was taken out. A map may have a `rest`: the members of a JSON text that
    nobody has looked at, there under the condition `rest_when` (None: always). A struct (`schema`: its name, version and so on;
    its own fields do not count) knows all its fields, in order; each alternative of a field carries the field's schema.
    """
    rest: JsonReader | None = None
    rest_when: Sql | None = None
    schema: Schema | None = None

    def get(self, name: str) -> Value:
        """The member's alternatives; none where it is absent."""
        if name in self.fields:
            return self.fields[name]
        return only_when(self.rest_when, member(self.rest, name)) if self.rest else ()

    def with_field(self, name: str, value: Value) -> OpenStruct:
        """Set a member; a new one comes last."""
        if self.rest:
            self.rest.member(name)  # it is not part of the rest any more
        return replace(self, fields={**self.fields, name: value})

    def without(self, names: tuple[str, ...]) -> OpenStruct:
        """Take members out."""
        if self.rest is None:
            return replace(self, fields={n: v for n, v in self.fields.items() if n not in names})
        changed = self
        for name in names:
            changed = changed.with_field(name, ())
        return changed

    def only(self, names: tuple[str, ...]) -> OpenStruct:
        """Take all other members out."""
        return replace(self, fields={n: self.get(n) for n in names if n in self.fields or self.rest}, rest=None)

    def known(self) -> dict[str, Value]:
        """All members but the rest: those that others took from the text, too."""
        names = {} if self.rest is None else {n: self.get(n) for n in self.rest.names}
        return {**self.fields, **{n: v for n, v in names.items() if n not in self.fields}}

    def with_bound_columns(self, scope: Scope) -> OpenStruct:
        """The same with every expression named."""
        when = None if self.rest_when is None else scope.bind(self.rest_when)
        return replace(self, fields={n: bind_value(v, scope) for n, v in self.fields.items()}, rest_when=when)

    def struct_schema(self) -> Schema | None:
        """The schema of a struct whose fields each have one type and are always there; None if that is not so."""
        fields: dict[str, Schema] = {}
        for name, value in self.fields.items():
            if len(value) != 1 or value[0].when is not None:
                return None
            typed = value[0].value
            inner = typed.table.struct_schema() if typed.table else typed.schema
            if inner is None:
                return None
            fields[name] = inner
        return self.schema and self.schema.same_but(fields=fields)


def member(reader: JsonReader, name: str) -> Value:
    """A member of a JSON object as schemaless data."""
    return json_value(reader, reader.member(name))


def json_value(reader: JsonReader, suffix: str) -> Value:
    """Schemaless data from the columns of a reader: JSON null, numbers as 64-bit integers and doubles, and so on."""
    k, n, d, s = (f"{reader.name}_{part}{suffix}" for part in "klds")
    columns = {"boolean": f"({n} = 1L)", "int64": n, "float64": d}
    cases = []
    for kind, number in kinds.JSON.items():
        typed = TypedValue(kind) if kind == "null" else TypedValue(kind, columns.get(kind, s))
        cases.append(Case(kind_in(k, [number]), typed))
    return tuple(cases)


def merged(condition: Sql | None, new: OpenStruct, old: OpenStruct) -> OpenStruct | None:
    """`new` where the condition holds, `old` where not; None if that is no one table."""
    if (new.schema is None) != (old.schema is None) or new.schema != old.schema:
        return None
    if new.rest is not None and old.rest is not None and new.rest is not old.rest:
        return None
    order = _order(list(new.fields), list(old.fields)) if new.schema is not None else [*dict.fromkeys([*old.fields, *new.fields])]
    if order is None:
        return None
    fields = {name: choose(condition, new.get(name), old.get(name)) for name in order}
    rest = new.rest or old.rest
    conditions = [
        all_of(condition, new.rest_when if new.rest else NEVER),
        all_of(negated(condition), old.rest_when if old.rest else NEVER),
    ]
    same = new.rest is not None and old.rest is not None and new.rest_when == old.rest_when
    return OpenStruct(fields, rest, new.rest_when if same else any_of(conditions), old.schema)


def choose(condition: Sql | None, new: Value, old: Value) -> Value:
    """`new` where the condition holds, `old` where not."""
    if new == old or condition == NEVER:
        return old
    if condition is None:
        return new
    cases: list[Case] = []
    remaining = list(old)
    for a in new:
        match = next((b for b in remaining if _mergeable(a.value, b.value)), None)
        table = match and a.value.table and match.value.table and merged(condition, a.value.table, match.value.table)
        if match is not None and table and a.when == match.when:
            remaining.remove(match)
            cases.append(Case(a.when, replace(a.value, table=table, schema=a.value.schema)))
        elif match is not None and a == match:
            remaining.remove(match)
            cases.append(a)
        elif match is not None and not a.value.table and a.when == match.when:
            remaining.remove(match)
            sql = case([(condition, a.value.sql)], match.value.sql)
            cases.append(Case(a.when, replace(a.value, sql=sql)))
        else:
            cases.append(Case(all_of(condition, a.when), a.value))
    cases += [Case(all_of(negated(condition), b.when), b.value) for b in remaining]
    return combined(cases)


def _mergeable(a: TypedValue, b: TypedValue) -> bool:
    if a.kind != b.kind or (a.table is None) != (b.table is None):
        return False
    return a.table is not None or a.schema == b.schema


def _order(new: list[str], old: list[str]) -> list[str] | None:
    """One order that both keep; None if there is none."""
    shared_new, shared_old = [n for n in new if n in old], [n for n in old if n in new]
    if shared_new != shared_old:
        return None
    names: list[str] = []
    rest = list(old)
    for name in new:
        if name in rest:
            at = rest.index(name)
            names += rest[: at + 1]
            rest = rest[at + 1 :]
        else:
            names.append(name)
    return [*dict.fromkeys([*names, *rest])]
