"""Typed values to JSON text (`JsonConverter.convertToJson`)."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from headrace.errors import DataError
from headrace.values import kinds
from headrace.values.compile_context import CompileContext
from headrace.values.schema import DATE, DECIMAL, Schema, decimal_of, json_of
from headrace.values.scope import JsonReader
from headrace.values.sql import Sql, all_of, base64_text, call, case, concat, epoch_days, lit, negated
from headrace.values.value import OpenStruct, TypedValue, Value, present


class JsonWriter:
    """Writes values as JSON; a value that cannot be written is a fault of the current step."""

    no_type: ClassVar[str] = "Java class class {} does not have corresponding schema type."
    """What is said of a value of a Java class that schemaless data cannot have."""

    def __init__(
        self,
        context: CompileContext,
        replace_null: bool = True,
        numeric: bool = False,
        final: bool = True,
        checks_gaps: bool = False,
        requires: bool = True,
    ) -> None:
        """replace_null: defaults are written for nulls; numeric: decimals as numbers; final: no step reads further
        members of JSON texts; checks_gaps: null within a nested value is a fault where a value is required; requires: null
        elsewhere is one.
        """
        self._context, self._replace, self._numeric, self._final = context, replace_null, numeric, final
        self._checks_gaps, self._requires = checks_gaps, requires

    def value(self, value: Value, within: Sql | None = None) -> Sql:
        """JSON text of the payload; NULL where no alternative holds."""
        return case([(a.when, self.typed(a.value, all_of(within, a.when))) for a in value])

    def typed(self, typed: TypedValue, when: Sql | None) -> Sql:
        """JSON text of one alternative, which holds under the condition `when`."""
        if typed.kind == "null":
            if typed.schema is not None and not typed.schema.optional:
                self._required(when)
            return lit("null")
        if typed.schema is not None and typed.is_misnamed:
            return self._misnamed(typed, typed.schema, when)
        opened = typed.opened
        if opened is not None:
            return self.opened(opened, when)
        if typed.schema is None:
            return self._schemaless(typed, when)
        text, schema = self.fragment(typed, typed.sql, when), typed.schema
        null = f"({typed.sql} IS NULL)"
        if schema.default is not None and self._replace:
            return case([(null, lit(json_default(with_numbers(schema) if self._numeric else schema)))], text)
        if not schema.optional:
            self._required(all_of(when, null))
        return call("coalesce", text, lit("null"))

    def _misnamed(self, typed: TypedValue, schema: Schema, when: Sql | None) -> Sql:
        """Null, where Connect fails: it goes by the name of the schema, also for the default that it writes instead of null."""
        present, name = negated(typed.is_null()), (schema.name or "").rpartition(".")[2]
        has_default = schema.default is not None and self._replace
        expected = "BigDecimal" if name == "Decimal" else "Date"
        why = lit(f"Invalid type for {name}, expected {expected} but was class {typed.java}")
        self._context.fail(when if has_default else all_of(when, present), why)
        if not schema.optional:
            self._required(all_of(when, negated(present)))
        return lit("null")

    def _required(self, when: Sql | None) -> None:
        if self._requires:
            self._context.fail(when, lit("Conversion error: null value for field that is required and has no default value"))

    def _schemaless(self, typed: TypedValue, when: Sql | None) -> Sql:
        if typed.kind in ("date", "decimal"):
            self._context.fail(when, lit(self.no_type.format(typed.java)))
            return lit("null")
        return self.fragment(typed, typed.sql, when)

    def fragment(self, typed: TypedValue, sql: Sql, when: Sql | None) -> Sql:
        """JSON text of a value that is not null; NULL for NULL."""
        kind = typed.kind
        if kind in kinds.INTEGERS or kind == "boolean":
            return f"string({sql})"
        if kind in ("float32", "float64"):
            text = f"string({sql})"
            odd = f"(isnan({sql}) OR abs({sql}) = double('Infinity'))"
            return case([(odd, call("concat", lit('"'), text, lit('"')))], text)
        if kind == "string":
            return call("headrace_json_quote", sql)
        if kind == "bytes":
            return base64(sql)
        if kind == "date" and typed.schema:
            return f"string({epoch_days(sql)})" if typed.schema.name == DATE else f"string({sql})"
        if kind == "decimal" and typed.schema:
            return self._decimal(typed.schema, sql, when)
        if kind in kinds.NESTED and typed.schema is not None:
            has_numbers = self._numeric and typed.schema.holds_decimals
            if has_numbers or (typed.has_gaps and self._checks_gaps):
                return self._normal(typed.schema, sql, when, has_numbers)
        return sql

    def _normal(self, schema: Schema, sql: Sql, when: Sql | None, has_numbers: bool) -> Sql:
        """JSON text of a nested value as JsonConverter writes it. has_numbers: instead of the decimals in it."""
        text = (with_numbers(schema) if has_numbers else schema).text()
        mode = ("n" if has_numbers else "c") + ("d" if self._replace else "")
        normal = self._context.scope.bind(call("headrace_json_normal", sql, lit(text), lit(mode)))
        self._context.fail(all_of(when, f"({normal}.error IS NOT NULL)"), f"{normal}.error")
        return f"{normal}.value"

    def _decimal(self, schema: Schema, sql: Sql, when: Sql | None) -> Sql:
        if self._numeric:
            return sql
        if schema.scale_problem:
            java_class = DataError.java_class if schema.parameters else "java.lang.NullPointerException"
            self._context.fail(all_of(when, f"({sql} IS NOT NULL)"), lit(schema.scale_problem), java_class)
            return case([(f"({sql} IS NOT NULL)", lit("null"))])
        unscaled = call("headrace_decimal_bytes", sql, str(schema.scale))
        scale = f"length(regexp_extract({sql}, '[.](.*)', 1))"
        start = f"Decimal value has mismatching scale for given Decimal schema. Schema has scale {schema.scale}, value has scale "
        message = call("concat", lit(start), f"string({scale})", lit("."))
        self._context.fail(all_of(when, f"({sql} IS NOT NULL AND {unscaled} IS NULL)"), message)
        return base64(unscaled)

    def opened(self, opened: OpenStruct, when: Sql | None) -> Sql:
        """A JSON object of the present members; the original text where no member has been read or changed."""
        if opened.untouched is not None and not opened.fields and opened.untouched_when is None:
            return opened.untouched.field("s")
        touched = opened.touched()
        untouched = None
        if opened.untouched is not None:
            untouched = self._untouched(opened.untouched, touched)
        parts: list[Sql] = (
            []
            if untouched is None
            else [untouched if opened.untouched_when is None else case([(opened.untouched_when, untouched)])]
        )
        parts += [self._member(name, value, when) for name, value in touched.items() if value]
        if not parts:
            return lit("{}")
        if all(v and present(v) is None for v in touched.values()) and opened.untouched is None:
            separated: list[Sql] = []
            for part in parts:
                separated += [lit(","), part] if separated else [part]
            return concat(lit("{"), *separated, lit("}"))
        return concat(lit("{"), call("concat_ws", lit(","), *parts), lit("}"))

    def _untouched(self, reader: JsonReader, touched: dict[str, Value]) -> Sql:
        if self._final:
            return reader.field("rest")
        frozen = JsonReader(reader.name, reader.source, reader.mode, reader.function, list(touched))
        for name in touched:
            if name not in reader.names:
                frozen.member(name)
        return f"{frozen.sql()}.rest"

    def _member(self, name: str, value: Value, when: Sql | None) -> Sql:
        return concat(lit(json.dumps(name, ensure_ascii=False) + ":"), self.value(value, when))


def base64(sql: Sql) -> Sql:
    """Bytes as a JSON string."""
    return call("concat", lit('"'), base64_text(sql), lit('"'))


def json_default(schema: Schema) -> str:
    """A schema's default as JSON text."""
    return json_of(schema.default)


