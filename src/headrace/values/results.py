"""Results of users' Spark expressions as Connect data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.errors import ConfigError
from headrace.values import kinds
from headrace.values.schema import DATE, DECIMAL, TIMESTAMP, Schema
from headrace.values.sql import Sql, call, case, lit, quoted
from headrace.values.value import NULL, Case, OpenStruct, TypedValue, Value, always, json_value

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from headrace.values.compile_context import CompileContext

_KINDS = {
    "tinyint": "int8", "smallint": "int16", "int": "int32", "bigint": "int64", "float": "float32", "double": "float64",
    "boolean": "boolean", "string": "string", "binary": "bytes",
}  # fmt: skip
_ISO = "yyyy-MM-dd\\'T\\'HH:mm:ss.SSSXXX"


def schemaless(context: CompileContext, type_: DataType, sql: Sql) -> Value:
    """Schemaless data, of the types that JSON has: DECIMAL becomes an integer or a double, dates and times their ISO text.

    Raises ConfigError for a type that has no counterpart in Connect.
    """
    from pyspark.sql.types import (
        ArrayType,
        DateType,
        DecimalType,
        MapType,
        NullType,
        StructType,
        TimestampNTZType,
        TimestampType,
        VariantType,
    )

    if isinstance(type_, NullType):
        return always(NULL)
    if isinstance(type_, VariantType):
        return json(context, f"to_json({sql})")
    null, not_null = Case(f"({sql} IS NULL)", NULL), f"({sql} IS NOT NULL)"
    if isinstance(type_, StructType):
        fields = {f.name: schemaless(context, f.dataType, f"{sql}.{quoted(f.name)}") for f in type_.fields}
        return null, Case(not_null, TypedValue("map", opened=OpenStruct(fields)))
    if isinstance(type_, (ArrayType, MapType)):
        options = "map('ignoreNullFields', 'false')"
        return null, Case(not_null, TypedValue("list" if isinstance(type_, ArrayType) else "map", f"to_json({sql}, {options})"))
    if isinstance(type_, DecimalType) and type_.scale == 0:
        fits = f"({sql} BETWEEN -9223372036854775808BD AND 9223372036854775807BD)"
        large = Case(f"({not_null} AND NOT {fits})", TypedValue("huge", f"string({sql})"))
        return null, Case(f"({not_null} AND {fits})", TypedValue("int64", f"try_cast({sql} as bigint)")), large
    if isinstance(type_, DecimalType):
        return null, Case(not_null, TypedValue("float64", f"double({sql})"))
    if isinstance(type_, (TimestampType, TimestampNTZType)):
        return null, Case(not_null, TypedValue("string", f"date_format({sql}, '{_ISO}')"))
    if isinstance(type_, DateType):
        return null, Case(not_null, TypedValue("string", f"string({sql})"))
    return null, Case(not_null, TypedValue(*_primitive(type_, sql)))


def json(context: CompileContext, text: Sql) -> Value:
    """Schemaless data from a JSON text, NULL for null; text that is not JSON is a fault of the current step."""
    text = context.scope.bind(text)
    reader = context.scope.reader(f"cast({text} as binary)")
    context.fail(f"({reader.field('error')} IS NOT NULL)", lit("The result is not JSON"), cause=reader.field("error"))
    cases = [Case(f"({text} IS NULL)", NULL)]
    for a in json_value(reader, ""):
        cases.append(replace(a, value=replace(a.value, opened=OpenStruct(untouched=reader))) if a.value.kind == "map" else a)
    return tuple(cases)


def with_schema(type_: DataType, sql: Sql, declared: Schema | None = None) -> Value:
    """Data of a Spark type with its optional schema (`schema_of`), or with the schema `declared`, which has to fit the type.

    Raises ConfigError for a type that has no counterpart in Connect.
    """
    from pyspark.sql.types import ArrayType, MapType, StructType

    schema = declared or schema_of(type_)
    kind = kinds.of_schema(schema)
    if isinstance(type_, StructType):
        inner = schema.fields
        fields = {f.name: with_schema(f.dataType, f"{sql}.{quoted(f.name)}", inner[f.name]) for f in type_.fields}
        meta = schema.same_but(fields={})
        struct = TypedValue("struct", schema=meta, opened=OpenStruct(fields, schema=meta))
        return Case(f"({sql} IS NULL)", TypedValue("null", schema=schema)), Case(f"({sql} IS NOT NULL)", struct)
    if isinstance(type_, (ArrayType, MapType)):
        options = "map('ignoreNullFields', 'false')"
        return always(TypedValue(kind, f"to_json({_payload(type_, sql, 0)}, {options})", schema))
    if schema.logical == DATE:
        return always(TypedValue(kind, f"(unix_date({sql}) * 86400000L)", schema))
    if schema.logical == TIMESTAMP:
        return always(TypedValue(kind, f"unix_millis({sql})", schema))
    if schema.logical == DECIMAL:
        return always(TypedValue(kind, f"string({sql})", schema))
    return always(TypedValue(*_primitive(type_, sql), schema))


def schema_of(type_: DataType) -> Schema:
    """The optional schema of a Spark type. Raises ConfigError if Connect has no counterpart of the type."""
    from pyspark.sql.types import ArrayType, DateType, DecimalType, MapType, StructType, TimestampType

    if isinstance(type_, StructType):
        return Schema("struct", optional=True, fields={f.name: schema_of(f.dataType) for f in type_.fields})
    if isinstance(type_, ArrayType):
        return Schema("array", optional=True, items=schema_of(type_.elementType))
    if isinstance(type_, MapType):
        keys = schema_of(type_.keyType).same_but(optional=False)
        if keys.type != "string":
            raise _no_counterpart(type_)
        return Schema("map", optional=True, keys=keys, values=schema_of(type_.valueType))
    if isinstance(type_, DecimalType):
        return Schema("bytes", optional=True, name=DECIMAL, version=1, parameters={"scale": str(type_.scale)})
    if isinstance(type_, DateType):
        return Schema("int32", optional=True, name=DATE, version=1)
    if isinstance(type_, TimestampType):
        return Schema("int64", optional=True, name=TIMESTAMP, version=1)
    return Schema(_kind(type_), optional=True)


def _primitive(type_: DataType, sql: Sql) -> tuple[str, Sql]:
    kind = _kind(type_)
    return kind, f"bigint({sql})" if kind in kinds.INTEGERS else sql


def _kind(type_: DataType) -> str:
    from pyspark.sql.types import StringType

    kind = "string" if isinstance(type_, StringType) else _KINDS.get(type_.simpleString())
    if kind is None:
        raise _no_counterpart(type_)
    return kind


def _no_counterpart(type_: DataType) -> ConfigError:
    return ConfigError(f"It gives {type_.simpleString().upper()}, which has no counterpart in Connect; cast it to another type")


def _payload(type_: DataType, sql: Sql, depth: int) -> Sql:
    """A value of the type, converted so that `to_json` writes it as JsonConverter writes its payload."""
    from pyspark.sql.types import ArrayType, BinaryType, DateType, DecimalType, MapType, StructType, TimestampType

    item = f"x{depth}"
    if isinstance(type_, ArrayType):
        return f"transform({sql}, {item} -> {_payload(type_.elementType, item, depth + 1)})"
    if isinstance(type_, MapType):
        return f"transform_values({sql}, (y{depth}, {item}) -> {_payload(type_.valueType, item, depth + 1)})"
    if isinstance(type_, StructType):
        fields = [x for f in type_.fields for x in (lit(f.name), _payload(f.dataType, f"{sql}.{quoted(f.name)}", depth))]
        return case([(f"({sql} IS NOT NULL)", call("named_struct", *fields))])
    if isinstance(type_, DecimalType):
        return _payload(BinaryType(), f"headrace_decimal_bytes(string({sql}), {type_.scale})", depth)
    if isinstance(type_, BinaryType):
        return f"translate(base64({sql}), '\\r\\n', '')"
    if isinstance(type_, DateType):
        return f"unix_date({sql})"
    return f"unix_millis({sql})" if isinstance(type_, TimestampType) else sql
