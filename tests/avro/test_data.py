"""Avro's bytes as Connect data and back, beside what confluent-kafka's serializers write and read."""

from __future__ import annotations

import base64
import io
import json
from datetime import UTC, date, datetime
from datetime import time as clock
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

import fastavro
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from pyspark.sql import SparkSession

from headrace.avro import mapping
from headrace.testing.registry import SchemaRegistry
from headrace.testing.registry.store import RefusedError
from tests.avro.chains import AVRO, BYTES, props, through
from tests.transforms.chains import JSON, Failed, Record

VALUE = SerializationContext("orders", MessageField.VALUE)
ALL: dict[str, Any] = {
    "type": "record", "name": "All", "namespace": "a.b", "fields": [
        {"name": "bool", "type": "boolean"}, {"name": "int", "type": "int"}, {"name": "long", "type": "long"},
        {"name": "float", "type": "float"}, {"name": "double", "type": "double"}, {"name": "text", "type": "string"},
        {"name": "bytes", "type": "bytes"},
        {"name": "byte", "type": {"type": "int", "connect.type": "int8"}},
        {"name": "size", "type": {"type": "enum", "name": "Size", "symbols": ["S", "L"]}},
        {"name": "md5", "type": {"type": "fixed", "name": "Md5", "size": 4}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "micros", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "none", "type": ["null", "int"], "default": None},
        {"name": "some", "type": [{"type": "string", "connect.default": "x"}, "null"], "default": "x"},
        {"name": "list", "type": {"type": "array", "items": ["null", "double"]}},
        {"name": "map", "type": {"type": "map", "values": {"type": "array", "items": "long"}}},
        {"name": "inner", "type": {"type": "record", "name": "In", "fields": [{"name": "s", "type": "Size"}]}},
        {"name": "again", "type": ["null", "In"], "default": None},
        {"name": "either", "type": ["null", "int", "string", "In"], "default": None},
    ],
}  # fmt: skip
DATA: dict[str, Any] = {
    "bool": True, "int": -(2**31), "long": 2**63 - 1, "float": 1.5, "double": -0.1, "text": 'é"\n\U0001f600',
    "bytes": b"\x00\xff", "byte": -7, "size": "L", "md5": b"\x01\x02\x03\x04", "price": Decimal("-12.34"),
    "day": date(2026, 11, 23),    "at": clock(12, 30, 1, 5000), "ts": datetime(2026, 11, 23, 7, 0, 0, 123000, UTC),
    "micros": datetime(2026, 11, 23, 7, 0, 0, 123456, UTC), "none": None, "some": "y", "list": [1.5, None, -2.0],
    "map": {"a": [1, 2], "b": []}, "inner": {"s": "S"}, "again": {"s": "L"}, "either": "text",
}  # fmt: skip
JSON_VALUE = {"value.converter": JSON, "value.converter.schemas.enable": "false"}
TO_JSON = {"value.converter": JSON, "value.converter.schemas.enable": "false"}


def client(registry: SchemaRegistry) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": registry.url, "max.retries": 0})


