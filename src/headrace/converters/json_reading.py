"""JSON bytes to Connect data (`JsonConverter.toConnectData`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headrace.errors import ConnectError
from headrace.values.compile_context import CompileContext
from headrace.values.payload import node_type, payload, struct_fields
from headrace.values.schema import DECIMAL, Schema
from headrace.values.schema_parsing import parse
from headrace.values.scope import JsonReader
from headrace.values.sql import Sql, all_of, call, case, kind_in, lit
from headrace.values.value import NULL, Case, OpenStruct, TypedValue, Value, combined, json_value, only_when

_WHITE_SPACE = " \t\r\n"
_BROKEN = "Converting byte[] to Kafka Connect data failed due to serialization error: "
_NO_ENVELOPE = (
    'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain additional fields. If you are '
    "trying to deserialize plain JSON data, set schemas.enable=false in your converter configuration."
)


def schemaless(context: CompileContext, source: Sql) -> Value:
    """Schemaless data; NULL is null."""
    reader = context.scope.reader(source)
    _check(context, reader)
    return plain(reader)


def envelope(source: Sql, known_texts: Sequence[str]) -> Sql:
    """The parsed envelope: struct<id, payload, schema, error> (`JsonEnvelope`); id: index of a known schema, -1 for another."""
    return call("headrace_json_envelope", source, lit("".join("\0" + text for text in known_texts)))


def enveloped(
    context: CompileContext, source: Sql, schemas: Sequence[str], replace_null: bool, bare: bool, trusted: bool = False
) -> Value:
    """Data with the schema in its envelope, one of `schemas`; bare: there is one schema, and the bytes are its payload.

    trusted: the data was written by JsonConverter; NaN, the infinities and a negative zero are kept.
    """
    source = context.scope.bind(source)
    cases = [Case(f"({source} IS NULL)", NULL)]
    if bare:
        branches = [(f"({source} IS NOT NULL)", source)]
    else:
        opened = context.scope.bind(envelope(source, schemas))
        context.fail(f"({opened}.error <=> 'no envelope')", lit(_NO_ENVELOPE))
        context.fail(f"({opened}.error IS NOT NULL)", lit(_BROKEN), cause=f"{opened}.error")
        context.schema_unknown.append(f"({opened}.id <=> -1)")
        branches = [(f"({opened}.id <=> {i})", f"{opened}.payload") for i in range(len(schemas))]
    for (when, text), schema_text in zip(branches, schemas, strict=True):
        try:
            schema = parse(schema_text)
        except ConnectError as error:
            context.fail(when, lit(str(error)), java_class=error.java_class)
            continue
        column = text if len(branches) == 1 else case([(when, text)])
        with context.where(when):
            cases += only_when(when, _by_schema(context, column, schema, replace_null, bare, trusted))
    return combined(cases)


def _by_schema(
    context: CompileContext, source: Sql, schema: Schema | None, replace_null: bool, bare: bool, trusted: bool
) -> Value:
    signs = "z" if trusted else ""
    if schema is None:
        reader = context.scope.reader(source, signs)
        _check(context, reader)
        return plain(reader)
    parts = (schema, *schema.fields.values())
    digits = ("t" if any(s.logical == DECIMAL for s in parts) else "") + ("f" if any(s.type == "float32" for s in parts) else "")
    mode = digits + ("" if bare else "e") + signs
    reader = context.scope.reader(source, mode)
    if not bare:
        context.fail(f"({reader.field('error')} <=> 'trailing text')", lit(_NO_ENVELOPE))
    _check(context, reader)
    if bare and (schema.logical or schema.type not in ("string", "bytes")):
        blank = f"(trim(BOTH {lit(_WHITE_SPACE)} FROM string({source})) = '')"
        problem = lit(f"Invalid JSON for {schema.type.upper()}, found MISSING")
        context.fail(all_of(kind_in(reader.field("k"), [1]), blank), problem)
    if schema.type != "struct" or schema.logical:
        return payload(context, reader, "", schema, trusted, defaults=replace_null)
    return _struct(context, reader, schema, replace_null, trusted)


def _struct(context: CompileContext, reader: JsonReader, schema: Schema, replace_null: bool, trusted: bool) -> Value:
    k = reader.field("k")
    null, is_object = kind_in(k, [1]), kind_in(k, [7])
    if not schema.optional:
        context.fail(null, lit("Invalid null value for required STRUCT field"))
    wrong = kind_in(k, (2, 3, 4, 5, 6, 8))
    context.fail(wrong, call("concat", lit("Structs should be encoded as JSON objects, but found "), node_type(k)))
    with context.where(is_object):
        fields = struct_fields(context, reader, schema, trusted, defaults=replace_null)
    meta = schema.same_but(fields={})
    struct_case = Case(is_object, TypedValue("struct", schema=meta, opened=OpenStruct(fields, schema=meta)))
    return (struct_case, Case(null, TypedValue("null", schema=schema))) if schema.optional else (struct_case,)


def plain(reader: JsonReader) -> Value:
    """Schemaless data from a reader of JSON."""
    return tuple(
        Case(a.when, replace(a.value, opened=OpenStruct(untouched=reader)) if a.value.kind == "map" else a.value)
        for a in json_value(reader, "")
    )


def _check(context: CompileContext, reader: JsonReader) -> None:
    error = reader.field("error")
    context.fail(f"({error} IS NOT NULL)", lit(_BROKEN), cause=error)
