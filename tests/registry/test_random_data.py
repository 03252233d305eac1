"""Random data through the readers and writers in Java: equal to what other libraries read, and the same when written again."""

from __future__ import annotations

import base64
import io
import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import fastavro
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from headrace.avro.from_connect import from_connect
from headrace.avro.mapping import MAP_ENTRY, NAMED, AvroOptions, full_name, resolved_name, union_field
from headrace.avro.to_connect import collect, to_connect
from headrace.avro.writing import writing_plan
from headrace.json_schema import plans as json_plans
from headrace.json_schema import to_connect as json_reading
from headrace.json_schema.mapping import JsonSchemaOptions
from headrace.protobuf import to_connect as protobuf_reading
from headrace.protobuf.mapping import ProtobufOptions
from headrace.protobuf.serialized import as_text
from headrace.protobuf.types import Types
from headrace.protobuf.writing import writing_plan as message_plan
from tests.avro.random_schemas import LOGICAL, PRIMITIVES, avro_schemas

_OPTIONS = AvroOptions(enhanced=True)
_CHARACTERS = st.characters(exclude_categories=("Cs",))
TEXTS = st.one_of(
    st.text(_CHARACTERS, max_size=6),
    st.sampled_from(["", "\0", "\U0001f600\U0010ffff"]),  # two are pairs of surrogates in Java
    st.builds(str.__mul__, _CHARACTERS, st.integers(100, 5000)),
)
_ODD = st.sampled_from([math.nan, math.inf, -math.inf, -0.0])
DOUBLES = st.one_of(st.floats(allow_nan=False), _ODD)
FLOATS = st.one_of(st.integers(-(10**5), 10**5).map(lambda n: n / 4), _ODD)  # whose digits in text are all
DECIMALS = st.integers(-(10**20), 10**20).map(lambda n: n.to_bytes(n.bit_length() // 8 + 1, signed=True))  # without the scale


@pytest.fixture(scope="module")
def java(spark: SparkSession) -> Java:
    return Java(spark)


class Java:
    """The readers and writers of the lanes, called with one value."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        self._io, self._text = context._jvm.io.headrace, context._jvm.org.apache.spark.unsafe.types.UTF8String.fromString

    def avro(self, payload: bytes, plan: Any) -> Any:
        """What the bytes are, as JSON in JsonConverter's form."""
        if plan == {"t": "raw"}:
            return base64.b64encode(payload).decode()
        row = self._io.AvroRead.text(payload, self._text(json.dumps(plan)))
        assert row.isNullAt(1), row.getUTF8String(1).toString()
        return json.loads(row.getUTF8String(0).toString())

    def avro_fields(self, payload: bytes, names: Iterable[str], plan: Any) -> dict[str, Any] | None:
        """The fields of a record, as the lanes read them: in columns. None: null."""
        row = self._io.AvroRead.read(payload, self._text("".join("\0" + name for name in names)), self._text(json.dumps(plan)))
        assert row.isNullAt(0), row.getUTF8String(0).toString()
        if row.getByte(1) == 1:
            return None
        return {name: _column(row, 6 + 4 * place) for place, name in enumerate(names)}

    def payload(self, form: str, payload: bytes, plan: Any) -> Any:
        """The same of Protobuf and JSON, for data that is an object."""
        row = self._io.PayloadRead.read(payload, self._text(""), self._text(json.dumps({"format": form, "plan": plan})))
        assert row.isNullAt(0), row.getUTF8String(0).toString()
        return json.loads(row.getUTF8String(4).toString())

    def written(self, form: str, value: Any, plan: Any) -> bytes:
        """The payload of a value."""
        schemas = [{"schema": "s", "topics": [{"topic": "t", "id": 1, "plan": plan, "prefix": ""}]}]
        known_schemas = json.dumps({"format": form, "schemas": schemas})
        row = self._io.RegistryWrite.write(*map(self._text, (json.dumps(value), "s", "t", known_schemas)))
        assert row.isNullAt(2), row.getUTF8String(2).toString()
        return bytes(row.getBinary(0))[5:]


def _column(row: Any, at: int) -> Any:
    """What four columns of a reader say, as JSON."""
    match row.getByte(at):
        case 1:
            return None
        case 2:
            return row.getLong(at + 1) == 1
        case 3:
            return row.getLong(at + 1)
        case 4:
            return odd(row.getDouble(at + 2))
        case 5:
            return row.getUTF8String(at + 3).toString()
        case 6 | 7:
            return json.loads(row.getUTF8String(at + 3).toString())
        case kind:
            raise AssertionError(f"nothing was read: {kind}")


@dataclass(frozen=True)
class Example:
    """A value of an Avro schema: in Avro's binary form, as fastavro reads it, and in JsonConverter's form."""

    bytes: bytes
    value: Any
    payload: Any


class Examples:
    """Draws data of a schema."""

    def __init__(self, draw: st.DrawFn, schema: Any) -> None:
        self._draw = draw
        self._names: dict[str, tuple[Any, str]] = {}
        collect(schema, "", self._names)

    def of(self, node: Any, space: str = "", depth: int = 4) -> Example:
        """Data of a part of the schema. space: the enclosing namespace; depth: of unions, arrays and maps."""
        node, space = self._resolved(node, space)
        if isinstance(node, list):
            return self._branch(node, space, depth)
        kind = kind_of(node)
        if kind in _VALUES:
            return self._primitive(kind, {} if isinstance(node, str) else node)
        if kind == "enum":
            place = self._draw(st.integers(0, len(node["symbols"]) - 1))
            return Example(zigzag(place), node["symbols"][place], node["symbols"][place])
        if kind == "fixed":
            data = self._draw(st.binary(min_size=node["size"], max_size=node["size"]))
            return Example(data, data, base64.b64encode(data).decode())
        if kind == "record":
            inner = full_name(node, space).rpartition(".")[0]
            members = {field["name"]: self.of(field["type"], inner, depth) for field in node["fields"]}
            return Example(b"".join(member.bytes for member in members.values()),
                           {name: member.value for name, member in members.items()},
                           {name: member.payload for name, member in members.items()})  # fmt: skip
        return self._several(node, space, depth)

    def _resolved(self, node: Any, space: str) -> tuple[Any, str]:
        is_name = isinstance(node, str) and node not in _VALUES
        return self._names[resolved_name(node, space)] if is_name else (node, space)

    def _primitive(self, kind: str, node: Mapping[str, Any]) -> Example:
        strategy = _VALUES[kind]
        if "connect.type" in node:
            strategy = st.integers(-128, 127)
        if node.get("logicalType") == "decimal":
            strategy = DECIMALS
        if node.get("logicalType") == "time-millis":
            strategy = st.integers(0, 86_400_000)
        value: Any = self._draw(strategy)
        payload = base64.b64encode(value).decode() if kind == "bytes" else odd(value) if kind in ("float", "double") else value
        return Example(_BYTES[kind](value), value, payload)

    def _branch(self, branches: list[Any], space: str, depth: int) -> Example:
        place = self._draw(st.integers(0, len(branches) - 1))
        if depth <= 0 and "null" in branches:
            place = branches.index("null")
        if branches[place] == "null":
            return Example(zigzag(place), None, None)
        inner = self.of(branches[place], space, depth - 1)
        payload = inner.payload
        if len(branches) > 2 or "null" not in branches:
            names = {n: self._field(branch, space, n) for n, branch in enumerate(branches) if branch != "null"}
            payload = {name: inner.payload if n == place else None for n, name in names.items()}
        return Example(zigzag(place) + inner.bytes, inner.value, payload)

    def _field(self, branch: Any, space: str, place: int) -> str:
        branch, space = self._resolved(branch, space)
        kind = kind_of(branch)
        return union_field(kind, full_name(branch, space) if kind in NAMED else None, place, _OPTIONS)

    def _several(self, node: Any, space: str, depth: int) -> Example:
        entry = self._resolved(node.get("items"), space)[0]
        count = self._draw(st.integers(0, 2)) if depth > 0 else 0
        keys = sorted({self._draw(TEXTS) for _ in range(count)})
        if node["type"] == "map":
            items = [self.of(node["values"], space, depth - 1) for _ in keys]
            encoded = b"".join(_BYTES["string"](key) + item.bytes for key, item in zip(keys, items, strict=True))
            value, payload = (
                {k: getattr(item, form) for k, item in zip(keys, items, strict=True)} for form in ("value", "payload")
            )
            return Example(blocks(len(keys), encoded), value, payload)
        items = [self.of(node["items"], space, depth - 1) for _ in range(count)]
        payload = [item.payload for item in items]
        if isinstance(entry, dict) and (
            MAP_ENTRY in (entry.get("name", "").rpartition(".")[2], entry.get("connect.internal.type"))
        ):
            payload = [[pair["key"], pair["value"]] for pair in payload]
        return Example(blocks(count, b"".join(item.bytes for item in items)), [item.value for item in items], payload)


def kind_of(node: Any) -> str:
    """The type of a part of a schema."""
    return node if isinstance(node, str) else node["type"]


def zigzag(value: int) -> bytes:
    """A number in Avro's binary form."""
    rest, out = (value << 1) ^ (value >> 63), bytearray()
    while rest & ~0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*out, rest])


