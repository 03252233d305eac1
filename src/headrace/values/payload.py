"""JSON payloads to typed values by a schema (`JsonConverter.convertToConnect`)."""

from __future__ import annotations

from headrace.values import kinds
from headrace.values.compile_context import CompileContext
from headrace.values.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema
from headrace.values.scope import JsonReader
from headrace.values.sql import Sql, all_of, call, case, kind_in, lit
from headrace.values.value import Case, TypedValue, Value, always, constant

_DAY = 86_400_000


def node_type(k: Sql) -> Sql:
    """Jackson's name of a JSON value's type, for messages; k: its kind."""
    return f"element_at(array('NULL', 'BOOLEAN', 'NUMBER', 'NUMBER', 'STRING', 'ARRAY', 'OBJECT', 'NUMBER'), int({k}))"


def struct_fields(
    context: CompileContext, reader: JsonReader, schema: Schema, trusted: bool, defaults: bool = True
) -> dict[str, Value]:
    """The fields of a struct that a reader reads.

    trusted: the payload has been normalized before, so it is not checked; defaults: nulls become the field's default.
    """
    fields = {}
    for name, inner in schema.members.items():
        fields[name] = payload(context, reader, reader.member(name), inner, trusted, defaults, name)
    return fields


def payload(
    context: CompileContext,
    reader: JsonReader,
    suffix: str,
    schema: Schema,
    trusted: bool,
    defaults: bool,
    name: str | None = None,
) -> Value:
    """The value in the columns with this suffix, by its schema; faults are reported to the current step.

    name: of the field; None: it is no struct's field, so Connect does not check it when it is read.
    """
    k, n, d, s = (f"{reader.name}_{part}{suffix}" for part in "klds")
    null = kind_in(k, (0, 1)) or "true"
    default = schema.default is not None and defaults
    if not (trusted or default or schema.optional):
        context.fail(null, lit(f"Invalid null value for required {schema.type.upper()} field"))
    kind = kinds.of_schema(schema)
    if kind in kinds.NESTED:
        return _nested(context, (k, s), null, schema, trusted, defaults)
    number, fraction = _is(k, 3, 4, 8), _float32(reader, (k, n, d, s)) if schema.type == "float32" else d
    sql = (
        _logical(context, (k, n, s), null, schema, trusted)
        if schema.logical
        else _primitive(context, (k, n, fraction, s, number), schema, trusted, name)
    )
    sql = case([(null, constant(schema) if default else "NULL")], sql)
    return always(TypedValue(kind, sql, schema))


def _float32(reader: JsonReader, columns: tuple[Sql, Sql, Sql, Sql]) -> Sql:
    """A number as a float that is rounded once, not twice by way of a double: the reader gives digits where it matters."""
    k, n, d, s = columns
    digits = reader.function == "headrace_json_read" and "f" in reader.mode
    other = call("coalesce", call("headrace_parse_float", s), f"float({d})") if digits else f"float({d})"
    return case([(_is(k, 3), f"float({n})")], other)


def _primitive(
    context: CompileContext, columns: tuple[Sql, Sql, Sql, Sql, Sql], schema: Schema, trusted: bool, name: str | None
) -> Sql:
    k, n, d, s, number = columns
    if schema.type in kinds.BITS:
        return case([(number, narrowed(n, schema.type))], "0L")
    if schema.type in ("float32", "float64"):
        cast = "double" if schema.type == "float64" else "float"
        # NaN and the infinities are texts in JSON; Connect's JsonConverter reads any text as 0
        texts = [(_is(k, 5), f"try_cast({s} as {cast})")] if trusted else []
        return case([(number, d), *texts], f"{cast}(0)")
    if schema.type == "boolean":
        return f"({_is(k, 2)} AND {n} = 1L)"
    text, not_text = _is(k, 5), _is(k, 2, 3, 4, 6, 7, 8)
    if not (schema.optional or trusted) and (name is not None or schema.default is not None):
        why = f'Invalid value: null used for required field: "{name or "null"}", schema type: {schema.type.upper()}'
        context.fail(not_text, lit(why))
    if schema.type == "string":
        return case([(text, s)])
    decoded = call("headrace_base64", s)
    if not trusted:
        context.fail(f"({text} AND {decoded} IS NULL)", lit("Invalid bytes field"), cause=lit(_BASE64))
    return case([(text, decoded)])


