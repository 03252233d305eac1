"""JSON with JSON Schemas as Connect data and back, beside what confluent-kafka's serializers write and read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from pyspark.sql import SparkSession

from headrace.testing.registry import SchemaRegistry
from headrace.values.schema import DECIMAL, TIME
from tests.avro.chains import props, through
from tests.avro.test_data import TO_JSON, VALUE, client, in_topic
from tests.transforms.chains import JSON, Failed, Record

CONVERTER = "io.confluent.connect.json.JsonSchemaConverter"
ONE_OF = "io.confluent.connect.json.OneOf.field"
PRICE = {"type": "string", "title": DECIMAL, "connect.version": 1, "connect.type": "bytes", "connect.parameters": {"scale": "2"}}
SCHEMA: dict[str, Any] = {
    "title": "Order", "type": "object", "properties": {
        "id": {"type": "integer"}, "small": {"type": "integer", "connect.type": "int8"}, "price": {"type": "number"},
        "single": {"type": "number", "connect.type": "float32"}, "yes": {"type": "boolean"}, "text": {"type": "string"},
        "bytes": {"type": "string", "connect.type": "bytes"}, "state": {"enum": ["NEW", "DONE"]},
        "total": {**PRICE},
        "note": {"oneOf": [{"type": "null"}, {"type": "string"}]}, "gone": {"oneOf": [{"type": "null"}, {"type": "string"}]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "map": {"type": "object", "connect.type": "map", "additionalProperties": {"type": "integer"}},
        "pairs": {"type": "array", "connect.type": "map", "items": {"type": "object", "properties": {
            "key": {"type": "integer"}, "value": {"type": "string"}}}},
        "inner": {"type": "object", "title": "Inner", "properties": {"a": {"type": "integer"}}},
        "either": {"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "object", "properties": {"x": {"type": "string"}}},
                             {"type": "object", "properties": {"y": {"type": "string"}, "z": {"type": "string"}}}]},
    },
}  # fmt: skip
for place, name in enumerate(SCHEMA["properties"]):
    SCHEMA["properties"][name]["connect.index"] = place
DATA: dict[str, Any] = {
    "id": 2**53 + 1, "small": -7, "price": 1.5, "single": 0.25, "yes": True, "text": 'é"\n\U0001f600', "bytes": "AP8=",
    "state": "DONE", "total": "BNI=", "note": "n", "gone": None, "tags": ["a", "b"], "map": {"k": 1},
    "pairs": [{"key": 1, "value": "x"}], "inner": {"a": 5}, "either": {"z": "2", "y": "1"},
}  # fmt: skip


def serialized(registry: SchemaRegistry, schema: Any, data: Any, topic: str = "orders") -> bytes:
    serializer: Any = JSONSerializer
    with client(registry) as confluent:
        result = serializer(json.dumps(schema), confluent, conf={"validate": False})(data, in_topic(topic))
    assert isinstance(result, bytes)
    return result


def test_every_type_is_read_as_connect_has_it(spark: SparkSession, registry: SchemaRegistry) -> None:
    record = Record(serialized(registry, SCHEMA, DATA))
    [result] = through(spark, props(registry, CONVERTER), [record], TO_JSON)
    assert isinstance(result, Record), result
    union = {f"{ONE_OF}.{n}": None for n in range(3)} | {f"{ONE_OF}.3": {"y": "1", "z": "2"}}
    assert json.loads(result.value or b"") == DATA | {"pairs": [[1, "x"]], "either": union}


def test_what_was_read_is_written_again(spark: SparkSession, registry: SchemaRegistry) -> None:
    record = Record(serialized(registry, SCHEMA, DATA))
    outcomes, tombstone = through(spark, props(registry, CONVERTER), [record, Record(None)])
    assert isinstance(outcomes, Record), outcomes
    assert json.loads((outcomes.value or b"")[5:]) == DATA
    deserializer: Any = JSONDeserializer
    schema = registry.store.subjects["orders-value"][-1].schema.text
    with client(registry) as confluent:
        reader = deserializer(schema, schema_registry_client=confluent, conf={"validate": False})
        assert reader(outcomes.value, VALUE) == DATA
    assert tombstone.value is None
    [again] = through(spark, props(registry, CONVERTER), [outcomes])
    assert again.value == outcomes.value  # bytes and id


@pytest.mark.parametrize(("schema", "data"), [
    ({"type": "string"}, "text"), ({"type": "integer"}, 5), ({"type": "boolean"}, False), ({"type": "number"}, 0.5),
    ({"type": "array", "items": {"type": "integer"}}, [1, 2]), ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, 7),
    ({"oneOf": [{"type": "null"}, {"type": "string"}]}, None),
])  # fmt: skip
def test_a_value_need_not_be_an_object(spark: SparkSession, registry: SchemaRegistry, schema: Any, data: Any) -> None:
    id = registry.register("orders-value", schema, "JSON")
    message = b"\0" + id.to_bytes(4) + json.dumps(data).encode().replace(b" ", b"")
    [result] = through(spark, props(registry, CONVERTER), [Record(message)])
    assert isinstance(result, Record), result
    assert (result.value or b"")[5:] == message[5:]


def test_fields_that_are_null_or_absent_are_written_as_confluent_does(spark: SparkSession, registry: SchemaRegistry) -> None:
    typed = {"schema": {"type": "struct", "optional": False, "fields": [
        {"type": "string", "optional": True, "field": "a"}, {"type": "int32", "optional": True, "default": 5, "field": "b"},
        {"type": "bytes", "name": DECIMAL, "version": 1, "parameters": {"scale": "2"}, "optional": False, "field": "c"}]},
        "payload": {"a": None, "b": None, "c": "BNI="}}  # fmt: skip
    config = {**props(registry, CONVERTER, decimal_format="numeric"), "value.converter": JSON}
    config |= {"value.converter.schemas.enable": "true", "value.converter.replace.null.with.default": "false"}
    to = props(registry, CONVERTER, decimal_format="numeric")
    [result] = through(spark, config, [Record(json.dumps(typed).encode())], to)
    assert isinstance(result, Record), result
    assert (result.value or b"")[5:] == b'{"a":null,"b":5,"c":12.34}'


def test_data_with_unknown_fields_and_without_known_ones_is_read(spark: SparkSession, registry: SchemaRegistry) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string", "default": "x"}}}
    id = registry.register("orders-value", schema, "JSON")
    outcomes = through(spark, props(registry, CONVERTER), [
        Record(b"\0" + id.to_bytes(4) + text) for text in (b'{"a":1,"c":true}', b'{"a":null}', b'{"a":"x","b":null}')
    ], TO_JSON)  # fmt: skip
    assert json.loads(outcomes[0].value or b"") == {"a": 1, "b": "x"}
    assert isinstance(outcomes[1], Failed)
    assert "Invalid null value for required INT64 field" in (outcomes[1].cause or "")
    assert json.loads(outcomes[2].value or b"") == {"a": 0, "b": "x"}


def test_a_property_that_is_absent_is_left_out_again(spark: SparkSession, registry: SchemaRegistry) -> None:
    inner = {"type": "object", "properties": {"s": {"type": "string"}}}
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "inner": inner}}
    id = registry.register("orders-value", schema, "JSON")
    texts = (b'{"a":1}', b"{}", b'{"inner":{}}')
    outcomes = through(spark, props(registry, CONVERTER), [Record(b"\0" + id.to_bytes(4) + text) for text in texts])
    assert [(outcome.value or b"")[5:] for outcome in outcomes] == [*texts]
    with_schema = {**TO_JSON, "value.converter.schemas.enable": "true"}
    for to in (TO_JSON, with_schema):  # Connect's struct has no value for what it requires
        for outcome in through(spark, props(registry, CONVERTER), [Record(b"\0" + id.to_bytes(4) + text) for text in texts], to):
            assert isinstance(outcome, Failed), outcome
            assert "Conversion error: null value for field that is required and has no default value" in str(outcome)


def test_null_in_a_nested_value_that_requires_one_is_an_error_of_its_record(
    spark: SparkSession, registry: SchemaRegistry
) -> None:
    number = {"type": "number", "connect.type": "float32"}
    inner = {"type": "object", "properties": {"n": number, "price": PRICE, "s": {"type": "string"}}}
    registry.store.levels[None] = "NONE"
    schemas = {"struct": inner, "list": {"type": "array", "items": inner},
               "map": {"type": "object", "connect.type": "map", "additionalProperties": inner}}  # fmt: skip
    whole = {"n": 0.1, "price": "BNI=", "s": "x"}
    for kind, node in schemas.items():
        id = registry.register("orders-value", {"type": "object", "properties": {"v": node}}, "JSON")
        values: list[Any] = [{**whole, "n": "NaN"}, whole, {**whole, "s": 5}, {"n": 0.1, "price": "BNI="}]
        shaped = [{"struct": value, "list": [value], "map": {"k": value}}[kind] for value in values]
        records = [Record(b"\0" + id.to_bytes(4) + json.dumps({"v": value}).encode()) for value in shaped]
        for form, text in (("BASE64", "BNI="), ("NUMERIC", 12.34)):
            to = {**TO_JSON, "value.converter.decimal.format": form}
            odd, written, *failed = through(spark, props(registry, CONVERTER), records, to)
            one = {**whole, "price": text}
            expected = {"struct": one, "list": [one], "map": {"k": one}}[kind]
            assert json.loads(written.value or b"") == {"v": expected}
            assert b'"NaN"' in (odd.value or b"")
            for outcome in failed:
                assert isinstance(outcome, Failed), outcome
                assert "Conversion error: null value for field that is required" in str(outcome)


@pytest.mark.parametrize(("payload", "why"), [
    (b'{"a":', "it is no JSON"), (b"", "the data ends before the record does"),
    (b"[1]", "Structs should be encoded as JSON objects"),
    (b'{"a":1} x', "it is no JSON"),
])  # fmt: skip
def test_data_that_cannot_be_read_fails_with_one_sentence(
    spark: SparkSession, registry: SchemaRegistry, payload: bytes, why: str
) -> None:
    id = registry.register("orders-value", {"type": "object", "properties": {"a": {"type": "integer"}}}, "JSON")
    [result] = through(spark, props(registry, CONVERTER), [Record(b"\0" + id.to_bytes(4) + payload)])
    assert isinstance(result, Failed), result
    assert result.message == "Converting byte[] to Kafka Connect data failed due to serialization error of topic orders: "
    assert why in (result.cause or "")


def test_what_connect_has_no_place_for_is_an_error_of_its_record(spark: SparkSession, registry: SchemaRegistry) -> None:
    time = {"type": "integer", "title": TIME, "connect.version": 1, "connect.type": "int32"}
    entry = {
        "type": "object",
        "properties": {"key": {"oneOf": [{"type": "null"}, {"type": "string"}]}, "value": {"type": "integer"}},
    }
    pairs = {"type": "array", "connect.type": "map", "items": entry}
    id = registry.register("orders-value", {"type": "object", "properties": {"at": time, "map": pairs}}, "JSON")
    texts = (b'{"at":86400001,"map":[]}', b'{"at":-1,"map":[]}', b'{"at":0,"map":[{"key":null,"value":1}]}')
    for outcome, why in zip(
        through(spark, props(registry, CONVERTER), [Record(b"\0" + id.to_bytes(4) + text) for text in texts]),
        ("Time values must use", "Time values must use", "null is the key of an entry of a map"), strict=True,
    ):  # fmt: skip
        assert isinstance(outcome, Failed), outcome
        assert why in (outcome.cause or "")


def test_a_decimal_whose_exponent_is_huge_is_an_error_of_its_record(spark: SparkSession, registry: SchemaRegistry) -> None:
    price = {"type": "number", "title": DECIMAL, "connect.version": 1, "connect.parameters": {"scale": "2"}}
    id = registry.register("orders-value", {"type": "object", "properties": {"price": price}}, "JSON")
    records = [
        Record(b"\0" + id.to_bytes(4) + b'{"price":%s}' % number)
        for number in (b"1e-2000000000", b"1e500000000", b"0e-2000000000", b"1.3e1", b"1.234")
    ]
    small, large, zero, whole, digits = through(spark, props(registry, CONVERTER), records, TO_JSON)
    assert "the decimal 1E-2000000000 does not fit the scale 2 of its schema" in (small.cause or "")
    assert "the decimal 1E+500000000 would have more than 10000 zeros with the scale 2" in (large.cause or "")
    assert "the decimal 1.234 does not fit the scale 2 of its schema" in (digits.cause or "")
    assert [json.loads(outcome.value or b"") for outcome in (zero, whole)] == [{"price": "AA=="}, {"price": "BRQ="}]


def test_a_decimal_without_bytes_is_an_error_of_its_record(spark: SparkSession, registry: SchemaRegistry) -> None:
    fields = {"price": {"oneOf": [{"type": "null"}, PRICE]}, "inner": {"type": "object", "properties": {"price": PRICE}}}
    id = registry.register("orders-value", {"type": "object", "properties": fields}, "JSON")
    texts = (b'{"price":"","inner":{"price":"AA=="}}', b'{"price":"AA==","inner":{"price":""}}')
    numbers = props(registry, CONVERTER, decimal_format="numeric")
    for outcome in through(spark, numbers, [Record(b"\0" + id.to_bytes(4) + text) for text in texts]):
        assert isinstance(outcome, Failed), outcome
        assert "Invalid bytes for Decimal field" in (outcome.cause or "")


def test_data_without_a_schema_is_refused(spark: SparkSession, registry: SchemaRegistry) -> None:
    config = props(registry, CONVERTER)
    plain = {**config, "value.converter": JSON, "value.converter.schemas.enable": "false"}
    [result] = through(spark, plain, [Record(b'{"a":1}')], config)
    assert isinstance(result, Failed), result
    assert "Data without a schema cannot be written with a JSON Schema" in (result.cause or "")


def test_schemas_of_two_formats_are_not_mistaken(spark: SparkSession, registry: SchemaRegistry) -> None:
    id = registry.register("orders-value", '"string"')
    [result] = through(spark, props(registry, CONVERTER), [Record(b"\0" + id.to_bytes(4) + b'"x"')])
    assert isinstance(result, Failed), result
    assert f"The schema with the id {id} is of type AVRO, not JSON" in (result.cause or "")
