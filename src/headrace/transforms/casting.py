"""Casts of typed values (Kafka's `Cast.castValueToType`)."""

from __future__ import annotations

import re
import struct
from math import isnan
from typing import Any

from headrace.values import kinds
from headrace.values.compile_context import CompileContext
from headrace.values.java_integers import wrapped
from headrace.values.payload import narrowed
from headrace.values.schema import DATE, DECIMAL, Schema, decimal_of, nearest_float32
from headrace.values.scope import JsonReader
from headrace.values.sql import KINDS, Sql, all_of, base64_text, call, case, epoch_days, kind_in, lit
from headrace.values.text import date_text
from headrace.values.value import NULL, Case, TypedValue, Value, constant

_SUPPORTED = "supported types are [INT8, INT16, INT32, INT64, FLOAT32, FLOAT64, BOOLEAN, STRING, BYTES]"
_FLOAT32_LIMIT = 3.4028235677973366e38
"""From here on a number is no 32-bit float."""
_FROM = {"map": "MAP", "list": "ARRAY", "struct": "STRUCT"}


def cast(context: CompileContext, when: Sql | None, typed: TypedValue, target: str) -> TypedValue:
    """The value cast to a kind, without schema. when: the condition of its records, which fail if it cannot be cast."""
    kind = typed.kind
    if kind == "null":
        return typed
    refusal = _refusal(kind, typed, target)
    if refusal is not None:
        context.fail(_when_not_null(when, typed), lit(refusal))
        return TypedValue(target, _null(target))
    if target == "string":
        return TypedValue(target, _text(typed))
    if target == "boolean":
        return TypedValue(target, _boolean(typed))
    return TypedValue(target, _number(context, when, typed, target))


def json_member(context: CompileContext, reader: JsonReader, name: str, target: str) -> Value:
    """A member of a JSON object cast by one call for all its possible kinds; same result as `cast` of each of them."""
    suffix = reader.member(name)
    k, n, d, s = (f"{reader.name}_{part}{suffix}" for part in "klds")
    arguments = [k, n, d, f"coalesce({s}, '')"]
    if target in kinds.BITS:
        arguments.append(str(kinds.BITS[target]))
    function = {"float64": "double", "float32": "float", "boolean": "boolean", "string": "text"}.get(target, "long")
    result = context.scope.bind(call(f"headrace_json_{function}", *arguments))
    present, absent = kind_in(k, range(2, KINDS)), kind_in(k, (0, 1))
    for number, kind in ((6, "ARRAY"), (7, "MAP")):
        context.fail(kind_in(k, [number]), lit(f"Cast transformation does not support casting from {kind}; {_SUPPORTED}"))
    message = call("concat", lit("Value ("), s, lit(") was out of range for requested data type"))
    cause = call("concat", lit('java.lang.NumberFormatException: For input string: "'), s, lit('"'))
    context.fail(all_of(kind_in(k, [5]), f"({result} IS NULL)"), message, cause=cause)
    return (Case(absent, NULL), Case(present, TypedValue(target, result)))


def with_schema(context: CompileContext, when: Sql | None, typed: TypedValue, target: str) -> TypedValue:
    """The value cast, with a schema: `optional` and the (cast) default are kept; name, version, doc and parameters are not."""
    assert typed.schema is not None
    schema = Schema(target, typed.schema.optional)
    refusal = None if typed.schema.default is None else _refusal(kinds.of_schema(typed.schema), typed, target)
    if refusal is not None:  # Kafka casts the default before it looks at the value
        context.fail(when, lit(refusal))
    elif typed.schema.default is not None:
        try:
            schema = schema.same_but(default=_default(typed.schema, target))
        except ValueError:
            message = f"Value ({typed.schema.default}) was out of range for requested data type"
            context.fail(
                when, lit(message), cause=lit(f'java.lang.NumberFormatException: For input string: "{typed.schema.default}"')
            )
    result = cast(context, when, typed, target)
    return TypedValue(target, result.sql if result.kind != "null" else _null(target), schema)


def _refusal(kind: str, typed: TypedValue, target: str) -> str | None:
    """Why no value of a kind can be cast, neither a record's nor a default; None if it can."""
    if kind in _FROM:
        name = typed.schema.type.upper() if typed.schema else _FROM[kind]
        return f"Cast transformation does not support casting from {name}; {_SUPPORTED}"
    if typed.schema is None and kind == "date":
        return f"Cast transformation was passed a value of type class {typed.java} which is not supported by Connect's data API"
    return "Unexpected type in Cast transformation: class [B" if kind == "bytes" and target != "string" else None


def _when_not_null(when: Sql | None, typed: TypedValue) -> Sql | None:
    return when if typed.schema is None else all_of(when, f"(NOT {typed.is_null()})")


