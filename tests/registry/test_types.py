"""Every type of Connect through each of the three formats: the bytes of confluent-kafka's serializers, both ways."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, cast

import pytest
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.confluent.types import decimal_pb2
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2
from google.type import date_pb2, timeofday_pb2
from pyspark.sql import SparkSession

from headrace.converters.type_table import TYPES, record_of
from headrace.testing.registry import SchemaRegistry
from tests.avro.chains import props, through
from tests.avro.test_data import TO_JSON, client, in_topic
from tests.registry.test_options import AVRO, JSON_SCHEMA, PROTOBUF
from tests.transforms.chains import JSON, Record

UNSCALED = base64.b64encode((-1234).to_bytes(2, signed=True)).decode()
DATA: dict[str, Any] = {
    "INT8": -7, "INT16": -300, "INT32": 2**31 - 1, "INT64": -(2**62), "FLOAT32": 0.25, "FLOAT64": -0.1, "BOOLEAN": True,
    "STRING": 'é"\n', "BYTES": "AP8=", "STRING, optional": "x", "INT32, optional, with a default": 7,
    "Decimal": UNSCALED, "Decimal with a precision": UNSCALED, "Date": 20780, "Time": 45_001_005, "Timestamp": 1_795_417_200_123,
    "ARRAY of INT64": [1, -2, 300], "MAP of STRING to INT64": {"k": 5}, "MAP of INT32 to STRING": [[-1, "x"]], "STRUCT": {"a": 3},
    "STRUCT, optional": {"a": 3}, "ARRAY of STRUCT": [{"a": 1}, {"a": 300}],
}  # fmt: skip
"""As JsonConverter has it."""
NUMBER, AT = Decimal("-12.34"), datetime(2026, 11, 23, 7, 0, 0, 123_000, UTC)
NATIVE = DATA | {
    "BYTES": b"\0\xff", "Decimal": NUMBER, "Decimal with a precision": NUMBER, "Date": date(2026, 11, 23),
    "Time": time(12, 30, 1, 5000), "Timestamp": AT, "MAP of INT32 to STRING": [{"key": -1, "value": "x"}],
}  # fmt: skip
"""As fastavro has it."""
PLAIN = DATA | {"MAP of INT32 to STRING": NATIVE["MAP of INT32 to STRING"]}
"""As it stands in JSON with a JSON Schema."""


def test_every_type_has_data() -> None:
    assert list(DATA) == list(TYPES)


def given() -> list[Record]:
    """A record for each type, as JSON with its schema."""
    values = [
        json.dumps({"schema": json.loads(record_of(schema).text()), "payload": {"x": DATA[label]}}).encode()
        for label, schema in TYPES.items()
    ]
    return [Record(value, topic=f"t{n}") for n, value in enumerate(values)]


def avro(registry: SchemaRegistry, text: str, label: str, topic: str) -> tuple[bytes, Callable[[bytes], Any], Any]:
    writer: Any = AvroSerializer
    reader: Any = AvroDeserializer
    value = {"x": NATIVE[label]}
    bytes_ = writer(client(registry), text, conf={"auto.register.schemas": False})(value, in_topic(topic))
    return bytes_, lambda data: reader(client(registry))(data, in_topic(topic)), value


def json_schema(registry: SchemaRegistry, text: str, label: str, topic: str) -> tuple[bytes, Callable[[bytes], Any], Any]:
    writer: Any = JSONSerializer
    reader: Any = JSONDeserializer
    value = {"x": PLAIN[label]}
    bytes_ = writer(text, client(registry), conf={"auto.register.schemas": False})(value, in_topic(topic))
    without_spaces = bytes_[:5] + json.dumps(json.loads(bytes_[5:]), separators=(",", ":"), ensure_ascii=False).encode()
    return without_spaces, lambda data: reader(text)(data, in_topic(topic)), value


DECIMAL = cast("Any", decimal_pb2).Decimal(
    value=(-1234).to_bytes(2, signed=True), scale=2, precision=4
)  # the digits that there are
MESSAGES = {"Decimal": DECIMAL, "Decimal with a precision": DECIMAL, "Date": date_pb2.Date(year=2026, month=11, day=23),
            "Time": timeofday_pb2.TimeOfDay(hours=12, minutes=30, seconds=1, nanos=5_000_000),
            "Timestamp": timestamp_pb2.Timestamp(seconds=1_795_417_200, nanos=123_000_000)}  # fmt: skip
SCALARS = {"INT8": "int32", "INT16": "int32", "FLOAT32": "float", "FLOAT64": "double", "BOOLEAN": "bool",
           "STRING, optional": "string", "INT32, optional, with a default": "int32", "ARRAY of INT64": "int64"}  # fmt: skip
TYPE = descriptor_pb2.FieldDescriptorProto.Type


def message_class(label: str) -> Any:
    """The class of the message that a record with a field of this type is."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{label}.proto", package="shop", syntax="proto3")
    pool, record = descriptor_pool.DescriptorPool(), file.message_type.add(name="Record")
    field = record.field.add(name="x", number=1, label=3 if label.startswith(("ARRAY", "MAP")) else 1)
    if label in MESSAGES:
        of = MESSAGES[label].DESCRIPTOR
        pool.AddSerializedFile(of.file.serialized_pb)
        file.dependency.append(of.file.name)
        field.type, field.type_name = TYPE.TYPE_MESSAGE, "." + of.full_name
    elif label.startswith("MAP") or "STRUCT" in label:
        inner = record.nested_type.add(name="Inner")
        kinds = {"MAP of STRING to INT64": ("string", "int64"), "MAP of INT32 to STRING": ("int32", "string")}.get(label)
        for number, (name, kind) in enumerate(zip(("key", "value"), kinds, strict=True) if kinds else [("a", "int32")], 1):
            inner.field.add(name=name, number=number, label=1, type=TYPE.Value(f"TYPE_{kind.upper()}"))
        field.type, field.type_name = TYPE.TYPE_MESSAGE, ".shop.Record.Inner"
    else:
        field.type = TYPE.Value(f"TYPE_{SCALARS.get(label, label).upper()}")
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Record"))


