"""Typed values from the columns of a reader (`JsonReader`) of data with a schema registry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from headrace.registry.reading import Reading
from headrace.values.payload import payload, struct_fields
from headrace.values.schema import Schema
from headrace.values.scope import JsonReader
from headrace.values.sql import Sql, kind_in
from headrace.values.value import Case, OpenStruct, TypedValue, Value

if TYPE_CHECKING:
    from headrace.converters.registered import RegisteredConverter
    from headrace.values.compile_context import CompileContext


def read_payload(
    converter: RegisteredConverter, context: CompileContext, payload: Sql, reading: Reading, by_field: bool
) -> Value:
    """The value that a payload of Protobuf or JSON encodes, by its reading. by_field: see `read_typed`."""
    assert reading.schema is not None
    plan = json.dumps({"format": converter.format, "plan": reading.plan})
    return read_typed(converter, context, context.scope.reader(payload, plan, "headrace_payload_read"), reading.schema, by_field)


def read_typed(
    converter: RegisteredConverter, context: CompileContext, reader: JsonReader, schema: Schema, by_field: bool
) -> Value:
    """The value that a reader reads by a schema; invalid bytes are a fault. by_field: a struct is read field by field."""
    converter.unread(context, reader.field("error"))
    if schema.type != "struct" or not by_field:
        return payload(context, reader, "", schema, trusted=True, defaults=False)
    fields = struct_fields(context, reader, schema, trusted=True, defaults=False)
    opened = OpenStruct(fields, schema=schema.same_but(fields={}))
    struct_case = Case(kind_in(reader.field("k"), [7]), TypedValue("struct", schema=opened.schema, opened=opened))
    is_null = Case(kind_in(reader.field("k"), [1]), TypedValue("null", schema=schema))
    return (struct_case, is_null) if schema.optional else (struct_case,)
