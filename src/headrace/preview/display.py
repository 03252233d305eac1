"""SQL expressions that display Connect data: the index of the alternative that holds, its JSON text, its schema."""

from __future__ import annotations

from collections.abc import Sequence

from headrace.values.compile_context import CompileContext
from headrace.values.scope import Scope
from headrace.values.sql import Sql, call, case, concat, lit
from headrace.values.text import date_text
from headrace.values.value import TypedValue, Value
from headrace.values.writing import JsonWriter, schema_text


class _ShownWriter(JsonWriter):
    """Writes JSON for display: nulls are not replaced by defaults, dates are text, decimals are their digits."""

    def typed(self, typed: TypedValue, when: Sql | None) -> Sql:
        if typed.kind == "date":
            return call("coalesce", concat(lit('"'), date_text(typed.sql), lit('"')), lit("null"))
        if typed.kind == "decimal":
            return call("coalesce", typed.sql, lit("null"))
        return super().typed(typed, when)


def shown(scope: Scope, value: Value) -> Sql:
    """A struct<alternative:int, json:string, schema:string>; alternative: its index among the value's, -1 if none holds.

    Values that a converter would refuse to write are displayed too: their faults are collected by a separate context and ignored.
    """
    writer = _ShownWriter(CompileContext(scope), replace_null=False)
    parts = {
        "alternative": case([(a.when, str(i)) for i, a in enumerate(value)], "-1"),
        "json": f"string({case([(a.when, writer.typed(a.value, a.when)) for a in value])})",
        "schema": f"string({case([(a.when, schema_text(a.value)) for a in value])})",
    }
    return call("named_struct", *(x for name, sql in parts.items() for x in (lit(name), sql)))


def kinds(value: Value) -> Sequence[str]:
    """The kind of each alternative."""
    return [a.value.kind for a in value]
