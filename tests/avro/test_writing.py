"""Avro that is written as the payload's JSON is parsed: in the schema's order, whatever order the payload has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace.testing.registry import SchemaRegistry
from tests.avro.chains import props, through
from tests.avro.test_data import deserialized, serialized
from tests.transforms.chains import JSON, Record

STRING = "org.apache.kafka.connect.storage.StringConverter"


def record(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": t} for n, t in fields.items()]}


def test_fields_are_written_in_the_order_of_the_newest_schema(spark: SparkSession, registry: SchemaRegistry) -> None:
    middle = {"name": "middle", "type": ["null", "long"], "default": None}
    newest = record("R", inner=record("In", y="string", x="int"), b="string", a="int")
    newest["fields"].insert(1, middle)
    registry.register("orders-value", newest)
    inner = {"type": "struct", "name": "In", "field": "inner",
             "fields": [{"type": "int32", "field": "x"}, {"type": "string", "field": "y"}]}  # fmt: skip
    fields = [{"type": "int32", "field": "a"}, {"type": "string", "field": "b"}, inner]
    payload = {"a": -1, "b": "later é🎈", "inner": {"x": 7, "y": "x" * 300 + "ß"}}
    value = json.dumps({"schema": {"type": "struct", "name": "R", "fields": fields}, "payload": payload}).encode()
    config = props(registry, auto_register_schemas="false", use_latest_version="true", latest_compatibility_strict="false")
    [result] = through(spark, {**config, "value.converter": JSON}, [Record(value)], config)
    assert isinstance(result, Record), result
    assert deserialized(registry, result.value) == payload | {"middle": None}


def test_the_branches_of_a_union_are_those_of_the_newest_schema(spark: SparkSession, registry: SchemaRegistry) -> None:
    registry.store.levels[None] = "NONE"
    old, newest = (record("R", u=branches) for branches in (["string", "long", "null"], ["null", "long", "string"]))
    data = [{"u": value} for value in ("é", 5, None)]
    records = [Record(serialized(registry, old, one)) for one in data]
    registry.register("orders-value", newest)
    config = props(registry, auto_register_schemas="false", use_latest_version="true", latest_compatibility_strict="false")
    outcomes = through(spark, config, records, config)
    assert [deserialized(registry, outcome.value) for outcome in outcomes] == data
    ids = {(outcome.value or b"")[:5] for outcome in (*outcomes, *records)}
    assert len(ids) == 2


def test_arrays_and_maps_of_any_size_are_written(spark: SparkSession, registry: SchemaRegistry) -> None:
    schema = record("R", list={"type": "array", "items": "long"}, map={"type": "map", "values": "string"})
    data = [{"list": [*range(n)], "map": {f"k{i}": "é" * (i % 3) for i in range(n)}} for n in (0, 1, 63, 64, 8191, 8192)]
    outcomes = through(spark, props(registry), [Record(serialized(registry, schema, one)) for one in data])
    assert [deserialized(registry, outcome.value) for outcome in outcomes] == data


def test_bytes_that_are_no_utf_8_become_the_replacement_character(spark: SparkSession, registry: SchemaRegistry) -> None:
    config = props(registry)
    [result] = through(spark, {**config, "value.converter": STRING}, [Record(b"a\xffb")], config)
    assert isinstance(result, Record), result
    assert deserialized(registry, result.value) == "a\ufffdb"


PROTOBUF = "io.confluent.connect.protobuf.ProtobufConverter"


@pytest.mark.parametrize(("converter", "kind", "name", "inner", "outer", "payload"), [
    ("io.confluent.connect.avro.AvroConverter", "AVRO", "In", record("In", a="string"), record("R", one="In"), b"\x0ahello"),
    (PROTOBUF, "PROTOBUF", "in.proto", 'syntax = "proto3"; message In { string a = 1; }',
     'syntax = "proto3"; import "in.proto"; message R { In one = 1; }', b"\0\x0a\x07\x0a\x05hello"),
], ids=["avro", "protobuf"])  # fmt: skip
def test_a_schema_that_refers_to_another_is_read(
    spark: SparkSession, registry: SchemaRegistry, converter: str, kind: str, name: str, inner: Any, outer: Any, payload: bytes
) -> None:
    registry.register("inner", inner, kind)
    id = registry.register("orders-value", outer, kind, ({"name": name, "subject": "inner", "version": 1},)).to_bytes(4)
    to = {"value.converter": JSON, "value.converter.schemas.enable": "false"}
    [result] = through(spark, props(registry, converter), [Record(b"\0" + id + payload)], to)
    assert isinstance(result, Record), result
    assert json.loads(result.value or b"") == {"one": {"a": "hello"}}
