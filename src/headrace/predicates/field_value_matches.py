"""FieldValueMatches: records with a field of a certain value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.config.validators import CaseInsensitiveValidString, Lambda, NonEmptyString, Regex
from headrace.errors import ConfigError
from headrace.plugins import Kind, plugin
from headrace.predicates.base import Predicate
from headrace.values.compile_context import CompileContext
from headrace.values.field_path import field_path
from headrace.values.record import ConnectRecord, open_struct
from headrace.values.sql import Sql, all_of, any_of, case, lit, negated
from headrace.values.text import json_text
from headrace.values.value import Case, Value, only_when


def _regex(name: str, value: str | None) -> None:
    if value is not None:
        Regex(in_java=True)(name, value)


@plugin("headrace.predicates.FieldValueMatches", Kind.PREDICATE)
class FieldValueMatches(Predicate):
    """Holds for records with a field of a certain value, or whose text matches a pattern, or that exists.

    Set one of `equals`, `pattern` and `exists`. A field that is absent or null has no text: the first two do not hold.
    """

    examples = (
        Example({"field": "a.city", "pattern": "Ber.*"}, {"value": {"a": {"city": "Berlin"}}}, True),
        Example({"field": "id", "exists": "false"}, {"value": {"id": None}}, True),
        Example({"field": "id", "equals": "7"}, {"value": {"id": 8}}, False),
    )

    field: str = option(
        "field",
        Type.STRING,
        validator=NonEmptyString(),
        importance=Importance.HIGH,
        doc="The field; dots lead into nested fields, backticks enclose a name that has dots, as in syntax "
        "<code>V2</code> of Kafka's transforms: <code>address.`zip.code`</code>.",
    )
    part: str = option(
        "part",
        Type.STRING,
        "value",
        convert=str.lower,
        validator=CaseInsensitiveValidString("key", "value"),
        doc="Where the field is: <code>key</code> or <code>value</code>.",
    )
    equals: str | None = option(
        "equals",
        Type.STRING,
        None,
        importance=Importance.HIGH,
        doc="The text that the field's value has to be: of a number or boolean as JSON has it, of bytes base64, of "
        "a list or object its JSON without white space.",
    )
    pattern: str | None = option(
        "pattern",
        Type.STRING,
        None,
        validator=Lambda(_regex, "a Java regular expression"),
        importance=Importance.HIGH,
        doc="A Java regular expression that has to match the whole text.",
    )
    exists: bool | None = option(
        "exists",
        Type.BOOLEAN,
        None,
        importance=Importance.HIGH,
        doc="<code>true</code>: the field exists and is not null; <code>false</code>: it is absent or null.",
    )

    def check(self) -> None:
        """Refuse a path that cannot be parsed, more than one condition, and none."""
        field_path(self.field)
        conditions = [name for name in ("equals", "pattern", "exists") if self[name] is not None]
        if len(conditions) != 1:
            raise ConfigError(f"Set one of equals, pattern and exists; given: {', '.join(conditions) or 'none'}")

    @property
    def path(self) -> tuple[str, ...]:
        """The steps to the field."""
        return field_path(self.field)

    def reads(self) -> Sequence[tuple[str, ...]]:
        """The field."""
        return [(self.part, *self.path)]

    def test(self, record: ConnectRecord) -> Sql:
        """Whether the field's text equals the configured text or matches the pattern, or the field exists."""
        context = record.context
        leaves = list(_leaves(context, getattr(record, self.part), self.path))
        field_exists = any_of(all_of(a.when, negated(a.value.is_null())) for a in leaves)
        if self.exists is not None:
            return (field_exists if self.exists else negated(field_exists)) or "true"
        texts = [(all_of(a.when, negated(a.value.is_null())), json_text(context, a.value)) for a in leaves]
        text = context.scope.bind(f"string({case(texts)})")
        operand = lit(self.equals) if self.equals is not None else lit(self.pattern)
        matches = f"({text} = {operand})" if self.equals is not None else f"headrace_regex_matches({text}, {operand})"
        return f"coalesce({matches}, false)"


def _leaves(context: CompileContext, value: Value, path: tuple[str, ...]) -> Iterator[Case]:
    """The alternatives of the value at a path; none if there is no such field."""
    if not path:
        yield from (a for a in value if a.value.kind != "null")
        return
    for a in value:
        typed = a.value
        if typed.kind not in ("map", "struct") or (typed.kind == "struct") != (typed.schema is not None):
            continue
        opened = open_struct(
            context, typed if typed.opened or a.when is None else replace(typed, sql=case([(a.when, typed.sql)]))
        )
        if opened.schema is None or path[0] in opened.fields:
            yield from _leaves(context, only_when(a.when, opened.get(path[0])), path[1:])
