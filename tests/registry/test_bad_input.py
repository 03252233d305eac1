"""What is wrong with data, schemas or the registry is one sentence, in each of the three formats."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from pyspark.sql import SparkSession

from headrace.converters.base import load
from headrace.errors import DataError, RetriableError
from headrace.registry.errors import RegistryError
from headrace.testing.registry import SchemaRegistry
from headrace.values.compile_context import CompileContext
from headrace.values.schema import DECIMAL, Schema
from headrace.values.scope import Scope
from headrace.values.value import Case, TypedValue
from tests.avro.chains import AVRO, props, through
from tests.transforms.chains import JSON, Failed, Record

PROTOBUF = "io.confluent.connect.protobuf.ProtobufConverter"
JSON_SCHEMA = "io.confluent.connect.json.JsonSchemaConverter"


@dataclass(frozen=True)
class Format:
    """One format with a schema of a record `{"a": text}`, and a payload of it."""

    converter: str
    type: str
    schema: Any
    payload: bytes

    def __str__(self) -> str:
        return self.type


FORMATS = [
    Format(AVRO, "AVRO", {"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}]}, b"\x0ahello"),
    Format(PROTOBUF, "PROTOBUF", 'syntax = "proto3"; message R { string a = 1; }', b"\0\x0a\x05hello"),
    Format(JSON_SCHEMA, "JSON", {"type": "object", "title": "R", "properties": {"a": {"type": "string"}}}, b'{"a":"hello"}'),
]
each = pytest.mark.parametrize("form", FORMATS, ids=str)


@each
def test_data_that_cannot_be_read_fails_alone_and_says_why(spark: SparkSession, registry: SchemaRegistry, form: Format) -> None:
    id = registry.register("orders-value", form.schema, form.type).to_bytes(4)
    other = registry.register("other", *(('"int"', "AVRO") if form.type != "AVRO" else ('{"type":"object"}', "JSON"))).to_bytes(4)
    bad = {
        b"\0\0\0\x03\xe7" + form.payload: "Schema 999 not found",
        b"\0" + other + form.payload: f"not {form.type}",
        b"\0\x80\0\0\1" + form.payload: "Schema -2147483647 not found",  # an id is Java's int
        b"\0\xff\xff\xff\xff" + form.payload: "Schema -1 not found",
        b"no schema": "Unknown magic byte! The data begins with 0x6e instead of 0x00",
        b"": "The data has 0 bytes: that is too short for the id of a schema",
        b"\0" + bytes(8) + form.payload: "The id of the schema is 0: it may have eight bytes, as Apicurio's",
        b"\0\0": "The data has 2 bytes: that is too short for the id of a schema",
        b"\0" + id + form.payload[:-2]: "it is no JSON" if form.type == "JSON" else "the data ends before the record does",
    }
    good = Record(b"\0" + id + form.payload)
    guid = UUID(registry.store.schemas[int.from_bytes(id)].guid).bytes
    by_guid = Record(b"\1" + guid + form.payload)
    first, *outcomes, last = through(spark, props(registry, form.converter), [good, *map(Record, bad), by_guid])
    for failed, why in zip(outcomes, bad.values(), strict=True):
        assert isinstance(failed, Failed), failed
        assert failed.step == "input.value"
        assert why in (failed.cause or "")
        assert "\n" not in (failed.cause or "")
    assert isinstance(first, Record), first
    assert first.value == last.value
    assert b"hello" in (first.value or b"")


def test_ids_in_apicurios_headers_are_said_not_to_be_read(spark: SparkSession, registry: SchemaRegistry) -> None:
    header = ("apicurio.value.globalId", bytes(8))
    looks_like_an_id = b"\0" + registry.register("orders-value", '"int"').to_bytes(4) + b"\2"
    data = [FORMATS[0].payload, looks_like_an_id]
    for failed in through(spark, props(registry), [Record(value, headers=[header]) for value in data]):
        assert isinstance(failed, Failed), failed
        assert "The id of the schema is in a header apicurio.…, which is not read." in (failed.cause or "")
    others = [("apicurio.key.globalId", bytes(8)), ("apicurio.value.encoding", b"BINARY")]
    [read] = through(spark, props(registry), [Record(looks_like_an_id, headers=others)])
    assert isinstance(read, Record), read
    assert (read.value or b"")[5:] == b"\2"


AVRO_RECORD = {"type": "record", "name": "R"}
JSON_OBJECT = {"type": "object", "title": "R"}
DECIMAL_FIELD = """syntax = "proto3"; import "confluent/meta.proto"; import "confluent/type/decimal.proto";
message R { confluent.type.Decimal d = 1 [(confluent.field_meta) = { params: [{ key: "scale", value: "--2" }] }]; }"""
ODD_SCHEMAS: dict[str, tuple[Format, Any, str]] = {
    "default of bytes": (FORMATS[0], AVRO_RECORD | {"fields": [{"name": "b", "type": "bytes", "default": "\u0100"}]}, "latin-1"),
    "default of a record": (FORMATS[0], AVRO_RECORD | {"fields": [
        {"name": "r", "type": {"type": "record", "name": "In", "fields": [{"name": "a", "type": "int"}]}, "default": []}]},
                            "'list' object"),
    "default of a number": (FORMATS[0], AVRO_RECORD | {"fields": [{"name": "i", "type": "int", "default": "x"}]},
                            "Invalid default value 'x' for type INT32"),
    "parameters": (FORMATS[0], {"type": "int", "connect.parameters": "x"}, "ValueError"),
    "a parameter": (FORMATS[0], {"type": "int", "connect.parameters": {"x": 1}}, "The parameter x"),
    "version": (FORMATS[0], {"type": "int", "connect.version": "x"}, "The version of a schema of type INT32 is 'x', not int"),
    "entries of a map": (FORMATS[2], JSON_OBJECT | {"properties": {"m": {
        "type": "array", "connect.type": "map", "items": {"type": "object", "properties": {"value": {"type": "string"}}}}}},
                         "one has no key"),
    "a place in a list": (FORMATS[2], JSON_OBJECT | {"oneOf": [{"$ref": "#/oneOf/5"}, {"type": "string"}]}, "#/oneOf/5"),
    "index": (FORMATS[2], JSON_OBJECT | {"properties": {
        "a": {"type": "string", "connect.index": "x"}, "b": {"type": "string", "connect.index": 1}}}, "connect.index"),
    "no type": (FORMATS[2], JSON_OBJECT | {"properties": {"a": {"type": []}}}, "type"),
    "scale": (FORMATS[1], DECIMAL_FIELD, "--2"),
}  # fmt: skip


def test_a_schema_that_makes_no_sense_fails_its_records_alone(spark: SparkSession, registry: SchemaRegistry) -> None:
    for form in FORMATS:
        good = registry.register(f"good-{form.type}-value", form.schema, form.type)
        odd = {name: (registry.register(f"{name}-value", node, form.type), why)
               for name, (of_form, node, why) in ODD_SCHEMAS.items() if of_form is form}  # fmt: skip
        ids = [good, *(id for id, _ in odd.values()), good]
        to = {"value.converter": JSON, "value.converter.schemas.enable": "false"}
        first, *outcomes, last = through(
            spark, props(registry, form.converter), [Record(b"\0" + id.to_bytes(4) + form.payload) for id in ids], to
        )
        assert isinstance(first, Record), first
        assert first == last
        for failed, (id, why) in zip(outcomes, odd.values(), strict=True):
            assert isinstance(failed, Failed), failed
            assert failed.step == "input.value"
            assert why in (failed.cause or "")
            assert f"schema with the id {id} cannot be used: " in (failed.cause or "")
            assert "\n" not in (failed.cause or "")


@each
def test_schemas_that_the_registry_refuses_fail_their_records_alone(
    spark: SparkSession, registry: SchemaRegistry, form: Format
) -> None:
    registry.register("taken-value", *(('"int"', "AVRO") if form.type != "AVRO" else ('{"type":"object"}', "JSON")))
    registry.store.set_mode("closed-value", "READONLY")
    struct = {"type": "struct", "name": "R", "fields": [{"type": "string", "field": "a"}]}
    value = json.dumps({"schema": struct, "payload": {"a": "hello"}}).encode()
    to = props(registry, form.converter)
    records = [Record(value, topic=topic) for topic in ("taken", "closed", "open")]
    taken, closed, written = through(spark, {**to, "value.converter": JSON}, records, to)
    for failed, why in ((taken, "incompatible with an earlier schema"), (closed, "Subject closed-value is in read-only mode")):
        assert isinstance(failed, Failed), failed
        assert (failed.step, why in (failed.cause or "")) == ("output.value", True)
    assert isinstance(written, Record), written
    assert sorted(registry.store.subjects) == ["open-value", "taken-value"]


REQUEST = json.dumps({"topic": "orders", "schema": '{"type":"struct","name":"R","fields":[{"type":"string","field":"a"}]}'})


@each
def test_a_schema_of_connect_that_makes_no_sense_is_an_error_of_the_data(registry: SchemaRegistry, form: Format) -> None:
    converter: Any = load(form.converter, {"schema.registry.url": registry.url}, is_key=False)
    decimal = Schema("bytes", name=DECIMAL, parameters={"scale": "--2"})
    whole = Schema("struct", name="R", fields={"d": decimal})
    value = (Case(None, TypedValue("struct", schema=whole)),)
    with pytest.raises(DataError, match=f"(?i)The schema of the data cannot be written as {form.type}: "):
        converter.learn_value(value, "orders")


def test_a_schema_of_a_serde_that_makes_no_sense_is_said_in_a_sentence() -> None:
    converter: Any = load(AVRO, {"schema.registry.url": "http://localhost:1"}, is_key=False)
    with pytest.raises(DataError, match="The Avro schema of the serde cannot be used: ValueError"):
        converter.schema_of('{"type": "int", "connect.parameters": "x"}', "")


@each
def test_a_registry_that_is_away_is_waited_for(registry: SchemaRegistry, form: Format) -> None:
    converter: Any = load(form.converter, {"schema.registry.url": registry.url, "max.retries": "0"}, is_key=False)
    id = str(registry.register("given", form.schema, form.type))
    registry.stop()
    for ask in (lambda: converter.learn([REQUEST]), lambda: converter.look_up([id])):
        with pytest.raises(RetriableError, match="The schema registry does not answer"):
            ask()
    registry.start()
    converter.learn([REQUEST])
    converter.look_up([id])
    assert [version.number for version in registry.store.subjects["orders-value"]] == [1]


def compiled(converter: Any, texts: list[str]) -> None:
    context = CompileContext(Scope())
    with context.step("read"):
        converter.read(context, "in_value", texts)


@each
def test_a_schema_that_cannot_be_read_is_asked_for_once(registry: SchemaRegistry, form: Format) -> None:
    converter: Any = load(form.converter, {"schema.registry.url": registry.url, "max.retries": "0"}, is_key=False)
    registry.store.first_id = 7
    known, other = registry.register("given", form.schema, form.type), registry.register("other", '"int"', "AVRO")
    assert known == 7
    texts = [str(id) for id in (known, 999, *([other] if form.type != "AVRO" else []))]
    converter.look_up(texts, "orders")
    asked = list(registry.requests)
    registry.stop()
    compiled(converter, texts)  # as where a plan that was dropped is made again: it needs no registry
    assert registry.requests == asked


@each
def test_a_login_that_is_refused_ends_the_task(form: Format) -> None:
    with SchemaRegistry(user=("anna", "secret")) as registry:
        login = {"basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": "anna:wrong"}
        converter: Any = load(form.converter, {"schema.registry.url": registry.url, "max.retries": "0", **login}, is_key=False)
        for ask in (lambda: converter.learn([REQUEST]), lambda: converter.look_up(["1"]), lambda: compiled(converter, ["1"])):
            with pytest.raises(RegistryError, match=r"401.*Unauthorized; check basic.auth.credentials.source") as raised:
                ask()
            assert "wrong" not in str(raised.value)