_BASE64 = (
    "com.fasterxml.jackson.databind.exc.InvalidFormatException: Cannot access contents of TextNode as binary due to broken Base64"
)


def _logical(context: CompileContext, columns: tuple[Sql, Sql, Sql], null: Sql, schema: Schema, trusted: bool) -> Sql:
    k, n, s = columns
    node = node_type(k)
    if schema.logical == DECIMAL:
        if not trusted:
            why = lit("Invalid type for Decimal, underlying representation should be numeric or bytes but was ")
            context.fail(_is(k, 2, 6, 7), call("concat", why, node))
            wrong = lit("Invalid bytes for Decimal field")
            context.fail(f"({_is(k, 5)} AND headrace_base64({s}) IS NULL)", wrong, cause=lit(_BASE64))
            no_number = None if schema.scale_problem else f"(length(headrace_base64({s})) = 0)"
            context.fail(all_of(_is(k, 5), no_number), wrong)
        return case([(_is(k, 5), call("headrace_decimal_read", f"headrace_base64({s})", str(schema.scale)))], s)
    name = schema.name.rpartition(".")[2] if schema.name else ""
    # Kafka goes by the name alone, whatever the type
    fits = _is(k, 3, 8) if schema.logical == TIMESTAMP else f"({_is(k, 3)} AND {n} BETWEEN -2147483648L AND 2147483647L)"
    if not trusted:
        kind = "integral" if schema.logical == TIMESTAMP else "integer"
        why = lit(f"Invalid type for {name}, underlying representation should be {kind} but was ")
        context.fail(f"(NOT {null} AND NOT {fits})", call("concat", why, node))
    if schema.logical == TIME and not trusted:
        context.fail(
            f"({fits} AND NOT {n} BETWEEN 0L AND 86400000L)",
            lit("Time values must use number of milliseconds greater than 0 and less than 86400000"),
        )
    return case([(fits, f"({n} * {_DAY}L)" if schema.logical == DATE else n)])


def _nested(context: CompileContext, columns: tuple[Sql, Sql], null: Sql, schema: Schema, trusted: bool, defaults: bool) -> Value:
    k, s = columns
    kind = kinds.of_schema(schema)
    if trusted:
        raw = s
    else:
        strings = schema.keys is not None and schema.keys.type == "string"
        expected_kind = {"array": 6, "struct": 7, "map": 7 if strings else 6}[schema.type]
        message = {
            "array": "Invalid JSON for ARRAY, found ",
            "struct": "Structs should be encoded as JSON objects, but found ",
            "map": "Maps with string fields should be encoded as JSON objects, but found "
            if strings
            else "Maps with non-string fields should be encoded as JSON array of tuples, but found ",
        }[schema.type]
        context.fail(f"({k} > 1Y AND {k} <> {expected_kind}Y)", call("concat", lit(message), node_type(k)))
        mode = "d" if defaults else ""
        normal = context.scope.bind(
            case([(_is(k, expected_kind), call("headrace_json_normal", s, lit(schema.text()), lit(mode)))])
        )
        context.fail(f"({normal}.error IS NOT NULL)", f"{normal}.error")
        raw = f"{normal}.value"
    present = TypedValue(kind, case([(f"(NOT {null})", raw)]), schema)
    if schema.default is not None and defaults:
        present = TypedValue(kind, call("coalesce", present.sql, constant(schema)), schema)
    if kind != "struct":
        return always(present)
    if not schema.optional:
        return always(TypedValue(kind, raw, schema))
    return (Case(null, TypedValue("null", schema=schema)), Case(f"(NOT {null})", TypedValue(kind, raw, schema)))


def _is(k: Sql, *numbers: int) -> Sql:
    return kind_in(k, numbers) or "true"


def narrowed(number: Sql, kind: str) -> Sql:
    """A bigint cut to the kind's width, as a Java cast does."""
    bits = 64 - kinds.BITS[kind]
    return f"shiftright(shiftleft({number}, {bits}), {bits})" if bits else number
