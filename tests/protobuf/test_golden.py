"""Messages that confluent-kafka's serializer has written are read, and written so that its deserializer reads the same."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, json_format, message_factory, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from pyspark.sql import SparkSession

from headrace.testing.registry import SchemaRegistry
from tests.avro.chains import props, through
from tests.avro.test_data import TO_JSON, client, in_topic
from tests.protobuf.test_data import CONVERTER
from tests.protobuf.test_parse import descriptor
from tests.transforms.chains import Record

WELL_KNOWN = (any_pb2, descriptor_pb2, timestamp_pb2, wrappers_pb2)


def message_class(name: str, *files: FileDescriptorProto) -> Any:
    """The class of a message of these files."""
    pool = descriptor_pool.DescriptorPool()
    for module in WELL_KNOWN:
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    for file in files:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


def file_of(name: str, messages: Iterable[dict[str, Any]], **fields: Any) -> FileDescriptorProto:
    data = {"name": name, "package": "shop", "syntax": "proto3", "messageType": list(messages), **fields}
    return json_format.ParseDict(data, FileDescriptorProto())


def field(name: str, number: int, type: str, label: str = "OPTIONAL") -> dict[str, Any]:
    typed = {"type": "TYPE_MESSAGE", "typeName": type} if type.startswith(".") else {"type": f"TYPE_{type.upper()}"}
    return {"name": name, "number": number, "label": f"LABEL_{label}", **typed}


def serialized(registry: SchemaRegistry, message: Any) -> bytes:
    serializer: Any = ProtobufSerializer
    with client(registry) as confluent:
        data = serializer(type(message), confluent, {"use.deprecated.format": False})(message, in_topic("orders"))
    assert isinstance(data, bytes)
    return data


def deserialized(type: Any, data: bytes | None) -> Any:
    deserializer: Any = ProtobufDeserializer
    return deserializer(type, {"use.deprecated.format": False})(data, in_topic("orders"))


OWN_SCHEMA = {"auto_register_schemas": "false", "use_latest_version": "true", "latest_compatibility_strict": "false",
              "enhanced_protobuf_schema_support": "true"}  # fmt: skip
"""Options by which a message is written with the schema that it was read by."""
SAME: dict[str, Any] = {
    "d": -1.5, "f": 0.25, "i32": -1, "i64": -(2**60), "u32": 2**32 - 1, "u64": 7, "s32": -2, "s64": 3, "f32": 2**31, "f64": 8,
    "sf32": -9, "sf64": -10, "b": True, "s": "é\n", "raw": "AP8=", "maybe": 0, "numbers": [1, -1, 0], "plain": [5],
    "texts": ["", "a"], "nick": "x", "counts": {"": -1, "k": 2},
}  # fmt: skip
DATA = SAME | {
    "maybeSize": "S", "at": "2026-11-23T07:00:00.123Z", "deep": {"size": "A"}, "inners": {"-3": {"size": "A"}},
    "sizes": {"true": "XL", "false": "MINUS"}, "times": {"-5": "1970-01-01T00:00:01Z"}, "cash": {"next": {"outer": "XL"}},
    "yes": False, "inner": {"next": {"next": {}}},
}  # fmt: skip
INNER: dict[str, Any] = {"next": None, "size": "A", "outer": "S"}
EXPECTED = SAME | {
    "maybe_size": "S", "at": 1795417200123, "deep": {"size": "A"}, "inners": [[-3, INNER]],
    "sizes": [[False, "MINUS"], [True, "L"]], "times": [[-5, 1000]],
    "payment_0": {"card": None, "cash": INNER | {"next": INNER | {"outer": "L"}}},
    "other_1": {"yes": False}, "inner": INNER | {"next": INNER | {"next": INNER}},
}  # fmt: skip


def test_every_feature_of_proto3_is_read_and_written_again(spark: SparkSession, registry: SchemaRegistry) -> None:
    all_type = message_class("corners.All", descriptor("proto3"))
    message = json_format.ParseDict(DATA, all_type())
    data = serialized(registry, message)
    [shown] = through(spark, props(registry, CONVERTER), [Record(data)], TO_JSON)
    assert isinstance(shown, Record), shown
    result = json.loads(shown.value or b"")
    assert result | {"sizes": sorted(result["sizes"])} == EXPECTED
    [again] = through(spark, props(registry, CONVERTER, **OWN_SCHEMA), [Record(data)])
    assert isinstance(again, Record), again
    assert (again.value or b"")[:7] == data[:7]  # the id, and the indexes [1]
    assert deserialized(all_type, again.value) == message


PROTO2 = {
    "i32": 5, "i64": 0, "text": "", "color": "VERT", "needed": "n", "packed": [1, 2], "plain": [3],
    "inner": {"byName": {"k": {}}}, "name": "x",
}  # fmt: skip


def test_proto2_tells_zero_from_absent(spark: SparkSession, registry: SchemaRegistry) -> None:
    defaults = message_class("corners.proto2.Defaults", descriptor("proto2"))
    message = json_format.ParseDict(PROTO2, defaults())
    data = serialized(registry, message)
    [shown] = through(spark, props(registry, CONVERTER), [Record(data)], TO_JSON)
    assert isinstance(shown, Record), shown
    result = {name: value for name, value in json.loads(shown.value or b"").items() if value is not None}
    inner: dict[str, Any] = {"next": None, "by_name": {}, "raw": []}
    assert result == {
        "i32": 5, "i64": 0, "text": "", "color": "GREEN", "needed": "n", "packed": [1, 2], "plain": [3],
        "inner": inner | {"by_name": {"k": inner}}, "choice_0": {"name": "x", "inside": None},
    }  # fmt: skip
    [again] = through(spark, props(registry, CONVERTER, **OWN_SCHEMA), [Record(data)])
    assert isinstance(again, Record), again
    assert deserialized(defaults, again.value) == message


C = {"name": "C", "nestedType": [{"name": "D"}, {"name": "E", "field": [field("x", 1, "string")]}]}
DEEP = file_of("deep.proto", [{"name": "A"}, {"name": "B", "nestedType": [C]}])


def test_a_message_deep_in_others_is_found_by_its_indexes(spark: SparkSession, registry: SchemaRegistry) -> None:
    type_ = message_class("shop.B.C.E", DEEP)
    data = serialized(registry, type_(x="1"))
    assert data[5:] == b"\x06\x02\x00\x02\x0a\x011"  # three indexes: 1, 0, 1
    [shown] = through(spark, props(registry, CONVERTER), [Record(data)], TO_JSON)
    assert json.loads(shown.value or b"") == {"x": "1"}
    assert deserialized(type_, data) == type_(x="1")


def test_messages_of_imported_files_are_read_by_their_references(spark: SparkSession, registry: SchemaRegistry) -> None:
    unit = file_of("shop/unit.proto", [{"name": "Unit", "field": [field("code", 1, "string")]}])
    fields = [field("cents", 1, "sint64"), field("unit", 2, ".shop.Unit")]
    price = file_of("shop/price.proto", [{"name": "Price", "field": fields}], dependency=["shop/unit.proto"])
    fields = [field("price", 1, ".shop.Price", "REPEATED")]
    order = file_of("order.proto", [{"name": "Order", "field": fields}], dependency=["shop/price.proto"])
    message = json_format.ParseDict(
        {"price": [{"cents": -5, "unit": {"code": "EUR"}}, {}]}, message_class("shop.Order", unit, price, order)()
    )
    [shown] = through(spark, props(registry, CONVERTER), [Record(serialized(registry, message))], TO_JSON)
    assert sorted(registry.store.subjects) == ["orders-value", "shop/price.proto", "shop/unit.proto"]
    assert isinstance(shown, Record), shown
    assert json.loads(shown.value or b"") == {"price": [{"cents": -5, "unit": {"code": "EUR"}}, {"cents": 0, "unit": None}]}


def test_fields_that_the_schema_does_not_have_are_passed_over(spark: SparkSession, registry: SchemaRegistry) -> None:
    new = file_of("r.proto", [{"name": "R", "field": [
        field("before", 1, "fixed64"), field("a", 2, "string"), field("many", 3, "float", "REPEATED"),
        field("inner", 4, ".shop.R"), field("half", 1000, "sfixed32"),
    ]}])  # fmt: skip
    message = json_format.ParseDict(
        {"before": 1, "a": "x", "many": [1, 2], "inner": {"a": "y"}, "half": -1}, message_class("shop.R", new)()
    )
    id = registry.register("orders-value", 'syntax = "proto3"; package shop; message R { string a = 2; }', "PROTOBUF")
    data = b"\0" + id.to_bytes(4) + b"\0" + message.SerializeToString()
    [shown] = through(spark, props(registry, CONVERTER), [Record(data)], TO_JSON)
    assert isinstance(shown, Record), shown
    assert json.loads(shown.value or b"") == {"a": "x"}
