"""Schemas that contain themselves, in all three formats, beside what confluent-kafka's serializers write and read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from pyspark.sql import SparkSession

from headrace.avro.from_connect import from_connect
from headrace.avro.mapping import AvroOptions
from headrace.avro.to_connect import to_connect
from headrace.testing.registry import SchemaRegistry
from headrace.values.recursion import folded
from headrace.values.schema import Schema
from headrace.values.schema_parsing import parse
from tests.avro import test_data as avro
from tests.avro.chains import props, through
from tests.avro.test_reference import Reference
from tests.json_schema import test_data as json_schema
from tests.protobuf import test_data as protobuf
from tests.transforms.chains import Failed, Record, config

TREE: dict[str, Any] = {
    "type": "record", "name": "Tree", "namespace": "a.b", "doc": "Of words", "fields": [
        {"name": "word", "type": "string"},
        {"name": "left", "type": ["null", "Tree"], "default": None},
        {"name": "others", "type": {"type": "array", "items": "Tree"}},
        {"name": "named", "type": {"type": "map", "values": "Tree"}},
        {"name": "leaf", "default": None, "type": ["null", "int", {"type": "record", "name": "Leaf", "fields": [
            {"name": "of", "type": ["null", "Tree"], "default": None}]}]},
    ],
}  # fmt: skip


def tree(word: str, **parts: Any) -> dict[str, Any]:
    return {"word": word, "left": None, "others": [], "named": {}, "leaf": None, **parts}


DATA = tree("a", left=tree("b", left=tree("c")), others=[tree("d", others=[tree("e")])], named={"x": tree("f")},
            leaf={"of": tree("g")})  # fmt: skip


def transformed(registry: SchemaRegistry, converter: str, *stages: dict[str, str]) -> dict[str, str]:
    return {**config(*stages), **props(registry, converter)}


def test_a_tree_of_avro_is_read_as_connect_has_it_and_written_with_the_same_bytes_and_names(
    spark: SparkSession, registry: SchemaRegistry
) -> None:
    data = avro.serialized(registry, TREE, DATA)
    [result] = through(spark, props(registry), [Record(data)], avro.TO_JSON)
    assert isinstance(result, Record), result
    assert json.loads(result.value or b"") == DATA | {"leaf": {"int": None, "Leaf": {"of": tree("g")}}}
    [result] = through(spark, props(registry), [Record(data)])
    assert isinstance(result, Record), result
    assert avro.deserialized(registry, result.value) == DATA
    assert (result.value or b"")[5:] == data[5:]


def test_its_schema_is_written_as_the_reference_writes_it(spark: SparkSession) -> None:
    reference = Reference.of(spark)
    for node in (TREE, {"type": "record", "name": "A", "fields": [{"name": "b", "type": ["null", {
        "type": "record", "name": "B", "fields": [{"name": "a", "type": ["null", "A"]}]}]}]}):  # fmt: skip
        ours = from_connect(to_connect(json.dumps(node), AvroOptions()).schema, AvroOptions())
        assert ours == reference.again(json.dumps(node))


@pytest.mark.parametrize(("stage", "after"), [
    ({"type": "MaskField$Value", "fields": "word", "replacement": "*"}, DATA | {"word": "*"}),
    ({"type": "ExtractField$Value", "field": "left"}, tree("b", left=tree("c"))),
    ({"type": "ExtractField$Value", "field": "left.left", "field.syntax.version": "V2"}, tree("c")),
])  # fmt: skip
def test_a_transform_finds_its_fields_at_any_depth(
    spark: SparkSession, registry: SchemaRegistry, stage: dict[str, str], after: Any
) -> None:
    chain = transformed(registry, avro.AVRO, stage)
    [result] = through(spark, chain, [Record(avro.serialized(registry, TREE, DATA))])
    assert isinstance(result, Record), result
    assert avro.deserialized(registry, result.value) == after
    written = json.loads(registry.store.subjects["orders-value"][-1].schema.text)
    written = written[1] if isinstance(written, list) else written  # of an optional field
    assert [field["type"] for field in written["fields"][1:3]] == [["null", "Tree"], {"type": "array", "items": "Tree"}]


def test_one_that_a_transform_changes_outside_only_needs_another_name(spark: SparkSession, registry: SchemaRegistry) -> None:
    add = {"type": "InsertField$Value", "static.field": "from", "static.value": "here"}
    rename = {"type": "SetSchemaMetadata$Value", "schema.name": "a.b.Root"}
    records = [Record(avro.serialized(registry, TREE, data)) for data in (tree("a"), DATA)]
    registry.store.levels[None] = "NONE"
    plain, refused = through(spark, transformed(registry, avro.AVRO, {**add, "static.field": "from!"}), records)
    assert isinstance(plain, Record), plain
    assert avro.deserialized(registry, plain.value) == tree("a", **{"from": "here"})
    assert isinstance(refused, Failed)
    assert "has the field from, which is not in the field left; a transform has changed the outermost a.b.Tree only" in str(
        refused.cause
    )
    renamed = through(spark, transformed(registry, avro.AVRO, add, rename), records)
    for result, data in zip(renamed, (tree("a"), DATA), strict=True):
        assert isinstance(result, Record), result
        assert avro.deserialized(registry, result.value) == data | {"from": "here"}


def test_data_that_is_nested_too_deep_is_an_error_of_its_record(spark: SparkSession, registry: SchemaRegistry) -> None:
    chain = {"type": "record", "name": "Chain", "fields": [{"name": "next", "type": ["null", "Chain"]}]}
    id = registry.register("orders-value", chain)
    deep, bottomless = (b"\0" + id.to_bytes(4) + b"\2" * depth + b"\0" for depth in (900, 100_000))
    outcomes, refused = through(spark, props(registry), [Record(deep), Record(bottomless)])
    assert isinstance(outcomes, Record), outcomes
    assert (outcomes.value or b"")[5:] == deep[5:]
    assert isinstance(refused, Failed)
    assert refused.cause == (
        "org.apache.kafka.common.errors.SerializationException: Error deserializing Avro message: the data is nested too deep"
    )


def test_json_with_schemas_has_no_form_for_it(spark: SparkSession, registry: SchemaRegistry) -> None:
    to = {"value.converter": avro.JSON}
    [result] = through(spark, props(registry), [Record(avro.serialized(registry, TREE, DATA))], to)
    assert isinstance(result, Failed)
    assert result.message.startswith("JsonConverter has no form for a schema that contains itself: set schemas.enable=false")


def proto_tree() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="tree.proto", package="shop", syntax="proto3")
    tree = file.message_type.add(name="Tree")
    tree.oneof_decl.add(name="kind")
    leaf = tree.nested_type.add(name="Leaf")
    leaf.field.add(name="of", number=1, type=11, type_name=".shop.Tree", label=1)
    tree.field.add(name="word", number=1, type=9, label=1)
    tree.field.add(name="left", number=2, type=11, type_name=".shop.Tree", label=1)
    tree.field.add(name="others", number=3, type=11, type_name=".shop.Tree", label=3)
    tree.field.add(name="leaf", number=4, type=11, type_name=".shop.Tree.Leaf", label=1, oneof_index=0)
    tree.field.add(name="text", number=5, type=9, label=1, oneof_index=0)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Tree"))


PROTO_TREE = proto_tree()
PROTO_DATA = {
    "word": "a", "left": {"word": "b", "left": {"word": "c"}}, "others": [{"word": "d", "others": [{"word": "e"}]}],
    "leaf": {"of": {"word": "g", "text": "t"}},
}  # fmt: skip


def test_a_tree_of_protobuf_is_read_and_written(spark: SparkSession, registry: SchemaRegistry) -> None:
    message = json_format.ParseDict(PROTO_DATA, PROTO_TREE())
    data = protobuf.serialized(registry, message)
    add = {"type": "InsertField$Value", "static.field": "from", "static.value": "here"}
    [plain] = through(spark, props(registry, protobuf.CONVERTER), [Record(data)])
    assert isinstance(plain, Record), plain
    assert PROTO_TREE.FromString((plain.value or b"")[6:]) == message
    [more] = through(spark, transformed(registry, protobuf.CONVERTER, add), [Record(data)])
    assert isinstance(more, Record), more
    read = PROTO_TREE.FromString((more.value or b"")[6:])
    read.DiscardUnknownFields()
    assert read == message
    assert (more.value or b"").endswith(b"here")


NODE: dict[str, Any] = {
    "title": "Tree", "type": "object", "properties": {
        "word": {"type": "string", "connect.index": 0},
        "left": {"oneOf": [{"type": "null"}, {"$ref": "#"}], "connect.index": 1},
        "others": {"type": "array", "items": {"$ref": "#"}, "connect.index": 2},
        "leaf": {"connect.index": 3, "oneOf": [{"type": "null"}, {"$ref": "#/definitions/Leaf"}]},
    },
    "definitions": {"Leaf": {"type": "object", "title": "Leaf", "properties": {
        "of": {"oneOf": [{"type": "null"}, {"$ref": "#"}]}}}},
}  # fmt: skip


def node(word: str, **parts: Any) -> dict[str, Any]:
    return {"word": word, "left": None, "others": [], "leaf": None, **parts}


NODE_DATA = node("a", left=node("b", left=node("c")), others=[node("d", others=[node("e")])], leaf={"of": node("g")})


def test_a_tree_of_json_is_read_and_written(spark: SparkSession, registry: SchemaRegistry) -> None:
    data = json_schema.serialized(registry, NODE, NODE_DATA)
    add = {"type": "InsertField$Value", "static.field": "from", "static.value": "here"}
    chains = (props(registry, json_schema.CONVERTER), transformed(registry, json_schema.CONVERTER, add))
    for chain, expected in zip(chains, (NODE_DATA, NODE_DATA | {"from": "here"}), strict=True):
        [result] = through(spark, chain, [Record(data)])
        assert isinstance(result, Record), result
        written = registry.store.subjects["orders-value"][-1].schema.text
        deserializer: Any = JSONDeserializer
        with avro.client(registry) as confluent:
            reader = deserializer(written, schema_registry_client=confluent, conf={"validate": True})
            assert reader(result.value, avro.VALUE) == expected
    plain, more = (json.loads(version.schema.text) for version in registry.store.subjects["orders-value"][-2:])
    assert plain["properties"]["left"] == {"connect.index": 1, "oneOf": [{"type": "null"}, {"$ref": "#"}]}
    assert more["properties"]["left"]["oneOf"][1]["properties"]["left"]["oneOf"][1] == {"$ref": "#/properties/left/oneOf/1"}


def test_a_schema_whose_fields_were_looked_at_is_folded() -> None:
    schema = to_connect(json.dumps(TREE), AvroOptions(), 3).schema
    assert schema is not None
    assert parse(schema.text()) == schema
    opened = schema.same_but(fields=schema.members)
    assert opened != schema
    assert folded(opened) == schema
    assert folded(schema.same_but(fields={**schema.members, "more": Schema("string")})) != schema