def with_numbers(schema: Schema) -> Schema:
    """The schema with the defaults of its Decimals as numbers (`decimal.format=NUMERIC`), which may be base64."""
    if not schema.holds_decimals:
        return schema
    parts = ((name, getattr(schema, name)) for name in ("items", "keys", "values"))
    changes: dict[str, Any] = {name: with_numbers(part) for name, part in parts if part is not None}
    if schema.logical == DECIMAL and isinstance(schema.default, str):
        changes["default"] = decimal_of(schema)
    return schema.same_but(fields={name: with_numbers(part) for name, part in schema.fields.items()}, **changes)


def is_recursive(value: TypedValue) -> bool:
    """Whether its schema, or one of its possible schemas, is recursive."""
    if value.opened is not None:
        return any(is_recursive(a.value) for field in value.opened.fields.values() for a in field)
    return value.schema is not None and value.schema.is_recursive


def schema_text(value: TypedValue, field: str | None = None, numeric: bool = False) -> Sql:
    """The JSON text of the schema of one alternative; numeric: the defaults of its decimals are numbers."""

    def text(schema: Schema) -> str:
        return (with_numbers(schema) if numeric else schema).text(field)

    if value.opened is None or value.opened.schema is None:
        return lit("null" if value.schema is None else text(value.schema))
    schema = value.opened.struct_schema()
    if schema is not None:
        return lit(text(schema))
    head, tail = value.opened.schema.same_but(fields={}).text(field).split('"fields":[]', 1)
    parts = [_field_schema(name, v, numeric) for name, v in value.opened.fields.items()]
    return concat(lit(head + '"fields":['), call("concat_ws", lit(","), *parts), lit("]" + tail))


def _field_schema(name: str, value: Value, numeric: bool) -> Sql:
    return case([(a.when, schema_text(a.value, name, numeric)) for a in value])