def blocks(count: int, encoded: bytes) -> bytes:
    """The items of an array or a map: one block, and the empty one that ends it."""
    return (zigzag(count) + encoded if count else b"") + b"\0"


_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(-(2**31), 2**31 - 1), "long": st.integers(-(2**63), 2**63 - 1), "float": FLOATS, "double": DOUBLES,
    "boolean": st.booleans(), "string": TEXTS, "bytes": st.binary(max_size=5), "null": st.none(),
}  # fmt: skip
_BYTES: dict[str, Callable[[Any], bytes]] = {
    "int": zigzag, "long": zigzag, "float": partial(struct.pack, "<f"), "double": partial(struct.pack, "<d"),
    "boolean": lambda value: bytes([value]), "bytes": lambda value: zigzag(len(value)) + value,
    "string": lambda value: zigzag(len(value.encode())) + value.encode(),
}  # fmt: skip


@st.composite
def schemas_with_data(draw: st.DrawFn) -> tuple[Any, Example]:
    """An Avro schema, and data of it."""
    schema = draw(st.one_of(avro_schemas(), avro_schemas(), st.sampled_from(PRIMITIVES), st.sampled_from(LOGICAL)))
    return schema, Examples(draw, schema).of(schema)


@st.composite
def deep_schemas_with_data(draw: st.DrawFn) -> tuple[Any, Example]:
    """The same, a value within many others."""
    schema: Any = draw(st.sampled_from([*PRIMITIVES, *LOGICAL]))
    for level in range(draw(st.integers(10, 60))):
        kind = draw(st.sampled_from(["array", "map", "record"]))
        if kind == "record":
            schema = {"type": "record", "name": f"Level{level}", "fields": [{"name": "f", "type": ["null", schema]}]}
        else:
            schema = {"type": kind, "items" if kind == "array" else "values": schema}
    return schema, Examples(draw, schema).of(schema, depth=100)


