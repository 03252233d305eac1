"""The form in which SparkSink wants its records: typed columns instead of bytes."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.connectors.spark_sink.envelope import row_after
from headrace.converters.base import WithoutRegistry
from headrace.values.columns import column, common_shape, json_text, own_fields
from headrace.values.compile_context import CompileContext
from headrace.values.sql import Sql, call, case, lit, quoted
from headrace.values.value import Value

OWN_FIELDS = "headrace_own_fields"
"""A further field of structs of several schemas: the names of those fields that the record's own schema has."""


@dataclass(frozen=True)
class ColumnWriter(WithoutRegistry):
    """Keys or values as a column: see `headrace.values.columns.column`, or by a schema in DDL.

    A record that does not fit the schema fails.
    """

    what: str
    """`key` or `value`."""
    ddl: str | None = None
    """None makes a column of what the data is."""
    enveloped: bool = False
    """Whether values are change events of Debezium."""

    def write(self, context: CompileContext, value: Value) -> Sql:
        """The column, NULL for null."""
        if self.enveloped:
            value = row_after(context, value)
        if self.ddl is None:
            return _with_own_fields(context, value, column(context, value, self.what))
        branches = []
        for a in value:
            if a.value.kind == "string":
                branches.append((a.when, a.value.sql))
            elif a.value.kind == "bytes":
                branches.append((a.when, f"cast({a.value.sql} as string)"))
            elif a.value.kind != "null":
                branches.append((a.when, json_text(context, (a,))))
        text = context.scope.bind(f"string({case(branches)})")
        parsed = context.scope.bind(f"headrace_try(from_json({text}, {lit(self.ddl)}, map('mode', 'FAILFAST')))")
        context.fail(f"({text} IS NOT NULL AND {parsed} IS NULL)", lit(f"The {self.what} is not a JSON object of {self.ddl}"))
        return parsed


def _with_own_fields(context: CompileContext, value: Value, sql: Sql) -> Sql:
    own = own_fields(value)
    if own is None:
        return sql
    struct = context.scope.bind(sql)
    members = [x for name, _ in common_shape(value).fields for x in (lit(name), f"{struct}.{quoted(name)}")]
    return f"if({struct} IS NULL, NULL, {call('named_struct', *members, lit(OWN_FIELDS), own)})"
