"""Random data through the readers and writers in Java: equal to what other libraries read, and the same when written again."""

from __future__ import annotations

import base64
import io
import json
import math
from typing import Any

import fastavro
import pytest
from google.protobuf import json_format
from hypothesis import assume, given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from headrace.avro.from_connect import from_connect
from headrace.avro.mapping import AvroOptions
from headrace.avro.to_connect import to_connect
from headrace.avro.writing import writing_plan
from headrace.json_schema import plans as json_plans
from headrace.json_schema import to_connect as json_reading
from headrace.json_schema.mapping import JsonSchemaOptions
from headrace.protobuf import to_connect as protobuf_reading
from headrace.protobuf.mapping import ProtobufOptions
from headrace.protobuf.serialized import as_text
from headrace.protobuf.types import Types
from headrace.protobuf.writing import writing_plan as message_plan
from tests.protobuf.test_data import CLASSES, order_file

_OPTIONS = AvroOptions(enhanced=True)
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
DOUBLES = st.floats(allow_nan=False)
FLOATS = st.one_of(st.integers(-(10**5), 10**5).map(lambda n: n / 4), st.just(math.inf))  # whose digits in text are all


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

    def payload(self, form: str, payload: bytes, plan: Any) -> Any:
        """The same of Protobuf and JSON, for data that is an object."""
        row = self._io.PayloadRead.read(payload, self._text(""), self._text(json.dumps({"format": form, "plan": plan})))
        assert row.isNullAt(0), row.getUTF8String(0).toString()
        return json.loads(row.getUTF8String(4).toString())

    def written(self, form: str, value: Any, plan: Any) -> bytes:
        """The payload of a value."""
        schemas = [{"schema": "s", "topics": [{"topic": "t", "id": 1, "plan": plan, "prefix": ""}]}]
        known = json.dumps({"format": form, "schemas": schemas})
        row = self._io.RegistryWrite.write(*map(self._text, (json.dumps(value), "s", "t", known)))
        assert row.isNullAt(2), row.getUTF8String(2).toString()
        return bytes(row.getBinary(0))[5:]


@st.composite
def schemas_with_data(draw: st.DrawFn, depth: int = 3, names: Any = None) -> tuple[Any, Any]:
    """An Avro schema, and data of it as fastavro takes it."""
    names = iter(range(1000)) if names is None else names
    flat: list[tuple[Any, st.SearchStrategy[Any]]] = [
        ("int", st.integers(-(2**31), 2**31 - 1)), ("long", st.integers(-(2**63), 2**63 - 1)), ("float", FLOATS),
        ("double", DOUBLES), ("boolean", st.booleans()), ("string", TEXTS), ("bytes", st.binary(max_size=5)),
        ({"type": "long", "logicalType": "timestamp-millis"}, st.integers(-(10**12), 10**13)),
        ({"type": "int", "logicalType": "date"}, st.integers(-(10**5), 10**5)),
    ]  # fmt: skip
    nested = ["array", "map", "record", "record", "optional", "union"] if depth else []
    kind = draw(st.sampled_from(["flat", "flat", "flat", "enum", "fixed", *nested]))
    if kind == "flat":
        schema, values = draw(st.sampled_from(flat))
        return schema, draw(values)
    if kind == "enum":
        return {"type": "enum", "name": f"E{next(names)}", "symbols": ["A", "B", "C"]}, draw(st.sampled_from("ABC"))
    if kind == "fixed":
        return {"type": "fixed", "name": f"F{next(names)}", "size": 3}, draw(st.binary(min_size=3, max_size=3))
    if kind == "record":
        members = [draw(schemas_with_data(depth - 1, names)) for _ in range(draw(st.integers(1, 4)))]
        fields = [{"name": f"f{place}", "type": schema} for place, (schema, _) in enumerate(members)]
        schema = {"type": "record", "name": f"R{next(names)}", "fields": fields}
        return schema, {f"f{place}": value for place, (_, value) in enumerate(members)}
    schema, value = draw(schemas_with_data(depth - 1, names))
    if kind in ("optional", "union"):
        assume(not isinstance(schema, list))
        if kind == "optional":
            return ["null", schema], draw(st.sampled_from([None, value]))
        other = "boolean" if schema in ("string", "bytes") else "string"
        assume(schema != other)
        return ["null", schema, other], draw(st.sampled_from([None, value, True if other == "boolean" else "x"]))
    count = draw(st.integers(0, 3))
    if kind == "array":
        return {"type": "array", "items": schema}, [value] * count
    return {"type": "map", "values": schema}, {draw(TEXTS): value for _ in range(count)}


def bare(schema: Any) -> Any:
    """Without logical types, of which fastavro makes objects of Python's."""
    if isinstance(schema, list):
        return [bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: bare(value) if key in ("items", "values", "type") else value for key, value in schema.items()}
    found.pop("logicalType", None)
    if "fields" in found:
        found["fields"] = [{**field, "type": bare(field["type"])} for field in schema["fields"]]
    return found


