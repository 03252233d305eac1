"""Change events of Debezium as rows: what a row is after a change, and nothing where it was deleted."""

from __future__ import annotations

from dataclasses import replace

from headrace.values.compile_context import CompileContext
from headrace.values.record import open_struct
from headrace.values.sql import case, lit, negated
from headrace.values.value import Case, Value, combined, only_when, or_null, present

_MEMBERS = ("op", "after")


def row_after(context: CompileContext, value: Value) -> Value:
    """The `after` of change events; a tombstone stays one, and what is no change event fails."""
    cases: list[Case] = []
    for a in value:
        typed = a.value
        if typed.kind == "null":
            cases.append(a)
            continue
        if typed.kind not in ("map", "struct"):
            context.fail(a.when, lit("The value is no change event of Debezium: it is no object"))
            continue
        opened = open_struct(context, typed if typed.opened else replace(typed, sql=case([(a.when, typed.sql)])))
        missing = [name for name in _MEMBERS if opened.schema is not None and name not in opened.fields]
        if missing:
            context.fail(a.when, lit(f"The value is no change event of Debezium: it has no field {missing[0]}"))
            continue
        with context.where(a.when):
            for name in _MEMBERS if opened.schema is None else ():
                absent = negated(present(opened.get(name)))
                context.fail(absent, lit(f"The value is no change event of Debezium: it has no field {name}"))
            after = opened.get("after")
            cases += only_when(a.when, or_null(after, schemaless=opened.schema is None))
    return combined(cases)
