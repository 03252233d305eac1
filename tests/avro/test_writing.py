"""Avro that is written as the payload's JSON is parsed: in the schema's order, whatever order the payload has."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace.avro.mapping import AvroOptions
from headrace.avro.writing import writing_plan
from headrace.errors import DataError
from headrace.testing.registry import SchemaRegistry
from headrace.values.schema import DATE, TIMESTAMP, Schema
from tests.avro.chains import props, through
from tests.avro.test_data import deserialized, serialized
from tests.transforms.chains import JSON, Failed, Record

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
def test_a_schema_that_refers_to_another_is_read_and_written(
    spark: SparkSession, registry: SchemaRegistry, converter: str, kind: str, name: str, inner: Any, outer: Any, payload: bytes
) -> None:
    registry.register("inner", inner, kind)
    id = registry.register("orders-value", outer, kind, ({"name": name, "subject": "inner", "version": 1},)).to_bytes(4)
    to = {"value.converter": JSON, "value.converter.schemas.enable": "false"}
    [result] = through(spark, props(registry, converter), [Record(b"\0" + id + payload)], to)
    assert isinstance(result, Record), result
    assert json.loads(result.value or b"") == {"one": {"a": "hello"}}
    newest = props(registry, converter, auto_register_schemas="false", use_latest_version="true")
    [again] = through(spark, newest, [Record(b"\0" + id + payload)])
    assert isinstance(again, Record), again
    assert again.value == b"\0" + id + payload


def logical(kind: str, logical_type: str, /, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": logical_type, **more}


def test_a_decimal_gets_the_scale_of_the_newest_schema_or_is_an_error_of_its_record(
    spark: SparkSession, registry: SchemaRegistry
) -> None:
    four = logical("bytes", "decimal", precision=12, scale=4)
    two = logical("bytes", "decimal", precision=9, scale=2)
    fixed = logical("fixed", "decimal", precision=9, scale=5, name="F", size=6)
    registry.store.levels[None] = "NONE"
    data = [{"a": Decimal(text), "b": Decimal("-1.5")} for text in ("13.12", "-0.01", "0", "14.432", "14.4321")]
    records = [Record(serialized(registry, record("R", a=four, b=four), one)) for one in data]
    registry.register("orders-value", record("R", a=["null", two], b=fixed))
    config = props(registry, auto_register_schemas="false", use_latest_version="true", latest_compatibility_strict="false")
    *outcomes, lost, long = through(spark, config, records, config)
    assert [deserialized(registry, outcome.value) for outcome in outcomes] == data[:3]
    for number, outcome in (("14.4320", lost), ("14.4321", long)):
        assert f"the decimal {number} does not fit the scale 2 of its schema (field a)" in (outcome.cause or "")


def test_bytes_of_a_fixed_type_have_its_size(spark: SparkSession, registry: SchemaRegistry) -> None:
    registry.register("orders-value", record("R", a={"type": "fixed", "name": "F", "size": 3}))
    struct = {"type": "struct", "name": "R", "fields": [{"type": "bytes", "field": "a"}]}
    values = [json.dumps({"schema": struct, "payload": {"a": text}}).encode() for text in ("AQID", "AQI=", "gA==", "AQIDBA==")]
    to = props(registry, auto_register_schemas="false", use_latest_version="true", latest_compatibility_strict="false")
    chain = {**to, "value.converter": JSON, "value.converter.schemas.enable": "true"}
    written, *failed = through(spark, chain, map(Record, values), to)
    assert (written.value or b"")[5:] == b"\1\2\3"
    for size, outcome in zip((2, 1, 4), failed, strict=True):
        assert isinstance(outcome, Failed), outcome
        assert f"{size} bytes for a fixed type of 3" in (outcome.cause or "")


def test_a_number_is_written_as_a_wider_one_of_the_newest_schema(spark: SparkSession, registry: SchemaRegistry) -> None:
    registry.store.levels[None] = "NONE"
    old, newest = (
        record("R", a="int", b="int", c="float", d="int"),
        record("R", a="long", b="double", c="double", d=["long", "int"]),
    )
    records = [Record(serialized(registry, old, {"a": -(2**31), "b": 2**31 - 1, "c": c, "d": 3})) for c in (0.1, math.inf)]
    registry.register("orders-value", newest)
    config = props(registry, auto_register_schemas="false", use_latest_version="true")
    outcomes = through(spark, config, records, config)
    floats = [0.10000000149011612, math.inf]  # 0.1 of 32 bits
    assert [deserialized(registry, outcome.value) for outcome in outcomes] == [
        {"a": -(2**31), "b": 2**31 - 1, "c": c, "d": 3} for c in floats
    ]
    assert [(outcome.value or b"")[-2:] for outcome in outcomes] == [b"\x02\x06"] * 2  # the branch int


@pytest.mark.parametrize(("schema", "node", "why"), [
    (Schema("int64", name=TIMESTAMP), logical("long", "timestamp-micros"),
     "has timestamp-micros for the field a, whose data is timestamp-millis"),
    (Schema("int32", name=DATE), logical("int", "time-millis"), "has time-millis for the field a, whose data is date"),
    (Schema("int32", name=DATE), "long", "has long for the field a, which is INT32"),
    (Schema("int32"), logical("long", "timestamp-millis"), "has long for the field a, which is INT32"),
    (Schema("int64"), "double", "has double for the field a, which is INT64"),
    (Schema("int64", name=TIMESTAMP), "long", None),
    (Schema("int64"), logical("long", "timestamp-micros"), None),
    (Schema("int64", name=TIMESTAMP), logical("long", "local-timestamp-millis"), None),
])  # fmt: skip
def test_a_number_of_another_unit_is_refused(schema: Schema, node: Any, why: str | None) -> None:
    def plan() -> Any:
        return writing_plan(Schema("struct", fields={"a": schema}), json.dumps(record("R", a=node)), AvroOptions())

    if why is None:
        assert plan() == {"t": "record", "f": [["a", {"t": "long"}]]}
    else:
        with pytest.raises(DataError, match=why):
            plan()


def test_a_type_may_be_defined_in_a_field_that_the_data_lacks() -> None:
    inner = {"name": "one", "type": ["null", record("In", a="int")], "default": None}
    avro = {"type": "record", "name": "R", "fields": [inner, {"name": "two", "type": "In"}]}
    schema = Schema("struct", fields={"two": Schema("struct", fields={"a": Schema("int32")})})
    assert writing_plan(schema, json.dumps(avro), AvroOptions())["f"][1][0] == "two"