def payload(schema: Any, value: Any) -> Any:
    """Data that fastavro has read, in JsonConverter's form."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(schema, list):
        if len(schema) == 2:
            return None if value is None else payload(schema[1], value)
        if value is None:
            return None
        place = next(n for n, one in enumerate(schema) if one != "null" and fastavro.validate(value, one, raise_errors=False))
        names = [one if isinstance(one, str) else one.get("name", one["type"]) for one in schema[1:]]
        return {name: payload(schema[place], value) if n == place - 1 else None for n, name in enumerate(names)}
    if isinstance(value, list):
        return [payload(schema["items"], one) for one in value]
    if isinstance(value, dict):
        if schema["type"] == "map":
            return {key: payload(schema["values"], one) for key, one in value.items()}
        return {field["name"]: payload(field["type"], value[field["name"]]) for field in schema["fields"]}
    return value


@given(schemas_with_data())
def test_avro_is_what_fastavro_reads_and_the_same_bytes_again(java: Java, example: tuple[Any, Any]) -> None:
    schema, data = example
    assume(schema != "null")
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(bare(schema)), data)
    bytes_ = out.getvalue()[1 if schema == "bytes" and len(out.getvalue()) < 65 else 0 :]  # bytes alone have no length
    reading = to_connect(json.dumps(schema), _OPTIONS)
    found = java.avro(bytes_, reading.plan)
    if schema != "bytes":
        read = fastavro.schemaless_reader(io.BytesIO(bytes_), fastavro.parse_schema(bare(schema)), None)
        assert found == payload(bare(schema), read)
    text = from_connect(reading.schema, _OPTIONS)
    if found is not None:
        assert java.written("Avro", found, writing_plan(reading.schema, text, _OPTIONS)) == bytes_


_MESSAGE = st.fixed_dictionaries({}, optional={
    "d": DOUBLES.filter(math.isfinite), "f": FLOATS.filter(math.isfinite), "i32": st.integers(-(2**31), 2**31 - 1),
    "i64": st.integers(-(2**63), 2**63 - 1), "u32": st.integers(0, 2**32 - 1), "s32": st.integers(-(2**31), 2**31 - 1),
    "s64": st.integers(-(2**63), 2**63 - 1), "x32": st.integers(0, 2**32 - 1), "y32": st.integers(-(2**31), 2**31 - 1),
    "y64": st.integers(-(2**63), 2**63 - 1), "b": st.booleans(), "s": TEXTS,
    "raw": st.binary(max_size=5).map(lambda b: base64.b64encode(b).decode()), "size": st.sampled_from("SL"),
    "inner": st.fixed_dictionaries({"a": st.integers(-5, 5)}), "many": st.lists(st.integers(-(2**31), 2**31 - 1), max_size=3),
    "texts": st.lists(TEXTS, max_size=3), "inners": st.lists(st.fixed_dictionaries({"a": st.integers(-5, 5)}), max_size=2),
    "cash": st.fixed_dictionaries({"a": st.integers(-5, 5)}), "maybe": st.integers(-5, 5),
    "counts": st.dictionaries(TEXTS, st.integers(-5, 5), max_size=3),
})  # fmt: skip


@given(_MESSAGE)
def test_protobuf_is_what_googles_library_reads_and_writes(java: Java, data: dict[str, Any]) -> None:
    given = json_format.ParseDict(data, CLASSES["shop.Order"]())
    types, options = (
        Types(as_text(base64.b64encode(order_file().SerializeToString()).decode()), {}),
        ProtobufOptions(optional_nullables=True),
    )
    reading = protobuf_reading.to_connect(types, options)
    assert reading.schema is not None
    found = java.payload("Protobuf", given.SerializeToString(), reading.plan)
    again = CLASSES["shop.Order"].FromString(
        java.written("Protobuf", found, message_plan(reading.schema, types, "shop.Order", options)[0])
    )
    assert again == given


_JSON = {"type": "object", "properties": {
    "n": {"type": "integer"}, "x": {"type": "number"}, "b": {"type": "boolean"}, "s": {"type": "string"},
    "list": {"type": "array", "items": {"oneOf": [{"type": "null"}, {"type": "string"}]}},
    "inner": {"type": "object", "properties": {"m": {"type": "object", "connect.type": "map",
                                                     "additionalProperties": {"type": "integer"}}}},
}}  # fmt: skip
_LONGS = st.integers(-(2**63), 2**63 - 1)


@given(st.fixed_dictionaries({
    "n": _LONGS, "x": DOUBLES.filter(math.isfinite), "b": st.booleans(), "s": TEXTS,
    "list": st.lists(st.one_of(st.none(), TEXTS), max_size=3),
    "inner": st.fixed_dictionaries({"m": st.dictionaries(TEXTS, _LONGS, max_size=3)}),
}))  # fmt: skip
def test_json_is_the_same_again(java: Java, data: dict[str, Any]) -> None:
    options = JsonSchemaOptions()
    schema = json_reading.to_connect(json.dumps(_JSON), options, None, {})
    plan = json_plans.plan_of(schema, options)
    found = java.payload("JSON", json.dumps(data).encode(), plan)
    assert found == data
    assert json.loads(java.written("JSON", found, plan)) == data
