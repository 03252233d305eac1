"""ByteArrayConverter: passes bytes through unchanged."""

from __future__ import annotations

from collections.abc import Sequence

from headrace.config.example import Example
from headrace.converters.base import Converter, ConverterType, HeaderConverter
from headrace.plugins import Kind, plugin
from headrace.values.compile_context import CompileContext
from headrace.values.record import ConnectRecord
from headrace.values.schema import Schema
from headrace.values.sql import Sql, all_of, case, lit
from headrace.values.value import TypedValue, Value, always

NAME = "org.apache.kafka.connect.converters.ByteArrayConverter"


@plugin(NAME, Kind.CONVERTER)
class ByteArrayConverter(Converter):
    """Passes bytes through unchanged; all other values are refused (Kafka's `ByteArrayConverter`)."""

    examples = (Example({}, {"bytes": "0102"}, {"schema": {"type": "bytes", "optional": True}, "payload": "AQI="}),)

    def read(self, context: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """The bytes, with Connect's optional bytes schema."""
        return always(TypedValue("bytes", source, Schema("bytes", optional=True)))

    def write(self, context: CompileContext, value: Value) -> Sql:
        """The bytes; all other values are refused."""
        return written(context, value)


def written(context: CompileContext, value: Value) -> Sql:
    """The bytes; values of other kinds are a fault."""
    branches = []
    for a in value:
        schema, kind = a.value.schema, a.value.kind
        if schema is not None and schema.type != "bytes":
            context.fail(a.when, lit(f"Invalid schema type for ByteArrayConverter: {schema.type.upper()}"))
        elif kind not in ("bytes", "null"):
            not_null = None if schema is None else f"(NOT {a.value.is_null()})"
            why = f"ByteArrayConverter is not compatible with objects of type class {a.value.java}"
            context.fail(all_of(a.when, not_null), lit(why))
        elif kind == "bytes":
            branches.append((a.when, a.value.sql))
    return case(branches, "cast(NULL as binary)")


@plugin(NAME, Kind.HEADER_CONVERTER)
class ByteArrayHeaderConverter(ConverterType, HeaderConverter):
    """Passes header values through unchanged."""

    examples = (Example({}, {"schema": {"type": "bytes"}, "payload": "AQI="}, {"bytes": "0102"}),)

    def write(self, value: Value, record: ConnectRecord, name: str) -> Sql:
        """The bytes; all other values are refused."""
        return written(record.context, value)
