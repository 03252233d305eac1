"""Typed values as text: Java's `toString`, and Connect's `Values.convertToString`."""

from __future__ import annotations

from headrace.values import kinds
from headrace.values.compile_context import CompileContext
from headrace.values.record import open_struct
from headrace.values.sql import Sql, base64_text, call, case, concat, lit
from headrace.values.value import DEFAULT_CAPACITY, TypedValue, Value
from headrace.values.writing import JsonWriter

_DAY = 86_400_000
_JAVA_DATE = "EEE MMM dd HH:mm:ss zzz yyyy"


def date_text(millis: Sql) -> Sql:
    """A java.util.Date as Connect writes it: before 1970-01-02 as time, whole days as date, else as timestamp."""

    def formatted(pattern: str) -> Sql:
        return call("headrace_date_format", millis, lit(pattern))

    return case(
        [
            (f"({millis} < {_DAY}L)", formatted("HH:mm:ss.SSS'Z'")),
            (f"(pmod({millis}, {_DAY}L) = 0L)", formatted("yyyy-MM-dd")),
        ],
        formatted("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'"),
    )


def header_text(context: CompileContext, typed: TypedValue) -> Sql:
    """What SimpleHeaderConverter writes (`Values.convertToString`); NULL for null."""
    if typed.texts is not None:
        return typed.texts[0]
    if typed.kind == "null":
        return "NULL"
    if typed.kind == "bytes":
        return base64_text(typed.sql)
    if typed.kind == "date":
        return date_text(typed.sql)
    if typed.kind not in kinds.NESTED:
        return f"string({typed.sql})"
    json = _json(context, typed)
    schema = typed.schema if typed.opened is None else typed.opened.struct_schema()
    if typed.schema is None:
        return call("headrace_header_text", call("headrace_json_hashed", json))
    if schema is None or schema.is_recursive:
        return call("headrace_header_text", json)
    return call("headrace_header_text_of", json, lit(schema.text()))


def json_text(context: CompileContext, typed: TypedValue) -> Sql:
    """The same, but of a list, map or struct its JSON, with the members in the order in which they are."""
    if typed.kind not in kinds.NESTED:
        return header_text(context, typed)
    return call("headrace_header_text", _json(context, typed))


def _json(context: CompileContext, typed: TypedValue) -> Sql:
    return typed.sql if typed.opened is None else JsonWriter(context, final=False).opened(typed.opened, None)


def java_text(context: CompileContext, typed: TypedValue) -> Sql:
    """Java's `toString`; NULL for null. The caller has refused bytes, whose `toString` is not their content."""
    if typed.texts is not None:
        return typed.texts[1]
    if typed.kind == "null":
        return "NULL"
    if typed.kind == "date":
        return call("headrace_date_format", typed.sql, lit(_JAVA_DATE))
    if typed.kind == "struct":
        return _struct_text(context, typed)
    if typed.kind in ("map", "list"):
        if typed.opened is not None:
            return call("headrace_java_text", _json(context, typed), str(typed.opened.capacity))
        if typed.schema is not None and not typed.schema.is_recursive:
            return call("headrace_java_text_of", typed.sql, lit(typed.schema.text()))
        return call("headrace_java_text", typed.sql, str(DEFAULT_CAPACITY))
    return f"string({typed.sql})"


def _struct_text(context: CompileContext, typed: TypedValue) -> Sql:
    """`Struct{a=1,b=x}`, without the fields that are null."""
    opened = open_struct(context, typed)
    parts = [concat_if(name, value, context) for name, value in opened.fields.items()]
    return concat(lit("Struct{"), call("concat_ws", lit(","), *parts), lit("}"))


def concat_if(name: str, value: Value, context: CompileContext) -> Sql:
    """`name=text`, NULL for null."""
    return call("concat", lit(name + "="), case([(a.when, java_text(context, a.value)) for a in value]))