def bare(schema: Any) -> Any:
    """Without logical types, of which fastavro makes objects of Python's."""
    if isinstance(schema, list):
        return [bare(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: bare(value) if key in ("items", "values", "type") else value for key, value in schema.items()}
    result.pop("logicalType", None)
    if "fields" in result:
        result["fields"] = [{**field, "type": bare(field["type"])} for field in schema["fields"]]
    return result


def odd(value: float) -> float | str:
    """A number as JSON has it."""
    return value if math.isfinite(value) else "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


@given(st.one_of(schemas_with_data(), deep_schemas_with_data()))
def test_avro_is_what_fastavro_reads_and_the_same_bytes_again(java: Java, schema_with_data: tuple[Any, Example]) -> None:
    schema, example = schema_with_data
    read = fastavro.schemaless_reader(io.BytesIO(example.bytes), fastavro.parse_schema(bare(schema)), None)
    assert repr(read) == repr(example.value)
    is_raw = schema == "bytes" or (isinstance(schema, dict) and schema["type"] == "bytes")  # a decimal, too: without their length
    data = example.bytes[1:] if is_raw else example.bytes
    reading = to_connect(json.dumps(schema), _OPTIONS)
    assert java.avro(data, reading.plan) == example.payload
    if isinstance(schema, dict) and schema["type"] == "record":
        names, optional = example.payload.keys(), to_connect(json.dumps(["null", schema]), _OPTIONS).plan
        assert java.avro_fields(data, names, reading.plan) == example.payload
        assert java.avro_fields(zigzag(1) + data, names, optional) == example.payload
        assert java.avro_fields(zigzag(0), names, optional) is None
    text = from_connect(reading.schema, _OPTIONS)
    written = java.written("Avro", example.payload, writing_plan(reading.schema, text, _OPTIONS))
    if '"null"]' in json.dumps(schema):  # the branches of this union change their places
        assert java.avro(written, to_connect(text, _OPTIONS).plan) == example.payload
    else:
        assert written == data


_TYPE = descriptor_pb2.FieldDescriptorProto.Type
_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "double": DOUBLES.map(odd), "float": FLOATS.map(odd), "bool": st.booleans(), "string": TEXTS,
    "bytes": st.binary(max_size=5).map(lambda data: base64.b64encode(data).decode()),
    **dict.fromkeys(("int32", "sint32", "sfixed32"), st.integers(-(2**31), 2**31 - 1)),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), st.integers(-(2**63), 2**63 - 1)),
    **dict.fromkeys(("uint32", "fixed32"), st.integers(0, 2**32 - 1)),
    **dict.fromkeys(("uint64", "fixed64"), st.integers(0, 2**63 - 1)),
}  # fmt: skip


