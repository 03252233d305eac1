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

DEFAULT_CAPACITY = 16
"""Of Java's HashMap."""


@dataclass(frozen=True)
class TypedValue:
    """A value whose kind is known."""

    kind: str
    sql: Sql = "NULL"
    """A column of the type in `headrace.values.kinds`; NULL only with a schema: null of that type."""
    schema: Schema | None = None
    """None for schemaless data."""
    opened: OpenStruct | None = None
    """The members of a map or struct that is open for edits; then `sql` is not used."""
    texts: tuple[Sql, Sql] | None = None
    """Of a list or map whose texts are known: those of Connect's `Values.convertToString` and of Java's `toString`."""

    @property
    def java(self) -> str:
        """The Java class of the value in Connect, for messages."""
        return kinds.JAVA[self.kind]

    def is_null(self) -> Sql:
        """The condition that the value is null."""
        if self.kind == "null":
            return "true"
        if self.schema is None or self.opened is not None:
            return NEVER
        return f"({self.sql} IS NULL)"

    def or_default(self, replace_null: bool) -> TypedValue:
        """The value with its schema's default instead of null, if `replace_null` is set."""
        if not replace_null or self.schema is None or self.schema.default is None or self.opened is not None:
            return self
        return TypedValue(kinds.of_schema(self.schema), call("coalesce", self.sql, constant(self.schema)), self.schema)


@dataclass(frozen=True)
class Case:
    """An alternative of a value: a typed value and the condition under which it holds; None: always."""

    when: Sql | None
    value: TypedValue


Value = tuple[Case, ...]
"""Alternatives that exclude each other. A member of a map is absent where none of them holds."""

NULL = TypedValue("null")


def always(typed: TypedValue) -> Value:
    """A value of one kind."""
    return (Case(None, typed),)


def present(value: Value) -> Sql | None:
    """The condition that one of the alternatives holds."""
    return any_of(a.when for a in value)


def only_when(condition: Sql | None, value: Value) -> Value:
    """The value under a further condition."""
    return tuple(Case(all_of(condition, a.when), a.value) for a in value if condition != NEVER)


def or_null(value: Value, schemaless: bool = True) -> Value:
    """The value, and null where it is absent."""
    absent = negated(present(value))
    return value if absent == NEVER or not schemaless else combined([*value, Case(absent, NULL)])


def mapped(value: Value, change: Callable[[Sql | None, TypedValue], Value | TypedValue]) -> Value:
    """Each alternative changed; the function gets the condition under which it holds, and its value."""
    cases: list[Case] = []
    for a in value:
        changed = change(a.when, a.value)
        cases += [Case(a.when, changed)] if isinstance(changed, TypedValue) else only_when(a.when, changed)
    return combined(cases)


def combined(alternatives: Iterable[Case]) -> Value:
    """Merge alternatives of the same type, so that there are never more alternatives than types."""
    by_kind: dict[Any, list[Case]] = {}
    for a in alternatives:
        if a.when != NEVER:
            by_kind.setdefault(_key(a.value), []).append(a)
    return tuple(_merge(same) for same in by_kind.values())


def _key(value: TypedValue) -> Any:
    return (value.kind, value.schema, id(value.opened) if value.opened else None, value.texts)


def _merge(same: list[Case]) -> Case:
    if len(same) == 1:
        return same[0]
    when = any_of(a.when for a in same)
    branches = [(a.when, a.value.sql) for a in same]
    texts = {sql for _, sql in branches}
    sql = branches[0][1] if len(texts) == 1 else case(branches[:-1], branches[-1][1])
    return Case(when, replace(same[0].value, sql=sql))


def bind_value(value: Value, scope: Scope) -> Value:
    """The value with each expression bound to a named column (`Scope.bind`)."""
    cases = []
    for a in value:
        when = None if a.when is None else scope.bind(a.when)
        typed = a.value
        if typed.opened is not None:
            typed = replace(typed, opened=typed.opened.with_bound_columns(scope))
        elif typed.kind != "null":
            typed = replace(typed, sql=scope.bind(typed.sql))
        cases.append(Case(when, typed))
    return tuple(cases)