def protobuf(registry: SchemaRegistry, text: str, label: str, topic: str) -> tuple[bytes, Callable[[bytes], Any], Any]:
    writer: Any = ProtobufSerializer
    reader: Any = ProtobufDeserializer
    made = message_class(label)
    if label in MESSAGES:
        value = made()
        value.x.ParseFromString(MESSAGES[label].SerializeToString())  # the class is one of another pool
    else:
        value = made(x=[{"key": "k", "value": 5}] if label == "MAP of STRING to INT64" else NATIVE[label])
    bytes_ = writer(made, client(registry), {"use.deprecated.format": False})(value, in_topic("other-" + topic))
    id = registry.store.subjects[f"{topic}-value"][0].schema.id
    return (
        b"\0" + id.to_bytes(4) + bytes_[5:],
        lambda data: reader(made, {"use.deprecated.format": False})(data, in_topic(topic)),
        value,
    )


@pytest.mark.parametrize(("converter", "serialized"), [(AVRO, avro), (PROTOBUF, protobuf), (JSON_SCHEMA, json_schema)])
@pytest.mark.usefixtures("interpreted")
def test_every_type_is_written_and_read_as_confluent_kafka_does(
    spark: SparkSession, registry: SchemaRegistry, converter: str, serialized: Any
) -> None:
    to = props(registry, converter)
    written = through(spark, {**to, "value.converter": JSON, "value.converter.schemas.enable": "true"}, given(), to)
    read = through(spark, to, written, TO_JSON)
    again = through(spark, to, written)
    for label, one, connect, same in zip(TYPES, written, read, again, strict=True):
        assert isinstance(one, Record), (label, one)
        text = registry.store.subjects[f"{one.topic}-value"][0].schema.text
        golden, reader, value = serialized(registry, text, label, one.topic)
        assert one.value == golden, label
        assert reader(one.value) == value, label
        assert json.loads(connect.value) == {"x": DATA[label]}, label
        assert (same.value or b"")[5:] == (one.value or b"")[5:], label
