"""What each type of Connect is in the three formats with a registry: made by the converters themselves."""

from __future__ import annotations

import json
import re

from headrace.converters.avro import AvroConverter
from headrace.converters.json_schema import JsonSchemaConverter
from headrace.converters.protobuf import ProtobufConverter
from headrace.values.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema

_INNER = Schema("struct", name="shop.Inner", fields={"a": Schema("int32")})
TYPES: dict[str, Schema] = {
    **{kind.upper(): Schema(kind) for kind in (
        "int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string", "bytes")},
    "STRING, optional": Schema("string", optional=True),
    "INT32, optional, with a default": Schema("int32", optional=True, default=5),
    "Decimal": Schema("bytes", name=DECIMAL, version=1, parameters={"scale": "2"}),
    "Decimal with a precision": Schema(
        "bytes", name=DECIMAL, version=1, parameters={"scale": "2", "connect.decimal.precision": "9"}),
    "Date": Schema("int32", name=DATE, version=1),
    "Time": Schema("int32", name=TIME, version=1),
    "Timestamp": Schema("int64", name=TIMESTAMP, version=1),
    "ARRAY of INT64": Schema("array", items=Schema("int64")),
    "MAP of STRING to INT64": Schema("map", keys=Schema("string"), values=Schema("int64")),
    "MAP of INT32 to STRING": Schema("map", keys=Schema("int32"), values=Schema("string")),
    "STRUCT": _INNER,
    "STRUCT, optional": _INNER.same_but(optional=True),
    "ARRAY of STRUCT": Schema("array", items=_INNER),
}  # fmt: skip
"""Every type of Connect, and those that are nested, by what they are called in the docs."""

_TEXT = (
    "What the converters make of a field `x` of each type, with their default options; it is read back as the same type. What "
    "else can be read is in [Avro, Protobuf and JSON Schema](formats.md)."
)


def record_of(schema: Schema) -> Schema:
    """A struct with a field `x` of this type."""
    return Schema("struct", name="shop.Record", fields={"x": schema})


def types_page(notice: str) -> str:
    """The page of docs, with a line for each type."""
    rows = [f"| {label} | {_avro(schema)} | {_json_schema(schema)} | {_protobuf(schema)} |" for label, schema in TYPES.items()]
    head = "| Connect | Avro | JSON Schema | Protobuf |\n|---|---|---|---|\n"
    return f"# Types of Connect in Avro, JSON Schema and Protobuf\n\n{notice}\n{_TEXT}\n\n{head}" + "\n".join(rows) + "\n"


_PROPS = {"schema.registry.url": "http://localhost"}


def _avro(schema: Schema) -> str:
    text, _ = AvroConverter(_PROPS, is_key=False).described(record_of(schema))
    return _code(json.dumps(json.loads(text)["fields"][0]["type"]))


def _json_schema(schema: Schema) -> str:
    text, _ = JsonSchemaConverter(_PROPS, is_key=False).described(record_of(schema))
    node = json.loads(text)["properties"]["x"]
    node.pop("connect.index")
    return _code(json.dumps(node))


def _protobuf(schema: Schema) -> str:
    text, _ = ProtobufConverter(_PROPS, is_key=False).described(record_of(schema))
    inside = text.partition("message Record {")[2].rpartition("}")[0]
    return _code(re.sub(r"\s+", " ", inside).strip())


def _code(text: str) -> str:
    return f"`{text}`"
