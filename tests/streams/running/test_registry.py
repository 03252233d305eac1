"""Streams whose records have their schemas in a registry."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import fastavro
import pytest
from pyspark.sql import functions as F

from headrace.errors import StreamsError
from headrace.streams import Consumed, Materialized, Produced, Serdes, StreamsBuilder
from headrace.testing.registry import SchemaRegistry

ORDER = {"type": "record", "name": "Order", "namespace": "shop", "fields": [
    {"name": "customer", "type": "string"},
    {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
    {"name": "day", "type": {"type": "int", "logicalType": "date"}},
    {"name": "size", "type": {"type": "enum", "name": "Size", "symbols": ["S", "L"]}},
    {"name": "tags", "type": {"type": "array", "items": "string"}},
    {"name": "note", "type": ["null", "string"], "default": None},
]}  # fmt: skip
VALUE = {"customer": "anna", "price": Decimal("13.12"), "day": date(2026, 11, 23), "size": "L", "tags": ["a"], "note": None}


@pytest.fixture
def registry() -> Iterator[SchemaRegistry]:
    with SchemaRegistry() as registry:
        yield registry


def encoded(registry: SchemaRegistry, schema: Any, value: Any, subject: str = "orders-value") -> bytes:
    data, id = io.BytesIO(), registry.register(subject, schema)
    fastavro.schemaless_writer(data, schema, value)
    return b"\0" + id.to_bytes(4) + data.getvalue()


def decoded(registry: SchemaRegistry, data: bytes | None) -> Any:
    assert data is not None
    schema = json.loads(registry.store.schemas[int.from_bytes(data[1:5])].text)
    return fastavro.schemaless_reader(io.BytesIO(data[5:]), schema, None)


def test_avro_is_read_transformed_and_written_with_the_schema_of_a_subject(drive, registry):
    source = encoded(registry, ORDER, VALUE)
    orders = Serdes.avro("orders-value", registry.url)
    builder = StreamsBuilder()
    stream = builder.stream("orders", Consumed.with_(Serdes.string(), orders))
    stream.map_values(lambda v: v.withField("note", F.concat(v["size"], F.lit("!")))).to(
        "noted", Produced.with_(Serdes.string(), orders)
    )
    with drive(builder) as driver:
        driver.pipe("orders", [(b"k", source, 1, None), (b"t", None, 2, None)])
        record, tombstone = driver.read("noted")
        assert decoded(registry, record[5]) == VALUE | {"note": "L!"}
        assert record[5][:5] == source[:5]
        assert tombstone[5] is None


def test_what_is_written_has_no_header_of_the_schema_that_it_was_read_with(drive, registry):
    source = encoded(registry, ORDER, VALUE)
    guid = bytes.fromhex(registry.store.schemas[int.from_bytes(source[1:5])].guid.replace("-", ""))
    orders = Serdes.avro("orders-value", registry.url)
    builder = StreamsBuilder()
    builder.stream("orders", Consumed.with_(Serdes.string(), orders)).to("copies", Produced.with_(Serdes.string(), orders))
    with drive(builder) as driver:
        driver.pipe("orders", [(b"k", source[5:], 1, [("__value_schema_id", b"\1" + guid), ("h", b"1")])])
        [copy] = driver.read("copies")
    assert decoded(registry, copy[5]) == VALUE
    assert [tuple(header) for header in copy[6]] == [("h", b"1")]


def test_records_of_other_versions_are_fitted_to_the_schema_while_the_application_runs(drive, registry):
    registry.store.levels[None] = "NONE"
    fields: Any = ORDER["fields"]
    old, new = ({**ORDER, "fields": some} for some in (fields[:5], [*fields, {"name": "more", "type": "int"}]))
    orders, text = Serdes.avro(json.dumps(ORDER), registry.url), Serdes.string()
    builder = StreamsBuilder()
    builder.stream("orders", Consumed.with_(text, orders)).to("copies", Produced.with_(text, orders))
    with drive(builder) as driver:
        for number, schema in enumerate((old, ORDER, new)):
            driver.pipe("orders", [(b"k", encoded(registry, schema, VALUE | {"more": 5}), number, None)])
        copies = [decoded(registry, row[5]) for row in driver.read("copies")]
    assert copies == [VALUE, VALUE, VALUE]


def test_state_of_such_values_is_kept_and_counted(drive, registry):
    orders = Serdes.avro(json.dumps(ORDER), registry.url)
    builder = StreamsBuilder()
    table = builder.table("orders", Consumed.with_(Serdes.string(), orders))
    totals = table.group_by(lambda k, v: (v["customer"], v)).reduce(
        lambda a, b: b, lambda a, b: a, Materialized.with_(Serdes.string(), orders)
    )
    totals.to_stream().to("last", Produced.with_(Serdes.string(), orders))
    with drive(builder) as driver:
        driver.pipe("orders", [(b"k", encoded(registry, ORDER, VALUE), 1, None)])
        assert [decoded(registry, row[5]) for row in driver.read("last")] == [VALUE]
    assert sorted(registry.store.subjects) == ["last-value", "orders-value"]  # none of internal topics


def test_a_plan_of_each_batch_asks_the_registry_for_nothing(drive, registry):
    source = encoded(registry, ORDER, VALUE)
    orders = Serdes.avro("orders-value", registry.url)
    builder = StreamsBuilder()
    stream = builder.stream("orders", Consumed.with_(Serdes.string(), orders))
    stream.map_values(lambda v: v.withField("day", F.current_date())).to("today", Produced.with_(Serdes.string(), orders))
    with drive(builder) as driver:
        driver.pipe("orders", [(b"k", source, 1, None)])
        assert len(driver.read("today")) == 1
        known = list(registry.requests)
        driver.pipe("orders", [(b"k", source, 2, None)])
        assert len(driver.read("today")) == 1
        assert registry.requests == known


@pytest.mark.parametrize("name", ["protobuf", "json_schema"])
def test_protobuf_and_json_schema_go_the_same_way(drive, registry, name):
    text = {
        "protobuf": 'syntax = "proto3"; message Order { string customer = 1; int64 n = 2; repeated int32 many = 3; }',
        "json_schema": json.dumps({"type": "object", "properties": {
            "customer": {"type": "string"}, "n": {"type": "integer"}, "many": {"type": "array", "items": {"type": "integer"}}}}),
    }[name]  # fmt: skip
    orders = getattr(Serdes, name)(text, {"schema.registry.url": registry.url})
    builder = StreamsBuilder()
    builder.stream("orders", Consumed.with_(Serdes.string(), orders)).map_values(lambda v: v.withField("n", v["n"] * 2)).to(
        "copies", Produced.with_(Serdes.string(), orders)
    )
    with drive(builder) as driver:
        driver.create_input_topic("orders", Serdes.string(), orders).pipe_input(
            "k", {"customer": "anna", "n": 21, "many": [1, 2]}, 1
        )
        [record] = driver.create_output_topic("copies", Serdes.string(), orders).read_records()
    assert (record.value["customer"], record.value["n"], record.value["many"]) == ("anna", 42, [1, 2])
    assert sorted(registry.store.subjects) == ["copies-value", "orders-value"]


def test_what_cannot_be_read_or_written_is_said(drive, registry):
    orders = Serdes.avro(json.dumps(ORDER), registry.url)
    builder = StreamsBuilder()
    builder.stream("orders", Consumed.with_(Serdes.string(), orders)).to("copies", Produced.with_(Serdes.string(), orders))
    with drive(builder) as driver, pytest.raises(Exception, match="orders-0 offset 0 cannot be read by the avro serde"):
        driver.pipe("orders", [(b"k", b"no avro", 1, None)])
    with drive(builder) as driver, pytest.raises(Exception, match="cannot be read by the avro serde"):
        driver.pipe("orders", [(b"k", b"\0" + (999).to_bytes(4), 1, None)])
    builder = StreamsBuilder()
    stream = builder.stream("orders", Consumed.with_(Serdes.string(), orders))
    stream.map_values(lambda v: F.struct(v["customer"].alias("name"))).to("names", Produced.with_(Serdes.string(), orders))
    with pytest.raises(
        StreamsError, match="The value of KSTREAM-SINK-0000000002 cannot be written with avro: The Avro schema has"
    ):
        drive(builder)


def test_json_without_a_required_property_is_not_written(drive, registry):
    inner = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    schema = {"type": "object", "properties": {"id": {"type": "integer"}, "in": inner}, "required": ["id"]}
    options = {"schema.registry.url": registry.url, "use.optional.for.nonrequired": "true"}
    orders = Serdes.json_schema(json.dumps(schema), options)

    def written(change):
        builder = StreamsBuilder()
        stream = builder.stream("orders", Consumed.with_(Serdes.string(), orders))
        stream.map_values(change).to("copies", Produced.with_(Serdes.string(), orders))
        return drive(builder)

    with pytest.raises(
        StreamsError, match="cannot be written with json_schema: the registered schema requires id, which is not in"
    ):
        written(lambda v: F.struct(v["id"].alias("name")))
    id = registry.register("orders-value", schema, "JSON").to_bytes(4)
    with written(lambda v: F.struct(v["id"].cast("int").alias("id"), v["in"].alias("in"))) as driver:
        driver.pipe("orders", [(b"k", b"\0" + id + b'{"id":1}', 1, None), (b"k", b"\0" + id + b'{"id":2,"in":{"x":3}}', 2, None)])
        assert [json.loads(row[5][5:]) for row in driver.read("copies")] == [{"id": 1, "in": None}, {"id": 2, "in": {"x": 3}}]
        with pytest.raises(Exception, match=r"cannot be written: null in the required property in\.x"):
            driver.pipe("orders", [(b"k", b"\0" + id + b'{"id":1,"in":{}}', 3, None)])


def test_json_without_a_property_that_is_not_required_is_written_without_it(drive, registry):
    inner = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}, "required": ["y"]}
    properties = {"id": {"type": "integer"}, "note": {"type": "string"}, "in": inner}
    schema = {"type": "object", "properties": properties, "required": ["id"]}
    orders = Serdes.json_schema(json.dumps(schema), registry.url)
    builder = StreamsBuilder()
    stream = builder.stream("orders", Consumed.with_(Serdes.string(), orders))
    stream.map_values(lambda v: v.withField("id", v["id"] + 1)).to("copies", Produced.with_(Serdes.string(), orders))
    id = registry.register("orders-value", schema, "JSON").to_bytes(4)
    texts = (b'{"id":1}', b'{"id":2,"in":{"y":4}}', b'{"id":3,"note":"a","in":{"y":4,"x":5}}')
    with drive(builder) as driver:
        driver.pipe("orders", [(b"k", b"\0" + id + text, 1, None) for text in texts])
        values = [json.loads(row[5][5:]) for row in driver.read("copies")]
        assert values == [{**json.loads(text), "id": number} for number, text in enumerate(texts, 2)]
    for text, name in ((b"{}", "id"), (b'{"id":1,"in":{}}', r"in\.y")):
        with drive(builder) as driver, pytest.raises(Exception, match=f"null in the required property {name}"):
            driver.pipe("orders", [(b"k", b"\0" + id + text, 3, None)])