def _null(target: str) -> Sql:
    names = {"float32": "float", "float64": "double", "boolean": "boolean", "string": "string"}
    return f"cast(NULL as {names.get(target, 'bigint')})"


def _text(typed: TypedValue) -> Sql:
    if typed.kind == "date":
        return case([(f"({typed.sql} IS NOT NULL)", date_text(typed.sql))])
    if typed.kind == "bytes":
        return base64_text(typed.sql)
    return typed.sql if typed.kind in ("string", "huge", "decimal") else f"string({typed.sql})"


def _encoded(typed: TypedValue) -> Sql:
    """A date as the integer that encodes it by its schema."""
    days = typed.schema is not None and typed.schema.name == DATE
    return epoch_days(typed.sql) if days else typed.sql


def _boolean(typed: TypedValue) -> Sql:
    if typed.kind == "boolean":
        return typed.sql
    if typed.kind == "string":
        return f"(lower({typed.sql}) = 'true')"
    return f"({_integral(typed, 'int64')} <> 0L)"


def _integral(typed: TypedValue, target: str) -> Sql:
    if typed.kind in kinds.INTEGERS:
        return typed.sql
    if typed.kind == "date":
        return _encoded(typed)
    if typed.kind in ("decimal", "huge"):
        return call("headrace_decimal_long", typed.sql)
    bits = "64" if target == "int64" else "32"
    return call("headrace_double_long", f"double({typed.sql})", bits)


def _number(context: CompileContext, when: Sql | None, typed: TypedValue, target: str) -> Sql:
    is_float = target in ("float32", "float64")
    if typed.kind == "boolean":
        as_number = case([(f"({typed.sql})", "1L"), (f"(NOT {typed.sql})", "0L")])
        return f"{_java(target)}({as_number})" if is_float else as_number
    if typed.kind == "string":
        function = {"float32": "headrace_parse_float", "float64": "headrace_parse_double"}.get(target)
        bits = [] if is_float else [str(kinds.BITS[target])]
        parsed = context.scope.bind(case([(when, call(function or "headrace_parse_long", typed.sql, *bits))]))
        message = call("concat", lit("Value ("), typed.sql, lit(") was out of range for requested data type"))
        cause = call("concat", lit('java.lang.NumberFormatException: For input string: "'), typed.sql, lit('"'))
        context.fail(all_of(when, f"({typed.sql} IS NOT NULL AND {parsed} IS NULL)"), message, cause=cause)
        return parsed
    if is_float:
        number = _encoded(typed) if typed.kind == "date" else typed.sql
        if typed.kind in ("decimal", "huge"):
            return call(f"headrace_parse_{_java(target)}", typed.sql)
        return f"{_java(target)}({number})"
    return narrowed(_integral(typed, target), target)


def _java(target: str) -> str:
    return "float" if target == "float32" else "double"


def _default(schema: Schema, target: str) -> Any:
    """The default of a schema cast to the target type, in its JSON form. Raises ValueError."""
    value, kind = schema.default, kinds.of_schema(schema)
    if target == "string":
        if kind == "date":
            return _evaluated(date_text(constant(schema)))
        if kind in ("bytes", "decimal"):
            return value if kind == "bytes" else _evaluated(constant(schema))
        return _java_text(value)
    if schema.name == DECIMAL:
        number = decimal_of(schema)
        value = float(number) if target in ("float32", "float64") else int(number)
    elif schema.type == "float32":
        value = struct.unpack("f", struct.pack("f", value))[0] if abs(value) < _FLOAT32_LIMIT else value
    if target == "boolean":
        return value.lower() == "true" if isinstance(value, str) else _java_long(value, 64) != 0
    if target in ("float32", "float64"):
        if isinstance(value, str):  # Java's rules for texts, which are not Python's
            value = _evaluated(call("headrace_parse_float" if target == "float32" else "headrace_parse_double", lit(value)))
            if value is None:
                raise ValueError(schema.default)
        return nearest_float32(float(value)) if target == "float32" else float(value)
    bits = kinds.BITS[target]
    number = int(value) if isinstance(value, str) else _java_long(value, bits)
    kept = wrapped(number, bits)
    if isinstance(value, str) and not (re.fullmatch(r"[+-]?\d+", value) and kept == number):
        raise ValueError(value)
    return kept


def _java_long(value: float, bits: int) -> int:
    """The whole part of a number. That of a float is an int64 or, for narrower types, an int32 at most, as in a Java cast."""
    if not isinstance(value, float):
        return int(value)
    most = 2 ** (63 if bits == 64 else 31)
    return 0 if isnan(value) else int(max(float(-most), min(value, float(most)))) - (value >= most)


def _java_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _evaluated(f"string({lit(value)})") if isinstance(value, float) else str(value)


def _evaluated(sql: Sql) -> Any:
    from headrace.values.literal import evaluated

    return evaluated(sql)
