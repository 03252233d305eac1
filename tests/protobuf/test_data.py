"""Protobuf's bytes as Connect data and back, beside what Google's library and confluent-kafka's serializers write and read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, timestamp_pb2, wrappers_pb2
from pyspark.sql import SparkSession

from headrace.testing.registry import SchemaRegistry
from tests.avro.chains import props, through
from tests.avro.test_data import TO_JSON, VALUE, client, in_topic
from tests.transforms.chains import JSON, Failed, Record

CONVERTER = "io.confluent.connect.protobuf.ProtobufConverter"
TYPE = descriptor_pb2.FieldDescriptorProto
FIELDS = [
    ("d", "double"), ("f", "float"), ("i32", "int32"), ("i64", "int64"), ("u32", "uint32"), ("u64", "uint64"), ("s32", "sint32"),
    ("s64", "sint64"), ("x32", "fixed32"), ("x64", "fixed64"), ("y32", "sfixed32"), ("y64", "sfixed64"), ("b", "bool"),
    ("s", "string"), ("raw", "bytes"), ("size", ".shop.Order.Size"), ("inner", ".shop.Order.Inner"),
    ("at", ".google.protobuf.Timestamp"), ("nick", ".google.protobuf.StringValue"), ("many", "repeated sint32"),
    ("texts", "repeated string"), ("inners", "repeated .shop.Order.Inner"), ("sizes", "repeated .shop.Order.Size"),
    ("card", "oneof string"), ("cash", "oneof .shop.Order.Inner"), ("maybe", "optional int32"),
]  # fmt: skip


def order_file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="order.proto", package="shop", syntax="proto3")
    file.dependency.extend(["google/protobuf/timestamp.proto", "google/protobuf/wrappers.proto"])
    order = file.message_type.add(name="Order")
    order.oneof_decl.add(name="payment")
    inner = order.nested_type.add(name="Inner")
    inner.field.add(name="a", number=1, type=5, label=1)
    entry = order.nested_type.add(name="CountsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=9, label=1)
    entry.field.add(name="value", number=2, type=3, label=1)
    size = order.enum_type.add(name="Size")
    size.value.add(name="S", number=0)
    size.value.add(name="L", number=5)
    for number, (name, kind) in enumerate(FIELDS, 1):
        label, _, kind = kind.rpartition(" ")
        field = order.field.add(name=name, number=number, label=3 if label == "repeated" else 1)
        if kind.startswith("."):
            field.type, field.type_name = (TYPE.TYPE_ENUM if kind.endswith("Size") else TYPE.TYPE_MESSAGE), kind
        else:
            field.type = TYPE.Type.Value(f"TYPE_{kind.upper()}")
        if label == "oneof":
            field.oneof_index = 0
        if label == "optional":
            order.oneof_decl.add(name=f"_{name}")
            field.proto3_optional, field.oneof_index = True, 1
    order.field.add(name="counts", number=40, type=11, type_name=".shop.Order.CountsEntry", label=3)
    other = file.message_type.add(name="Other")
    other.field.add(name="x", number=1, type=9, label=1)
    return file


def classes() -> dict[str, Any]:
    pool = descriptor_pool.DescriptorPool()
    for known_schemas in (timestamp_pb2, wrappers_pb2):
        pool.AddSerializedFile(known_schemas.DESCRIPTOR.serialized_pb)
    pool.Add(order_file())
    names = ("shop.Order", "shop.Other", "shop.Order.Inner")
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for name in names}


CLASSES = classes()
DATA: dict[str, Any] = {
    "d": -0.5, "f": 1.25, "i32": -(2**31), "i64": -5, "u32": 2**32 - 1, "u64": 2**63 - 1, "s32": -7, "s64": -(2**62),
    "x32": 2**31, "x64": 9, "y32": -9, "y64": -10, "b": True, "s": 'é"\n\U0001f600', "raw": "AP8=",
    "size": "L", "inner": {"a": 3}, "at": "2026-11-23T07:00:00.123Z", "nick": "", "many": [0, -1, 300], "texts": ["a", ""],
    "inners": [{"a": 1}, {}], "sizes": ["L", "S"], "cash": {"a": 4}, "maybe": 0, "counts": {"k": 5, "": 0},
}  # fmt: skip
CONNECT = DATA | {
    "at": 1795417200123, "inners": [{"a": 1}, {"a": 0}], "payment_0": {"card": None, "cash": {"a": 4}},
}  # fmt: skip
del CONNECT["cash"]


def message(name: str, data: Any) -> Any:
    return json_format.ParseDict(data, CLASSES[name]())


def serialized(registry: SchemaRegistry, found: Any, topic: str = "orders") -> bytes:
    serializer: Any = ProtobufSerializer
    with client(registry) as confluent:
        data = serializer(type(found), confluent, {"use.deprecated.format": False})(found, in_topic(topic))
    assert isinstance(data, bytes)
    return data


def test_every_type_is_read_as_connect_has_it(spark: SparkSession, registry: SchemaRegistry) -> None:
    [result] = through(spark, props(registry, CONVERTER), [Record(serialized(registry, message("shop.Order", DATA)))], TO_JSON)
    assert isinstance(result, Record), result
    assert json.loads(result.value or b"") == CONNECT


def test_what_was_read_is_written_again(spark: SparkSession, registry: SchemaRegistry) -> None:
    data = message("shop.Order", {name: value for name, value in DATA.items() if name != "nick"})  # which would be no wrapper
    config = props(registry, CONVERTER, optional_for_nullables="true")
    registry.store.levels[None] = "NONE"
    outcomes, tombstone = through(spark, config, [Record(serialized(registry, data)), Record(None)])
    assert isinstance(outcomes, Record), outcomes
    assert tombstone.value is None
    payload = (outcomes.value or b"")[6:]
    assert CLASSES["shop.Order"].FromString(payload) == data
    text = registry.store.subjects["orders-value"][-1].schema.text
    assert text.startswith('syntax = "proto3";\n\nimport "google/protobuf/timestamp.proto";\n')
    assert "map" not in text  # entries are messages, as Confluent's converter writes them
    [again] = through(spark, config, [outcomes])
    assert again.value == outcomes.value  # bytes and id


def test_absent_fields_are_defaults_or_null(spark: SparkSession, registry: SchemaRegistry) -> None:
    given = Record(serialized(registry, message("shop.Order", {})))
    plain, structs = (
        through(spark, props(registry, CONVERTER, generate_struct_for_nulls=flag), [given], TO_JSON)[0]
        for flag in ("false", "true")
    )
    result = json.loads(plain.value or b"")
    assert result == {
        **dict.fromkeys(("d", "f", "i32", "i64", "u32", "u64", "s32", "s64", "x32", "x64", "y32", "y64"), 0),
        "b": False, "s": "", "raw": "", "size": "S", "inner": None, "at": None, "nick": None, "many": [], "texts": [],
        "inners": [], "sizes": [], "payment_0": None, "maybe": None, "counts": {},
    }  # fmt: skip
    assert json.loads(structs.value or b"")["inner"] == {"a": 0}


def test_messages_other_than_the_first_are_found_by_their_indexes(spark: SparkSession, registry: SchemaRegistry) -> None:
    registry.store.levels[None] = "NONE"
    given = [serialized(registry, message("shop.Other", {"x": "1"})), serialized(registry, message("shop.Order.Inner", {"a": 2})),
             serialized(registry, message("shop.Order", {"i32": 3}))]  # fmt: skip
    assert [data[5:8] for data in given[:2]] == [b"\x02\x02\x0a", b"\x04\x00\x00"]
    outcomes = [json.loads(record.value) for record in through(spark, props(registry, CONVERTER), [*map(Record, given)], TO_JSON)]
    assert (outcomes[0], outcomes[1], outcomes[2]["i32"]) == ({"x": "1"}, {"a": 2}, 3)


def test_the_newest_schema_of_the_subject_decides_on_fields_and_indexes(spark: SparkSession, registry: SchemaRegistry) -> None:
    text = 'syntax = "proto3"; package a; message First { } message R { map<string, int32> m = 3; optional sint32 b = 7; }'
    registry.register("orders-value", text, "PROTOBUF")
    typed = {"schema": {"type": "struct", "name": "a.R", "optional": False, "fields": [
        {"type": "int32", "optional": True, "field": "b"},
        {"type": "map", "optional": False, "keys": {"type": "string", "optional": False},
         "values": {"type": "int32", "optional": False}, "field": "m"}]}, "payload": {"b": 0, "m": {"": 0}}}  # fmt: skip
    settings = {"auto_register_schemas": "false", "use_latest_version": "true", "latest_compatibility_strict": "false"}
    to = props(registry, CONVERTER, **settings)
    chain = {**to, "value.converter": JSON, "value.converter.schemas.enable": "true"}
    [result] = through(spark, chain, [Record(json.dumps(typed).encode())], to)
    assert isinstance(result, Record), result
    # indexes [1]; field 3: an entry with key and value; field 7: zigzag 0
    assert result.value == b"\0\0\0\0\x01" + b"\x02\x02" + b"\x1a\x04\x0a\x00\x10\x00" + b"\x38\x00"


def test_a_number_that_an_unsigned_type_of_32_bits_lacks_is_an_error_of_its_record(
    spark: SparkSession, registry: SchemaRegistry
) -> None:
    fields = {"a": "uint32", "b": "fixed32", "c": "google.protobuf.UInt32Value"}
    text = " ".join(f"{kind} {name} = {n};" for n, (name, kind) in enumerate(fields.items(), 1))
    imports = 'import "google/protobuf/wrappers.proto";'
    registry.register("orders-value", f'syntax = "proto3"; {imports} message R {{ {text} }}', "PROTOBUF")
    struct = {"type": "struct", "name": "R", "fields": [{"type": "int64", "optional": True, "field": name} for name in fields]}
    payloads = [dict.fromkeys(fields, 2**32 - 1)]
    payloads += [dict.fromkeys(fields, 0) | {name: number} for name in fields for number in (2**32, -1)]
    settings = {"auto_register_schemas": "false", "use_latest_version": "true", "latest_compatibility_strict": "false"}
    to = props(registry, CONVERTER, **settings)
    chain = {**to, "value.converter": JSON, "value.converter.schemas.enable": "true"}
    records = [Record(json.dumps({"schema": struct, "payload": payload}).encode()) for payload in payloads]
    written, *failed = through(spark, chain, records, to)
    assert isinstance(written, Record), written
    [again] = through(spark, to, [written], TO_JSON)
    assert json.loads(again.value or b"") == payloads[0]
    causes = [(outcome.cause or "").rpartition(": ")[2] for outcome in failed]
    kinds = {"a": "uint32", "b": "fixed32", "c": "uint32"}
    expected = [
        f"the integer {number} does not fit into {kinds[name]} (field {name})" for name in kinds for number in (2**32, -1)
    ]
    assert causes == expected


def test_confluent_kafka_reads_what_is_written(spark: SparkSession, registry: SchemaRegistry) -> None:
    [result] = through(spark, props(registry, CONVERTER), [Record(serialized(registry, message("shop.Other", {"x": "1"})))])
    deserializer: Any = ProtobufDeserializer
    read = deserializer(CLASSES["shop.Other"], {"use.deprecated.format": False})(result.value, VALUE)
    assert json_format.MessageToDict(read) == {"x": "1"}


def test_parts_of_a_message_are_merged_and_lists_may_come_in_pieces(spark: SparkSession, registry: SchemaRegistry) -> None:
    text = """syntax = "proto3"; message R { I i = 1; repeated int32 n = 2; oneof o { int32 a = 3; I b = 4; } int32 last = 5; }
        message I { int32 x = 1; int32 y = 2; }"""
    id = registry.register("orders-value", text, "PROTOBUF")
    payload = bytes.fromhex("0a0208010a02100210011202020318072202080122021002280128023a01ff4005")
    [result] = through(spark, props(registry, CONVERTER), [Record(b"\0" + id.to_bytes(4) + b"\0" + payload)], TO_JSON)
    assert isinstance(result, Record), result
    assert json.loads(result.value or b"") == {
        "o_0": {"a": None, "b": {"x": 1, "y": 2}}, "i": {"x": 1, "y": 2}, "n": [1, 2, 3], "last": 2,
    }  # fmt: skip


DEFAULTS = """syntax = "proto2"; package shop; message R {
    optional int32 i = 1 [default = -5]; optional uint64 u = 2 [default = 18446744073709551615];
    optional float f = 3 [default = 1.5]; optional double d = 4 [default = -inf]; optional bool b = 5 [default = true];
    optional string s = 6 [default = "a\\n"]; optional bytes raw = 7 [default = "\\377a"]; optional E e = 8 [default = B];
    optional int32 none = 9; optional E first = 10; optional In in = 11; repeated int32 many = 12;
    oneof o { int32 one = 13 [default = 3]; }
    optional double n = 14 [default = nan]; enum E { A = 3; B = 7; } message In { optional int32 x = 1 [default = 2]; } }"""
DEFAULT = {
    "o_0": None, "i": -5, "u": -1, "f": 1.5, "d": "-Infinity", "b": True, "s": "a\n", "raw": "/2E=", "e": "B", "none": 0,
    "first": "A", "in": None, "many": [], "n": "NaN",
}  # fmt: skip


@pytest.mark.parametrize(("settings", "expected"), [
    ({"optional_for_proto2": "false"}, DEFAULT),
    ({"optional_for_proto2": "true"}, {**dict.fromkeys(DEFAULT), "many": []}),
    ({"generate_struct_for_nulls": "true"}, DEFAULT | {"in": {"x": 2}}),
    ({"optional_for_proto2": "false", "int_for_enums": "true"}, DEFAULT | {"e": 7, "first": 3}),
])  # fmt: skip
def test_an_absent_field_of_proto2_is_its_default_or_null(
    spark: SparkSession, registry: SchemaRegistry, settings: dict[str, str], expected: dict[str, Any]
) -> None:
    id = registry.register("orders-value", DEFAULTS, "PROTOBUF")
    record = Record(b"\0" + id.to_bytes(4) + b"\0" + b"\x40\x09")  # e = 9, a number that the closed enum does not have
    [result] = through(spark, props(registry, CONVERTER, **settings), [record], TO_JSON)
    assert isinstance(result, Record), result
    assert json.loads(result.value or b"") == expected


def test_an_absent_message_of_a_value_is_its_zero_with_structs_for_nulls(spark: SparkSession, registry: SchemaRegistry) -> None:
    text = """syntax = "proto3"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
        import "google/type/date.proto"; message R { google.protobuf.Timestamp at = 1; google.protobuf.StringValue nick = 2;
        optional int32 maybe = 3; google.type.Date day = 4; oneof o { string card = 5; } }"""
    id = registry.register("orders-value", text, "PROTOBUF")
    config = props(registry, CONVERTER, generate_struct_for_nulls="true")
    [result] = through(spark, config, [Record(b"\0" + id.to_bytes(4) + b"\0")], TO_JSON)
    assert isinstance(result, Record), result
    assert json.loads(result.value or b"") == {"at": 0, "nick": "", "maybe": 0, "day": None, "o_0": None}


REQUIRED = """syntax = "proto2"; message R { required int32 a = 1; required string b = 2; optional In in = 3;
    repeated In many = 4; map<string, In> named = 5; oneof o { In inside = 6; }
    message In { required bool c = 1; optional int32 d = 2; } }"""


@pytest.mark.parametrize(("payload", "expected"), [
    ("", "a, b"), ("0801", "b"), ("08011200 1a00", "in.c"), ("08011200 22020801 2200", "many[1].c"),
    ("08011200 2a050a016b1200", "named.c"), ("08011200 3200", "inside.c"),
    ("08011200 1a020801 1a021002", {"in": {"c": True, "d": 2}}),  # its parts are merged first
    ("08011200 2a070a016b12020801 2a030a016c", {"named": {"k": {"c": True, "d": 0}, "l": {"c": False, "d": 0}}}),
    ("08011200", {"in": {"c": False, "d": 0}}),
])  # fmt: skip
def test_a_message_without_a_required_field_cannot_be_read(
    spark: SparkSession, registry: SchemaRegistry, payload: str, expected: str | dict[str, Any]
) -> None:
    """Messages that are absent are read as those without fields."""
    id = registry.register("orders-value", REQUIRED, "PROTOBUF")
    record = Record(b"\0" + id.to_bytes(4) + b"\0" + bytes.fromhex(payload))
    [result] = through(spark, props(registry, CONVERTER, generate_struct_for_nulls="true"), [record], TO_JSON)
    if isinstance(expected, dict):
        assert isinstance(result, Record), result
        value = json.loads(result.value or b"")
        assert {name: value[name] for name in expected} == expected
    else:
        assert isinstance(result, Failed), result
        assert (result.cause or "").endswith(f"Error deserializing Protobuf message: Message missing required fields: {expected}")


def test_null_cannot_be_written_for_a_required_field(spark: SparkSession, registry: SchemaRegistry) -> None:
    registry.register("orders-value", "message R { required int32 a = 1; optional int32 b = 2; }", "PROTOBUF")
    struct = {"type": "struct", "name": "R", "fields": [{"type": "int32", "optional": True, "field": name} for name in "ab"]}
    settings = {"auto_register_schemas": "false", "use_latest_version": "true", "latest_compatibility_strict": "false"}
    to = props(registry, CONVERTER, **settings)
    values = [json.dumps({"schema": struct, "payload": {"a": a, "b": None}}).encode() for a in (0, None)]
    chain = {**to, "value.converter": JSON, "value.converter.schemas.enable": "true"}
    written, failed = through(spark, chain, map(Record, values), to)
    assert isinstance(written, Record), written
    assert (written.value or b"")[5:] == b"\0\x08\0"
    assert isinstance(failed, Failed), failed
    assert "Message missing required fields: a" in (failed.cause or "")


@pytest.mark.parametrize("field", [
    "string s = 1;", "repeated string s = 1;", "google.protobuf.StringValue s = 1;", "map<string, int32> s = 1;",
])  # fmt: skip
def test_a_text_of_proto3_that_is_no_utf_8_cannot_be_read(spark: SparkSession, registry: SchemaRegistry, field: str) -> None:
    text = f'syntax = "proto3"; import "google/protobuf/wrappers.proto"; message R {{ {field} }}'
    id = registry.register("orders-value", text, "PROTOBUF")
    inner = b"\xc3\xa9\xff" if field.startswith(("s", "r")) else b"\x0a\x03\xc3\xa9\xff"
    data = b"\0" + id.to_bytes(4) + b"\0\x0a" + bytes([len(inner)])
    [valid, failed] = through(
        spark, props(registry, CONVERTER), [Record(data + inner[:-1] + b"!"), Record(data + inner)], TO_JSON
    )
    assert isinstance(valid, Record), valid
    assert "\u00e9!" in json.dumps(json.loads(valid.value or b""), ensure_ascii=False)
    assert isinstance(failed, Failed), failed
    assert (failed.cause or "").endswith("Error deserializing Protobuf message: Protocol message had invalid UTF-8")


def test_bytes_of_a_text_of_proto2_that_are_no_utf_8_are_replaced(spark: SparkSession, registry: SchemaRegistry) -> None:
    id = registry.register("orders-value", "message R { optional string s = 1; }", "PROTOBUF")
    record = Record(b"\0" + id.to_bytes(4) + b"\0\x0a\x02\xffa")
    [result] = through(spark, props(registry, CONVERTER), [record], TO_JSON)
    assert isinstance(result, Record), result
    assert json.loads(result.value or b"") == {"s": "\ufffda"}


@pytest.mark.parametrize("kind", ["string", "int32", "int64", "boolean", "bytes", "float64"])
def test_a_primitive_is_a_wrapper_message(spark: SparkSession, registry: SchemaRegistry, kind: str) -> None:
    payload = {"string": "x", "boolean": True, "bytes": "AP8="}.get(kind, 7)
    name = {"float64": "double"}.get(kind, kind)
    typed = {"schema": {"type": name, "optional": False}, "payload": payload}
    to = props(registry, CONVERTER)
    chain = {**to, "value.converter": JSON, "value.converter.schemas.enable": "true"}
    [result] = through(spark, chain, [Record(json.dumps(typed).encode())], to)
    assert isinstance(result, Record), result
    [again] = through(spark, to, [result], TO_JSON)
    assert json.loads(again.value or b"") == payload


@pytest.mark.parametrize(("data", "why"), [
    (b"\0\0\0\0\x01", "The indexes of the message cannot be read: the data ends before the record does"),
    (b"\0\0\0\0\x01\x02\x08", "The Protobuf schema has no message with the indexes [4]"),
    (b"\0\0\0\0\x01\x00\x0a\x05x", "the data ends before the record does (3 bytes of payload)"),
    (b"\0\0\0\0\x01\x00\x07", "a field has the number 0"),
    (b"\0\0\0\0\x63\x00", "refuses (404, error 40403): Schema 99 not found"),
])  # fmt: skip
def test_data_that_cannot_be_read_fails_with_one_sentence(
    spark: SparkSession, registry: SchemaRegistry, data: bytes, why: str
) -> None:
    registry.register("orders-value", 'syntax = "proto3"; message R { string a = 1; }', "PROTOBUF")
    [result] = through(spark, props(registry, CONVERTER), [Record(data)])
    assert isinstance(result, Failed), result
    assert result.message == "Failed to deserialize data for topic orders to Protobuf: "
    assert why in (result.cause or "")