def in_topic(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


def serialized(registry: SchemaRegistry, schema: Any, data: Any, topic: str = "orders", **config: Any) -> bytes:
    serializer: Any = AvroSerializer
    with client(registry) as confluent:
        result = serializer(confluent, json.dumps(schema), conf=config)(data, in_topic(topic))
    assert isinstance(result, bytes)
    return result


def deserialized(registry: SchemaRegistry, data: bytes | None) -> Any:
    deserializer: Any = AvroDeserializer
    with client(registry) as confluent:
        return deserializer(confluent)(data or b"", VALUE)


def test_every_type_is_read_as_connect_has_it(spark: SparkSession, registry: SchemaRegistry) -> None:
    data = serialized(registry, ALL, DATA)
    [result] = through(spark, props(registry), [Record(data)], TO_JSON)
    assert isinstance(result, Record), result
    assert json.loads(result.value or b"") == {
        "bool": True, "int": -(2**31), "long": 2**63 - 1, "float": 1.5, "double": -0.1, "text": 'é"\n\U0001f600',
        "bytes": base64.b64encode(b"\x00\xff").decode(), "byte": -7, "size": "L",
        "md5": base64.b64encode(b"\x01\x02\x03\x04").decode(),
        "price": base64.b64encode((-1234).to_bytes(2, signed=True)).decode(),
        "day": 20780, "at": 45001005, "ts": 1795417200123, "micros": 1795417200123456, "none": None, "some": "y",
        "list": [1.5, None, -2.0], "map": {"a": [1, 2], "b": []}, "inner": {"s": "S"}, "again": {"s": "L"},
        "either": {"int": None, "string": "text", "In": None},
    }  # fmt: skip


def test_what_connect_has_no_place_for_is_an_error_of_its_record(spark: SparkSession, registry: SchemaRegistry) -> None:
    time = {"type": "int", "logicalType": "time-millis"}
    entry = {"type": "record", "name": "E", "connect.internal.type": "MapEntry", "fields": [
        {"name": "key", "type": ["null", "string"]}, {"name": "value", "type": "int"}]}  # fmt: skip
    fields = {"at": time, "all": {"type": "array", "items": time}, "map": {"type": "array", "items": entry}}
    schema = {"type": "record", "name": "R", "fields": [{"name": name, "type": type_} for name, type_ in fields.items()]}
    id = registry.register("orders-value", schema).to_bytes(4)
    registry.store.levels[None] = "NONE"  # the entries have another name when they are written

    def data(at: int = 0, item: int = 86_400_000, key: str | None = "a") -> Record:
        value = {"at": at, "all": [item], "map": [{"key": key, "value": 1}]}
        payload = io.BytesIO()
        fastavro.schemaless_writer(payload, json.loads(json.dumps(schema).replace('"logicalType"', '"unit"')), value)
        return Record(b"\0" + id + payload.getvalue())

    records = [data(), data(at=-1), data(at=86_400_001), data(item=-1), data(key=None), data(at=86_400_000, key="null")]
    first, *failed, last = through(spark, props(registry), records)
    assert isinstance(first, Record), first
    assert [(outcome.value or b"")[5:] for outcome in (first, last)] == [(records[n].value or b"")[5:] for n in (0, -1)]
    time_problem = "Time values must use number of milliseconds greater than 0 and less than 86400000"
    for outcome, why in zip(failed, [time_problem] * 3 + ["null is the key of an entry of a map"], strict=True):
        assert isinstance(outcome, Failed), outcome
        assert why in (outcome.cause or "")


@pytest.mark.parametrize("wire", ["prefix", "guid"])
def test_what_was_read_is_written_again(spark: SparkSession, registry: SchemaRegistry, wire: str) -> None:
    record = Record(serialized(registry, ALL, DATA), headers=[("other", b"1")])
    if wire == "guid":  # in a header
        headers: list[tuple[str, bytes | None]] = [("other", b"1")]
        serializer: Any = AvroSerializer
        context = SerializationContext("orders", MessageField.VALUE, cast("Any", headers))
        with client(registry) as confluent:
            made = serializer(confluent, json.dumps(ALL), conf={"schema.id.serializer": header_schema_id_serializer})
            record = Record(made(DATA, context), headers=headers)
    outcomes, tombstone = through(spark, props(registry, enhanced_avro_schema_support="true"), [record, Record(None)])
    assert isinstance(outcomes, Record), outcomes
    assert list(outcomes.headers) == [("other", b"1")]  # the id stands before the data now
    assert deserialized(registry, outcomes.value) == DATA | {"micros": 1795417200123456}  # which Connect has no type for
    assert (outcomes.value or b"")[5:] == (record.value or b"")[0 if wire == "guid" else 5 :]
    assert tombstone.value is None
    written = json.loads(registry.store.subjects["orders-value"][-1].schema.text)
    assert [field["name"] for field in written["fields"]] == [field["name"] for field in ALL["fields"]]


@pytest.mark.parametrize(("schema", "data"), [
    ("string", "text"), ("int", 5), ("boolean", False), ("double", 0.5), (["null", "string"], "x"),
    ({"type": "array", "items": "int"}, [1, 2]), ({"type": "map", "values": "string"}, {"a": "b"}),
    (["int", "string"], "x"),
])  # fmt: skip
def test_a_value_need_not_be_a_record(spark: SparkSession, registry: SchemaRegistry, schema: Any, data: Any) -> None:
    message = serialized(registry, schema, data)
    [result] = through(spark, props(registry), [Record(message)])
    assert isinstance(result, Record), result
    assert deserialized(registry, result.value) == data
    assert (result.value or b"")[5:] == message[5:]


def test_bytes_alone_have_no_length(spark: SparkSession, registry: SchemaRegistry) -> None:
    id = registry.register("orders-value", '"bytes"')
    message = b"\0" + id.to_bytes(4) + b"\x01\xff"
    [result] = through(spark, props(registry), [Record(message)])
    assert (result.value or b"")[5:] == message[5:]
    written = registry.store.subjects["orders-value"][-1].schema
    assert json.loads(written.text) == {"type": "bytes", "connect.version": 1}  # as Connect's schema has that of the registry


def test_data_without_schema_is_anything(spark: SparkSession, registry: SchemaRegistry) -> None:
    texts = [b'{"a":[1,2.5,"x",null,true],"b":{"c":{}}}', b'"text"', b"7", b"[]"]
    config = props(registry)
    written = through(spark, {**config, **JSON_VALUE}, [Record(text) for text in texts], config)
    assert deserialized(registry, written[2].value)["long"] == 7
    again = through(spark, config, written, TO_JSON)
    assert [json.loads(record.value) for record in again] == [json.loads(text) for text in texts]


def test_data_without_schema_has_the_types_of_json(spark: SparkSession, registry: SchemaRegistry) -> None:
    value = {"map": [{"key": {"int": 1}, "value": {"float": 0.5}}, {"key": {"string": "b"}, "value": {"bytes": b"\xff"}}]}
    [result] = through(spark, props(registry), [Record(serialized(registry, mapping.ANYTHING_SCHEMA, value))])
    entries = deserialized(registry, result.value)["map"]
    set_fields = [[{k: v for k, v in part.items() if v is not None} for part in (e["key"], e["value"])] for e in entries]
    assert set_fields == [[{"string": "1"}, {"double": 0.5}], [{"string": "b"}, {"string": "/w=="}]]


def test_schemas_of_many_ids_may_meet_in_one_batch(spark: SparkSession, registry: SchemaRegistry) -> None:
    def schema(n: int) -> Any:
        return {"type": "record", "name": "R", "fields": [{"name": f"f{n}", "type": "int"}]}

    registry.store.levels[None] = "NONE"
    records = [Record(serialized(registry, schema(n % 3), {f"f{n % 3}": n})) for n in range(6)]
    rename = {"transforms": "r", "transforms.r.type": "org.apache.kafka.connect.transforms.ReplaceField$Value",
              "transforms.r.renames": "f1:g1"}  # fmt: skip
    registry.requests.clear()
    outcomes = through(spark, {**props(registry), **rename}, records)
    assert [deserialized(registry, record.value) for record in outcomes] == [
        {"g1" if n % 3 == 1 else f"f{n % 3}": n} for n in range(6)
    ]
    assert len([r for r in registry.requests if r.startswith("GET /schemas/ids/") and not r.endswith("versions")]) <= 3 + 1 + 6


def test_an_optional_null_is_no_record_and_a_default_is_written_for_null(spark: SparkSession, registry: SchemaRegistry) -> None:
    schema = {"type": "struct", "name": "R", "optional": True, "fields": [
        {"type": "int32", "optional": True, "default": 5, "field": "a"}]}  # fmt: skip
    texts = [json.dumps({"schema": schema, "payload": payload}).encode() for payload in (None, {"a": None}, {"a": 6})]
    config = props(registry)
    typed = {**config, "value.converter": JSON, "value.converter.schemas.enable": "true",
             "value.converter.replace.null.with.default": "false"}  # fmt: skip
    outcomes = through(spark, typed, [Record(text) for text in texts], config)
    assert [deserialized(registry, r.value) if r.value else None for r in outcomes] == [None, {"a": 5}, {"a": 6}]
    read = through(spark, props(registry), [Record(r.value) for r in outcomes], TO_JSON)
    assert [json.loads(r.value) if r.value else None for r in read] == [None, {"a": 5}, {"a": 6}]


def test_numbers_that_json_has_not_are_kept(spark: SparkSession, registry: SchemaRegistry) -> None:
    fields = [{"name": "a", "type": "double"}, {"name": "b", "type": {"type": "array", "items": "float"}}]
    inner = {"name": "c", "type": {"type": "record", "name": "C", "fields": [{"name": "d", "type": "double"}]}}
    schema = {"type": "record", "name": "R", "fields": [*fields, inner]}
    data = {"a": float("-inf"), "b": [float("inf"), -0.0], "c": {"d": float("nan")}}
    message = serialized(registry, schema, data)
    flat = {"transforms": "f", "transforms.f.type": "org.apache.kafka.connect.transforms.Flatten$Value"}
    copied, flattened = through(spark, props(registry), [Record(message)]) + through(
        spark, {**props(registry, auto_register_schemas="true"), **flat}, [Record(message, topic="flat")]
    )
    assert (copied.value or b"")[5:] == message[5:]
    assert str(deserialized(registry, flattened.value)["c.d"]) == "nan" if isinstance(flattened, Record) else flattened


@pytest.mark.parametrize("chain", [
    {}, {"transforms": "f", "transforms.f.type": "org.apache.kafka.connect.transforms.Flatten$Value"},
], ids=["copied", "flattened"])  # fmt: skip
@pytest.mark.parametrize("schemas", ["true", "false"])
def test_a_negative_zero_is_one_in_json(
    spark: SparkSession, registry: SchemaRegistry, chain: dict[str, str], schemas: str
) -> None:
    kinds = {"f": "float", "d": "double", "s": ["null", "double"], "a": {"type": "array", "items": "double"}}
    inner = {"type": "record", "name": "C", "fields": [
        {"name": "d", "type": "double"}, {"name": "f", "type": "float"}, {"name": "nan", "type": "double"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
    ]}  # fmt: skip
    fields = [{"name": name, "type": kind} for name, kind in {**kinds, "c": inner}.items()]
    within = {"d": -0.0, "f": -0.0, "nan": float("nan"), "price": Decimal("1.50")}
    data = {"f": -0.0, "d": -0.0, "s": -0.0, "a": [-0.0], "c": within}
    message = serialized(registry, {"type": "record", "name": "R", "fields": fields}, data)
    for decimals, price in {"BASE64": '"AJY="', "NUMERIC": "1.50"}.items():
        to = {"value.converter": JSON, "value.converter.schemas.enable": schemas, "value.converter.decimal.format": decimals}
        [result] = through(spark, {**props(registry), **chain}, [Record(message)], to)
        text = (result.value or b"").decode() if isinstance(result, Record) else str(result)
        text = text.partition('"payload":')[2].removesuffix("}") if schemas == "true" else text
        numbers = f'"d":-0.0,"f":-0.0,"nan":"NaN","price":{price}'
        nested = numbers.replace('"', '"c.', 1).replace(',"', ',"c.') if chain else f'"c":{{{numbers}}}'
        assert text == f'{{"f":-0.0,"d":-0.0,"s":-0.0,"a":[-0.0],{nested}}}'


BAD_ID = b"\0" + (77).to_bytes(4) + b"x"


@pytest.mark.parametrize(("value", "why"), [
    (BAD_ID, "refuses (404, error 40403): Schema 77 not found"),
    (b'{"a":1}', "Unknown magic byte! The data begins with 0x7b"),
    (b"", "The data has 0 bytes"),
    (b"\0\0\0", "The data has 3 bytes: that is too short for the id of a schema"),
])  # fmt: skip
def test_data_that_cannot_be_read_fails_with_one_sentence(
    spark: SparkSession, registry: SchemaRegistry, value: bytes, why: str
) -> None:
    [result] = through(spark, props(registry), [Record(value)])
    assert isinstance(result, Failed), result
    assert result.step == "input.value"
    assert result.message == "Failed to deserialize data for topic orders to Avro: "
    assert why in (result.cause or "")


def test_bytes_that_are_copied_keep_the_header_of_their_schema(spark: SparkSession, registry: SchemaRegistry) -> None:
    given = Record(b"\x06", b"\x06", headers=[("__value_schema_id", b"\1" + bytes(16)), ("__key_schema_id", b"\1" + bytes(16))])
    [result] = through(spark, props(registry) | {"value.converter": BYTES}, [given])
    assert (result.value, list(result.headers)) == (given.value, given.headers)


def test_items_without_bytes_do_not_fill_the_memory(spark: SparkSession, registry: SchemaRegistry) -> None:
    empty = {"type": "record", "name": "Empty", "fields": []}
    field = {"name": "list", "type": {"type": "array", "items": empty}}
    id = registry.register("orders-value", {"type": "record", "name": "R", "fields": [field]}).to_bytes(4)
    many, few = b"\xfe\xff\xff\xff\x0f\0", b"\x06\0"
    failed, read = through(spark, props(registry), [Record(b"\0" + id + many), Record(b"\0" + id + few)], TO_JSON)
    assert isinstance(failed, Failed), failed
    assert "its arrays have 2147483647 items, more than its bytes and 100000 items without any" in (failed.cause or "")
    assert isinstance(read, Record), read
    assert len(json.loads(read.value or b"")["list"]) == 3


class Older(SchemaRegistry):
    """A registry that does not say where a schema is registered."""

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> Any:
        """As the registry does otherwise."""
        if path.startswith("/schemas/ids/") and path.endswith("/versions"):
            raise RefusedError(404, 404, "HTTP 404 Not Found")
        return super().answer(method, path, query, body)


def test_data_is_read_where_the_registry_does_not_say_the_versions(spark: SparkSession) -> None:
    with Older() as registry:
        [result] = through(spark, props(registry), [Record(serialized(registry, "int", 5))])
        assert isinstance(result, Record), result
        assert deserialized(registry, result.value) == 5


def test_a_payload_that_ends_early_fails(spark: SparkSession, registry: SchemaRegistry) -> None:
    whole = serialized(registry, ALL, DATA)
    cuts = [whole[:n] for n in range(5, len(whole), 7)]
    for found in through(spark, props(registry), [Record(cut) for cut in cuts]):
        assert isinstance(found, Failed), found
        assert "the data ends before the record does" in (found.cause or "")


def test_a_schema_that_the_registry_refuses_is_the_failure_of_its_records(spark: SparkSession, registry: SchemaRegistry) -> None:
    registry.register("orders-value", '"int"')
    registry.store.set_mode("closed-value", "READONLY")
    message = serialized(registry, "int", 5)
    shown = [b'"text"', b'"text"']
    records = [Record(shown[0]), Record(shown[1], topic="closed"), Record(shown[0], topic="open")]
    config = props(registry)
    refused, closed, written = through(spark, {**config, **JSON_VALUE}, records, config)
    assert message[0] == 0
    assert isinstance(refused, Failed)
    assert (refused.step, "incompatible with an earlier schema for subject" in (refused.cause or "")) == ("output.value", True)
    assert isinstance(closed, Failed)
    assert "Subject closed-value is in read-only mode" in (closed.cause or "")
    assert isinstance(written, Record)


def test_a_schema_that_is_not_there_fails_without_auto_registration(spark: SparkSession, registry: SchemaRegistry) -> None:
    config = props(registry, auto_register_schemas="false")
    [result] = through(spark, {**config, **JSON_VALUE}, [Record(b"5")], config)
    assert isinstance(result, Failed)
    assert "Subject 'orders-value' not found" in (result.cause or "")


def test_the_newest_schema_of_a_subject_is_written_with(spark: SparkSession, registry: SchemaRegistry) -> None:
    fields: list[Any] = [{"name": "a", "type": "int"}, {"name": "b", "type": ["null", "string"], "default": None}]
    id = registry.register("orders-value", {"type": "record", "name": "R", "fields": fields})
    registry.store.set_level("orders-value", "FULL")
    schema = {"type": "struct", "name": "R", "fields": [{"type": "int32", "field": "a"}]}
    value = json.dumps({"schema": schema, "payload": {"a": 3}}).encode()
    config = props(registry, auto_register_schemas="false", use_latest_version="true")
    typed = {**config, "value.converter": JSON}
    [result] = through(spark, typed, [Record(value)], config)
    assert isinstance(result, Record), result
    assert result.value == b"\0" + id.to_bytes(4) + b"\x06\x00"
    assert deserialized(registry, result.value) == {"a": 3, "b": None}


def test_a_schema_of_another_type_is_named(spark: SparkSession, registry: SchemaRegistry) -> None:
    id = registry.register("s", '{"type":"object"}', "JSON")
    [result] = through(spark, props(registry), [Record(b"\0" + id.to_bytes(4) + b"{}")])
    assert isinstance(result, Failed)
    assert f"The schema with the id {id} is of type JSON, not AVRO" in (result.cause or "")


def test_a_decimal_in_a_fixed_type_is_read_and_written(spark: SparkSession, registry: SchemaRegistry) -> None:
    schema = {"type": "fixed", "name": "Price", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2}
    message = serialized(registry, _of(schema), {"x": Decimal("-12.34")})
    latest = {"auto_register_schemas": "false", "use_latest_version": "true", "latest_compatibility_strict": "false"}
    [as_decimal] = through(spark, props(registry), [Record(message, topic="others")])
    [as_price] = through(spark, props(registry, **latest), [Record(message)])
    assert as_price.value == message
    assert deserialized(registry, as_decimal.value) == {"x": Decimal("-12.34")}
    assert as_decimal.value[5:] == message[5:] == b"\xff\xff\xfb\x2e"


def test_subjects_follow_the_strategy(spark: SparkSession, registry: SchemaRegistry) -> None:
    strategy = "io.confluent.kafka.serializers.subject.TopicRecordNameStrategy"
    message = serialized(registry, ALL, DATA)
    config = {**props(registry), "value.converter.value.subject.name.strategy": strategy}
    [result] = through(spark, config, [Record(message, topic="t")])
    assert isinstance(result, Record), result
    assert sorted(registry.store.subjects) == ["orders-value", "t-a.b.All"]
    assert AVRO in config.values()


def _of(kind: Any, name: str = "R") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": "x", "type": kind}]}


_FIXED, _ENUM = {"type": "fixed", "name": "F", "size": 2}, {"type": "enum", "name": "E", "symbols": ["A", "B"]}
OTHERS: list[tuple[Any, Any]] = [
    (_of({"type": "int", "connect.type": "int16"}), {"x": -300}),
    (_of({"type": "bytes", "logicalType": "decimal", "precision": 64, "scale": 0}), {"x": Decimal(10**20)}),
    (_of({"type": "string", "logicalType": "uuid"}), {"x": UUID(int=7)}),
    (_of({"type": "long", "logicalType": "local-timestamp-millis"}), {"x": datetime(2026, 11, 23, 7, 0, 0, 123000)}),
    (_of({"type": "long", "logicalType": "local-timestamp-micros"}), {"x": datetime(2026, 11, 23, 7, 0, 0, 123456)}),
    (_of({"type": "long", "logicalType": "time-micros"}), {"x": clock(12, 30, 1, 5)}),
    (_of({"type": "long", "logicalType": "timestamp-nanos"}), {"x": 2**62}),
    (_of({"type": "array", "items": {"type": "record", "name": "MapEntry", "namespace": "io.confluent.connect.avro", "fields": [
        {"name": "key", "type": "int"}, {"name": "value", "type": "string"}]}}), {"x": [{"key": 1, "value": "a"}]}),
    (_of({"type": "map", "values": {"type": "map", "values": ["null", "bytes"]}}), {"x": {"a": {"b": b"\0", "c": None}}}),
    (_of({"type": "array", "items": {"type": "array", "items": _of("boolean", "In")}}), {"x": [[], [{"x": True}]]}),
    (_of(["null", "long", _FIXED, _ENUM, {"type": "array", "items": "string"}, {"type": "map", "values": "float"}]),
     {"x": ["y"]}),
    (_of(["null", "long", _FIXED, _ENUM]), {"x": b"\1\2"}), (_of(["null", "long", _FIXED, _ENUM]), {"x": "B"}),
    (_of(_FIXED), {"x": b"\3\4"}), (_of("double"), {"x": float("inf")}), (_of("float"), {"x": 0.5}),
]  # fmt: skip
"""Types that `ALL` has not."""


def test_types_of_all_kinds_are_written_with_the_bytes_that_were_read(spark: SparkSession, registry: SchemaRegistry) -> None:
    records = [
        Record(serialized(registry, schema, data, f"other{n}"), topic=f"other{n}") for n, (schema, data) in enumerate(OTHERS)
    ]
    after = through(spark, props(registry, enhanced_avro_schema_support="true"), records)
    for record, found, (schema, data) in zip(records, after, OTHERS, strict=True):
        assert isinstance(found, Record), (schema, found)
        assert (found.value or b"")[5:] == (record.value or b"")[5:], schema
        text = registry.store.subjects[f"{record.topic}-value"][-1].schema.text
        plain = deserialized(registry, found.value)
        assert plain == data or "logicalType" in json.dumps(schema), (
            schema,
            plain,
        )  # logical types that Connect has not are left out
        assert json.loads(text)["fields"][0]["name"] == "x"
