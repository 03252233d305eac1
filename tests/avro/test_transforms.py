"""Several schemas in one batch through each of Kafka Connect's transforms: the same as the same data as JSON with its schemas."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pytest
from pyspark.sql import SparkSession

from headrace import plugins
from headrace.plugins import Kind
from headrace.testing.registry import SchemaRegistry
from tests.avro.chains import AVRO, through
from tests.transforms.chains import JSON, KAFKA, Record, config

_AT = 1_700_000_000_123
_AVRO_TIME = {"type": "long", "logicalType": "timestamp-millis"}
_TIME = {"type": "int64", "name": "org.apache.kafka.connect.data.Timestamp", "version": 1}
_IN = {"name": "in", "type": {"type": "record", "name": "In", "fields": [{"name": "s", "type": "string"}]}}
_CONNECT_IN = {"field": "in", "type": "struct", "name": "In", "fields": [{"field": "s", "type": "string"}]}
CASES: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [  # in Avro, in Connect, and data
    (
        {"name": "Order", "fields": [{"name": "n", "type": "int"}, {"name": "at", "type": _AVRO_TIME}, _IN]},
        {"name": "Order", "fields": [{"field": "n", "type": "int32"}, {"field": "at", **_TIME}, _CONNECT_IN]},
        {"n": 1, "at": _AT, "in": {"s": "x"}},
    ),
    (
        {"name": "Order", "fields": [{"name": "note", "type": ["null", "string"], "default": None}, _IN,
                                     {"name": "at", "type": _AVRO_TIME}, {"name": "n", "type": "int"}]},
        {"name": "Order", "fields": [{"field": "note", "type": "string", "optional": True}, _CONNECT_IN, {"field": "at", **_TIME},
                                     {"field": "n", "type": "int32"}]},
        {"note": None, "in": {"s": "é"}, "at": _AT + 1, "n": 2},
    ),
    (
        {"name": "Other", "fields": [{"name": "n", "type": "string"}, {"name": "at", "type": _AVRO_TIME}, _IN,
                                     {"name": "list", "type": {"type": "array", "items": "double"}}]},
        {"name": "Other", "fields": [{"field": "n", "type": "string"}, {"field": "at", **_TIME}, _CONNECT_IN,
                                     {"field": "list", "type": "array", "items": {"type": "double"}}]},
        {"n": "3", "at": _AT + 2, "in": {"s": ""}, "list": [0.5, -0.25]},
    ),
]  # fmt: skip
TRANSFORMS: dict[str, dict[str, str]] = {
    "Cast$Value": {"spec": "n:int64"},
    "DropHeaders": {"headers": "h"},
    "ExtractField$Value": {"field": "in"},
    "Filter": {},
    "Flatten$Value": {},
    "HeaderFrom$Value": {"fields": "n,in", "headers": "n,in", "operation": "move"},
    "HoistField$Value": {"field": "whole"},
    "InsertField$Value": {"static.field": "from", "static.value": "here", "timestamp.field": "sent"},
    "InsertHeader": {"header": "from", "value.literal": "here"},
    "MaskField$Value": {"fields": "n,at"},
    "RegexRouter": {"regex": "(.*)", "replacement": "new-$1"},
    "ReplaceField$Value": {"exclude": "at", "renames": "n:number"},
    "SetSchemaMetadata$Value": {"schema.name": "New", "schema.version": "7"},
    "TimestampConverter$Value": {"field": "at", "target.type": "string", "format": "yyyy-MM-dd HH:mm:ss.SSS"},
    "TimestampRouter": {},
    "ValueToKey": {"fields": "n"},
}
TOMBSTONES = {"tombstone": {"type": "RecordIsTombstone"}}


def test_each_transform_of_kafka_connect_is_there() -> None:
    simple = {
        one.plugin_name.removeprefix(KAFKA).partition("$")[0]
        for one in plugins.every(Kind.TRANSFORMATION)
        if one.plugin_name.startswith(KAFKA)
    }
    assert simple == {name.partition("$")[0] for name in TRANSFORMS}


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_several_schemas_in_one_batch(spark: SparkSession, registry: SchemaRegistry, transform: str) -> None:
    registry.store.levels[None] = "NONE"
    predicate = {"predicate": "tombstone"} if transform == "Filter" else {}
    chain = config({"type": transform, **TRANSFORMS[transform], **predicate}, predicates=TOMBSTONES if predicate else None)
    headers = [("h", b"1"), ("other", b"2")]
    avro, plain = [Record(None, headers=headers)], [Record(None, headers=headers)]
    for node, schema, data in [*CASES, *CASES[:1]]:
        node, schema = {"type": "record", **node}, {"type": "struct", **schema}
        out, id = io.BytesIO(), registry.register("orders-value", node).to_bytes(4)
        fastavro.schemaless_writer(out, fastavro.parse_schema(node), data)
        avro.append(Record(b"\0" + id + out.getvalue(), headers=headers))
        plain.append(Record(json.dumps({"schema": schema, "payload": data}).encode(), headers=headers))
    tombstone = 0 if transform in ("Filter", "DropHeaders", "InsertHeader", "RegexRouter", "TimestampRouter") else 1
    given = {"value.converter": AVRO, "value.converter.schema.registry.url": registry.url, "value.converter.max.retries": "0"}
    json_given = {"value.converter": JSON, "value.converter.schemas.enable": "true"}
    to = {"value.converter": JSON, "value.converter.schemas.enable": "false"}
    found = through(spark, {**chain, **given}, avro[tombstone:], to)
    expected = through(spark, {**chain, **json_given}, plain[tombstone:], to)
    assert found == expected
    values = [one for one in found if isinstance(one, Record) and one.value is not None]
    assert len(values) == len(CASES) + 1, found