def constant(schema: Schema, value: Any = None) -> Sql:
    """A constant column of the schema's kind. value: in its JSON form, by default the schema's default."""
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
    """The members of a map or struct, which can be read and changed one by one."""

    fields: Mapping[str, Value] = field(default_factory=dict)
    """The members that have been read or set; an empty value: the member was removed. Of a struct all fields, in order; each
    alternative of a field has the field's schema.
    """
    untouched: JsonReader | None = None
    """Of a map: the JSON text whose other members have been neither read nor changed."""
    untouched_when: Sql | None = None
    """The condition that the map has the untouched members; None: always."""
    schema: Schema | None = None
    """Of a struct: its name, version, doc and so on; its `fields` are not used."""
    capacity: int = DEFAULT_CAPACITY
    """Of a map: the capacity with which Connect makes its HashMap. It decides the order of the members in Java's `toString`."""

    def get(self, name: str) -> Value:
        """The member's alternatives; empty if it is absent."""
        if name in self.fields:
            return self.fields[name]
        return only_when(self.untouched_when, member(self.untouched, name)) if self.untouched else ()

    def with_field(self, name: str, value: Value) -> OpenStruct:
        """Set a member; a new one comes last."""
        if self.untouched:
            self.untouched.member(name)  # takes it out of the text of the untouched members
        return replace(self, fields={**self.fields, name: value})

    def without(self, names: tuple[str, ...]) -> OpenStruct:
        """The struct without these members."""
        if self.untouched is None:
            return replace(self, fields={n: v for n, v in self.fields.items() if n not in names})
        changed = self
        for name in names:
            changed = changed.with_field(name, ())
        return changed

    def only(self, names: tuple[str, ...]) -> OpenStruct:
        """The struct with these members alone."""
        return replace(self, fields={n: self.get(n) for n in names if n in self.fields or self.untouched}, untouched=None)

    def touched(self) -> dict[str, Value]:
        """The members that have been read or set, also those that another alternative has read from the same text."""
        names = {} if self.untouched is None else {n: self.get(n) for n in self.untouched.names}
        return {**self.fields, **{n: v for n, v in names.items() if n not in self.fields}}

    def with_bound_columns(self, scope: Scope) -> OpenStruct:
        """The struct with each expression bound to a named column (`Scope.bind`)."""
        when = None if self.untouched_when is None else scope.bind(self.untouched_when)
        return replace(self, fields={n: bind_value(v, scope) for n, v in self.fields.items()}, untouched_when=when)

    def struct_schema(self) -> Schema | None:
        """The schema of a struct whose fields each have one type and are always present; None for any other."""
        fields: dict[str, Schema] = {}
        for name, value in self.fields.items():
            if len(value) != 1 or value[0].when is not None:
                return None
            typed = value[0].value
            inner = typed.opened.struct_schema() if typed.opened else typed.schema
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
    """`new` where the condition holds, `old` elsewhere; None if the two cannot be merged into one struct."""
    if (new.schema is None) != (old.schema is None) or new.schema != old.schema:
        return None
    if new.untouched is not None and old.untouched is not None and new.untouched is not old.untouched:
        return None
    order = _order(list(new.fields), list(old.fields)) if new.schema is not None else [*dict.fromkeys([*old.fields, *new.fields])]
    if order is None:
        return None
    fields = {name: choose(condition, new.get(name), old.get(name)) for name in order}
    untouched = new.untouched or old.untouched
    conditions = [
        all_of(condition, new.untouched_when if new.untouched else NEVER),
        all_of(negated(condition), old.untouched_when if old.untouched else NEVER),
    ]
    same = new.untouched is not None and old.untouched is not None and new.untouched_when == old.untouched_when
    return OpenStruct(fields, untouched, new.untouched_when if same else any_of(conditions), old.schema)


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
        opened = match and a.value.opened and match.value.opened and merged(condition, a.value.opened, match.value.opened)
        if match is not None and opened and a.when == match.when:
            remaining.remove(match)
            cases.append(Case(a.when, replace(a.value, opened=opened, schema=a.value.schema)))
        elif match is not None and a == match:
            remaining.remove(match)
            cases.append(a)
        elif match is not None and not a.value.opened and a.when == match.when:
            remaining.remove(match)
            sql = case([(condition, a.value.sql)], match.value.sql)
            cases.append(Case(a.when, replace(a.value, sql=sql)))
        else:
            cases.append(Case(all_of(condition, a.when), a.value))
    cases += [Case(all_of(negated(condition), b.when), b.value) for b in remaining]
    return combined(cases)


def _mergeable(a: TypedValue, b: TypedValue) -> bool:
    if a.kind != b.kind or (a.opened is None) != (b.opened is None):
        return False
    return a.opened is not None or a.schema == b.schema


def _order(new: list[str], old: list[str]) -> list[str] | None:
    """A common order of both lists of names; None if they contradict each other."""
    shared_new, shared_old = [n for n in new if n in old], [n for n in old if n in new]
    if shared_new != shared_old:
        return None
    names: list[str] = []
    remaining = list(old)
    for name in new:
        if name in remaining:
            at = remaining.index(name)
            names += remaining[: at + 1]
            remaining = remaining[at + 1 :]
        else:
            names.append(name)
    return [*dict.fromkeys([*names, *remaining])]
