"""JSON bytes to Connect data (`JsonConverter.toConnectData`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headrace.errors import ConnectError
from headrace.values.compile_context import CompileContext
from headrace.values.payload import node_type, payload, struct_fields
from headrace.values.schema import Schema, parse
from headrace.values.scope import JsonReader
from headrace.values.sql import Sql, call, case, kind_in, lit
from headrace.values.value import NULL, Case, OpenStruct, TypedValue, Value, combined, json_value, only_when

_BROKEN = "Converting byte[] to Kafka Connect data failed due to serialization error: "
_NO_ENVELOPE = (
    'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain additional fields. If you are '
    "trying to deserialize plain JSON data, set schemas.enable=false in your converter configuration."
)


def schemaless(run: CompileContext, source: Sql) -> Value:
    """Data without schema; no bytes are null."""
    reader = run.scope.reader(source)
    _check(run, reader)
    return plain(reader)


def envelope(source: Sql, known: Sequence[str]) -> Sql:
    """The envelope opened: struct<id, payload, schema, error> (`JsonEnvelope`)."""
    return call("headrace_json_envelope", source, lit("".join("\0" + text for text in known)))


def enveloped(
    run: CompileContext, source: Sql, schemas: Sequence[str], replace_null: bool, bare: bool, trusted: bool = False
) -> Value:
    """Data by the schema that comes with it, one of `schemas`; bare: there is one schema, and the bytes are its payload.

    trusted: it was written by JsonConverter, and is read as what it was, also NaN and a negative zero.
    """
    source = run.scope.bind(source)
    cases = [Case(f"({source} IS NULL)", NULL)]
    if bare:
        branches = [(f"({source} IS NOT NULL)", source)]
    else:
        opened = run.scope.bind(envelope(source, schemas))
        run.fail(f"({opened}.error <=> 'no envelope')", lit(_NO_ENVELOPE))
        run.fail(f"({opened}.error IS NOT NULL)", lit(_BROKEN), cause=f"{opened}.error")
        run.unknown.append(f"({opened}.id <=> -1)")
        branches = [(f"({opened}.id <=> {i})", f"{opened}.payload") for i in range(len(schemas))]
    for (when, text), schema_text in zip(branches, schemas, strict=True):
        try:
            schema = parse(schema_text)
        except ConnectError as error:
            run.fail(when, lit(str(error)), java_class=error.java_class)
            continue
        column = text if len(branches) == 1 else case([(when, text)])
        with run.only(when):
            cases += only_when(when, _by_schema(run, column, schema, replace_null, bare, trusted))
    return combined(cases)


def _by_schema(run: CompileContext, source: Sql, schema: Schema | None, replace_null: bool, bare: bool, trusted: bool) -> Value:
    signs = "z" if trusted else ""
    if schema is None:
        reader = run.scope.reader(source, signs)
        _check(run, reader)
        return plain(reader)
    mode = ("t" if _has_decimals(schema) else "") + ("" if bare else "e") + signs
    reader = run.scope.reader(source, mode)
    if not bare:
        run.fail(f"({reader.field('error')} <=> 'trailing text')", lit(_NO_ENVELOPE))
    _check(run, reader)
    if schema.type != "struct":
        return payload(run, reader, "", schema, trusted, defaults=replace_null)
    return _struct(run, reader, schema, replace_null, trusted)


def _struct(run: CompileContext, reader: JsonReader, schema: Schema, replace_null: bool, trusted: bool) -> Value:
    k = reader.field("k")
    null, is_object = kind_in(k, [1]), kind_in(k, [7])
    if not schema.optional:
        run.fail(null, lit("Invalid null value for required STRUCT field"))
    wrong = kind_in(k, (2, 3, 4, 5, 6, 8))
    run.fail(wrong, call("concat", lit("Structs should be encoded as JSON objects, but found "), node_type(k)))
    with run.only(is_object):
        fields = struct_fields(run, reader, schema, trusted, defaults=replace_null)
    meta = schema.same_but(fields={})
    struct_case = Case(is_object, TypedValue("struct", schema=meta, table=OpenStruct(fields, schema=meta)))
    return (struct_case, Case(null, TypedValue("null", schema=schema))) if schema.optional else (struct_case,)


def plain(reader: JsonReader) -> Value:
    """Data without schema, of a reader of JSON."""
    return tuple(
        Case(a.when, replace(a.value, table=OpenStruct(rest=reader)) if a.value.kind == "map" else a.value)
        for a in json_value(reader, "")
    )


def _check(run: CompileContext, reader: JsonReader) -> None:
    error = reader.field("error")
    run.fail(f"({error} IS NOT NULL)", lit(_BROKEN), cause=error)


def _has_decimals(schema: Schema) -> bool:
    return any(s.logical and s.type == "bytes" for s in (schema, *schema.fields.values()))
