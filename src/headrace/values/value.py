"""Values of records as SQL: typed ones, alternatives of them, and the members of a map or struct that is being edited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from headrace.errors import ConfigError
from headrace.values import kinds
from headrace.values.schema import DATE, Schema, json_of
from headrace.values.scope import JsonReader, Scope
from headrace.values.sql import NEVER, Sql, all_of, any_of, call, case, kind_in, lit, negated

_MOST_ALTERNATIVES = 128
DEFAULT_CAPACITY = 16
"""Of Java's HashMap."""
COPIED, SIZED = 0, -1
"""Instead of a capacity: that of `new HashMap<>(map)`, and of `new HashMap<>(map.size())`."""


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
    has_gaps: bool = False
    """Of a list, map or struct that is not open: whether null may be within it where its schema requires a value."""

    @property
    def java(self) -> str:
        """The Java class of the value in Connect, for messages."""
        return kinds.JAVA[self.kind]

    @property
    def is_misnamed(self) -> bool:
        """Whether its schema has the name of a logical type whose class Connect expects, but the value is of another class."""
        if self.schema is None or self.schema.logical is None:
            return False
        return self.kind not in ("null", kinds.of_schema(self.schema))

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
        return replace(self, kind=kinds.of_schema(self.schema), sql=call("coalesce", self.sql, constant(self.schema)))


@dataclass(frozen=True)
class Case:
    """An alternative of a value."""

    when: Sql | None
    """The condition under which it holds; None: always."""
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
    return Case(when, replace(same[0].value, sql=sql, has_gaps=any(a.value.has_gaps for a in same)))


def with_gaps(value: Value) -> Value:
    """A value within whose nested values null may be where their schema requires a value: what was not there is null."""
    return tuple(replace(a, value=_with_gaps(a.value)) for a in value)


def _with_gaps(typed: TypedValue) -> TypedValue:
    if typed.opened is None:
        return replace(typed, has_gaps=True)
    fields = {name: with_gaps(value) for name, value in typed.opened.fields.items()}
    return replace(typed, opened=replace(typed.opened, fields=fields))


def bind_value(value: Value, scope: Scope) -> Value:
    """The value with each expression bound to a named column (`Scope.bind`)."""
    cases = []
    for a in value:
        when = None if a.when is None else scope.bind(a.when)
        if when is not None and scope.is_impossible(when):
            continue
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
        return lit(json_of(value))
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
    """Of a map: the capacity with which Connect makes its HashMap. It decides the order of the members: in Java's `toString`,
    and of which of two members that get one name the value is kept.
    """
    unchecked: frozenset[str] = frozenset()
    """Of a struct: required fields that may be null. Connect finds that out when the struct is copied, or written."""

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
        """The schema of a struct whose fields each have one type and are always present; None for any other.

        A field of an optional struct type has an alternative for null, whose schema is the same.
        """
        fields: dict[str, Schema] = {}
        for name, value in self.fields.items():
            typed = value[0].value
            if present(value) is not None or any(a.value.opened or a.value.schema != typed.schema for a in value[1:]):
                return None
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
    """`new` where the condition holds, `old` elsewhere; None if the two cannot be merged into one struct.

    Structs with a schema have the same fields: a later step asks whether there is a field, before it asks what is in it.
    """
    if (new.schema is None) != (old.schema is None) or new.schema != old.schema:
        return None
    if new.schema is not None and list(new.fields) != list(old.fields):
        return None
    if new.untouched is not None and old.untouched is not None and new.untouched is not old.untouched:
        return None
    fields = {n: choose(condition, new.get(n), old.get(n)) for n in dict.fromkeys([*old.fields, *new.fields])}
    untouched = new.untouched or old.untouched
    conditions = [
        all_of(condition, new.untouched_when if new.untouched else NEVER),
        all_of(negated(condition), old.untouched_when if old.untouched else NEVER),
    ]
    same = new.untouched is not None and old.untouched is not None and new.untouched_when == old.untouched_when
    untouched_when = new.untouched_when if same else any_of(conditions)
    return OpenStruct(fields, untouched, untouched_when, old.schema, unchecked=new.unchecked | old.unchecked)


def choose(condition: Sql | None, new: Value, old: Value) -> Value:
    """`new` where the condition holds, `old` where not."""
    if new == old or condition == NEVER:
        return old
    if condition is None:
        return new
    cases: list[Case] = []
    remaining = list(old)
    for a in new:
        both = next(((at, joined) for at, b in enumerate(remaining) if (joined := _one_of(condition, a, b)) is not None), None)
        if both is None:
            cases.append(Case(all_of(condition, a.when), a.value))
        else:
            del remaining[both[0]]
            cases.append(both[1])
    cases += [Case(all_of(negated(condition), b.when), b.value) for b in remaining]
    result = combined(_joined(cases))
    if len(result) > _MOST_ALTERNATIVES:
        raise ConfigError(
            f"Transforms with predicates give a value more than {_MOST_ALTERNATIVES} different schemas: each that adds or "
            "removes fields can double their number. Give several transforms the same predicate."
        )
    return result


def _joined(cases: list[Case]) -> list[Case]:
    """The alternatives, those of structs of the same type as one: else each step with a predicate could double them."""
    joined: list[Case] = []
    for b in cases:
        at, same = next(((i, o) for i, a in enumerate(joined) if (o := _of_same_type(a, b)) is not None), (None, None))
        if at is None or same is None:
            joined.append(b)
        else:
            joined[at] = Case(any_of([joined[at].when, b.when]), replace(b.value, opened=same))
    return joined


def _of_same_type(a: Case, b: Case) -> OpenStruct | None:
    """One struct for two alternatives; None if one of the fields would have more types than in one of them."""
    struct, other = a.value.opened, b.value.opened
    if struct is None or other is None or struct.schema is None or list(struct.fields) != list(other.fields):
        return None
    both = merged(a.when, struct, other)
    grows = both is not None and any(
        len(value) > len(struct.fields[name]) or len(value) > len(other.fields[name]) for name, value in both.fields.items()
    )
    return None if grows else both


def _one_of(condition: Sql | None, new: Case, old: Case) -> Case | None:
    """`new` where the condition holds, `old` elsewhere, as one alternative; None if their conditions or types differ."""
    a, b = new.value, old.value
    if new.when != old.when or a.kind != b.kind or (a.opened is None) != (b.opened is None):
        return None
    if new == old:
        return new
    if a.opened is not None and b.opened is not None:
        opened = merged(condition, a.opened, b.opened)
        return opened and Case(new.when, replace(a, opened=opened))
    if a.schema != b.schema:
        return None
    return Case(new.when, replace(a, sql=case([(condition, a.sql)], b.sql), has_gaps=a.has_gaps or b.has_gaps))