class Messages:
    """Draws a Protobuf message and data of it, as `json_format` takes it."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._numbers = iter(range(1, 1000))

    def into(self, message: descriptor_pb2.DescriptorProto, name: str, depth: int = 2) -> dict[str, Any]:
        """Add fields to a message with this full name; returns data."""
        data: dict[str, Any] = {}
        for _ in range(self._draw(st.integers(1, 4))):
            field = message.field.add(name=f"f{next(self._numbers)}", number=len(message.field) + 1, label=1)
            label = self._draw(st.sampled_from(["", "", "optional", "repeated", "map", "oneof"]))
            add = self._map if label == "map" else self._typed
            value = add(message, name, field, depth)
            if label == "repeated":
                field.label, value = field.LABEL_REPEATED, [value] * self._draw(st.integers(0, 3))
            if label == "oneof":
                if not message.oneof_decl:
                    message.oneof_decl.add(name="one")
                field.oneof_index = 0
            field.proto3_optional = label == "optional"  # some libraries write false, too
            if self._draw(st.booleans()):
                data[field.name] = value
        members = [field.name for field in message.field if field.HasField("oneof_index")]
        for name in [name for name in members if name in data][1:]:
            del data[name]
        for field in message.field:
            if field.proto3_optional:
                message.oneof_decl.add(name=f"_{field.name}")
                field.oneof_index = len(message.oneof_decl) - 1
        return data

    def _typed(self, message: descriptor_pb2.DescriptorProto, name: str, field: Any, depth: int) -> Any:
        kinds: list[str] = [*_SCALARS, "enum", *(["message"] * 4 if depth else [])]
        kind = self._draw(st.sampled_from(kinds))
        if kind == "enum":
            enum = message.enum_type.add(name=f"E{next(self._numbers)}")
            enum.value.add(name=f"{enum.name}_A", number=0)
            enum.value.add(name=f"{enum.name}_B", number=5)
            field.type, field.type_name = field.TYPE_ENUM, f".{name}.{enum.name}"
            return enum.value[self._draw(st.integers(0, 1))].name
        if kind == "message":
            inner = message.nested_type.add(name=f"M{next(self._numbers)}")
            field.type, field.type_name = field.TYPE_MESSAGE, f".{name}.{inner.name}"
            return self.into(inner, f"{name}.{inner.name}", depth - 1)
        field.type = _TYPE.Value(f"TYPE_{kind.upper()}")
        return self._draw(_SCALARS[kind])

    def _map(self, message: descriptor_pb2.DescriptorProto, name: str, field: Any, depth: int) -> Any:
        entry = message.nested_type.add(name=f"{field.name.capitalize()}Entry")
        entry.options.map_entry = True
        kind = self._draw(st.sampled_from(["string", "int32", "sint64", "fixed32"]))
        entry.field.add(name="key", number=1, label=1, type=_TYPE.Value(f"TYPE_{kind.upper()}"))
        value = self._typed(message, name, entry.field.add(name="value", number=2, label=1), depth)
        field.label, field.type, field.type_name = field.LABEL_REPEATED, field.TYPE_MESSAGE, f".{name}.{entry.name}"
        return {str(self._draw(_SCALARS[kind])): value for _ in range(self._draw(st.integers(0, 2)))}


@st.composite
def files_with_data(draw: st.DrawFn) -> tuple[descriptor_pb2.FileDescriptorProto, dict[str, Any]]:
    """A file with a Protobuf message, and data of it."""
    file = descriptor_pb2.FileDescriptorProto(name="r.proto", package="shop", syntax="proto3")
    return file, Messages(draw).into(file.message_type.add(name="R"), "shop.R", draw(st.sampled_from([2, 2, 2, 10])))


def normal(message: Any) -> bytes:
    """A message, so that NaN is equal to itself, and -0.0 not to 0.0."""
    return message.SerializeToString(deterministic=True)


@given(files_with_data())
def test_protobuf_is_what_googles_library_reads_and_writes(
    java: Java, example: tuple[descriptor_pb2.FileDescriptorProto, dict[str, Any]]
) -> None:
    file, data = example
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    made = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.R"))
    message = json_format.ParseDict(data, made())
    types = Types(as_text(base64.b64encode(file.SerializeToString()).decode()), {})
    options = ProtobufOptions(optional_nullables=True)
    reading = protobuf_reading.to_connect(types, options)
    assert reading.schema is not None
    result = java.payload("Protobuf", message.SerializeToString(), reading.plan)
    written = java.written("Protobuf", result, message_plan(reading.schema, types, "shop.R", options)[0])
    assert normal(made.FromString(written)) == normal(message)


_LONGS = st.integers(-(2**63), 2**63 - 1)
_CONNECT = "org.apache.kafka.connect.data."
_JSON: list[tuple[Any, st.SearchStrategy[Any]]] = [
    ({"type": "integer"}, _LONGS), ({"type": "number"}, DOUBLES.map(odd)), ({"type": "boolean"}, st.booleans()),
    ({"type": "string"}, TEXTS), ({"enum": ["A", "B"]}, st.sampled_from("AB")),
    *(({"type": "integer", "connect.type": f"int{size}"}, st.integers(-(2 ** (size - 1)), 2 ** (size - 1) - 1))
      for size in (8, 16, 32)),
    ({"type": "number", "connect.type": "float32"}, FLOATS.map(odd)),
    ({"type": "string", "connect.type": "bytes"}, _SCALARS["bytes"]),
    ({"type": "string", "title": _CONNECT + "Decimal", "connect.type": "bytes", "connect.parameters": {"scale": "2"}},
     DECIMALS.map(lambda data: base64.b64encode(data).decode())),
    ({"type": "integer", "title": _CONNECT + "Date", "connect.type": "int32"}, st.integers(-(10**5), 10**5)),
    ({"type": "integer", "title": _CONNECT + "Time", "connect.type": "int32"}, st.integers(0, 86_399_999)),
    ({"type": "integer", "title": _CONNECT + "Timestamp", "connect.type": "int64"}, st.integers(-(10**12), 10**13)),
]  # fmt: skip


@st.composite
def json_schemas_with_data(draw: st.DrawFn, depth: int = 3, nullable: bool = True) -> tuple[Any, Any]:
    """A JSON Schema, and data of it."""
    nested = ["array", "map", "object", *(["optional", "union"] if nullable else [])] if depth else []
    kind = "object" if depth == 3 else draw(st.sampled_from(["flat", "flat", *nested]))
    if kind == "flat":
        schema, values = draw(st.sampled_from(_JSON))
        return schema, draw(values)
    if kind == "union":
        schema = {"oneOf": [{"type": "null"}, {"type": "integer"}, {"type": "string"}]}
        return schema, draw(st.one_of(st.none(), _LONGS, TEXTS))
    if kind == "object":
        members = [draw(json_schemas_with_data(depth - 1)) for _ in range(draw(st.integers(0, 4)))]
        properties = {f"f{place}": schema for place, (schema, _) in enumerate(members)}
        return {"type": "object", "properties": properties}, {f"f{place}": value for place, (_, value) in enumerate(members)}
    schema, value = draw(json_schemas_with_data(depth - 1, kind != "optional"))
    if kind == "optional":
        return {"oneOf": [{"type": "null"}, schema]}, draw(st.sampled_from([None, value]))
    if kind == "array":
        return {"type": "array", "items": schema}, [value] * draw(st.integers(0, 3))
    data = {draw(TEXTS): value for _ in range(draw(st.integers(0, 3)))}
    return {"type": "object", "connect.type": "map", "additionalProperties": schema}, data


@st.composite
def deep_json_schemas_with_data(draw: st.DrawFn) -> tuple[Any, Any]:
    """The same, a value within many others."""
    schema, value = draw(json_schemas_with_data(0))
    for _ in range(draw(st.integers(10, 60))):
        if draw(st.booleans()):
            schema, value = {"type": "array", "items": schema}, [value]
        else:
            schema, value = {"type": "object", "properties": {"f": schema}}, {"f": value}
    return {"type": "object", "properties": {"f": schema}}, {"f": value}


@given(st.one_of(json_schemas_with_data(), deep_json_schemas_with_data()))
def test_json_is_the_same_again(java: Java, example: tuple[Any, Any]) -> None:
    node, data = example
    options = JsonSchemaOptions()
    schema = json_reading.to_connect(json.dumps(node), options, None, {})
    plan = json_plans.plan_of(schema, options)
    result = java.payload("JSON", json.dumps(data).encode(), plan)
    if 'integer"}, {"type": "string' not in json.dumps(node):  # a union is a struct
        assert result == data
    assert json.loads(java.written("JSON", result, plan)) == data
