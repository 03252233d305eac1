"""Each of Kafka Connect's transforms does to data of each format what it does to the same data, as JSON with its schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace import plugins
from headrace.plugins import Kind
from headrace.testing.registry import SchemaRegistry
from tests.avro.chains import AVRO, through
from tests.transforms.chains import BYTES, JSON, KAFKA, Record, config

PROTOBUF = "io.confluent.connect.protobuf.ProtobufConverter"
FORMATS = (AVRO, PROTOBUF, "io.confluent.connect.json.JsonSchemaConverter")
_AT = 1_700_000_000_123
_TIME = {"field": "at", "type": "int64", "name": "org.apache.kafka.connect.data.Timestamp", "version": 1}
_IN = {"field": "in", "type": "struct", "name": "In", "fields": [{"field": "s", "type": "string"}]}
_NOTE = {"field": "note", "type": "string", "optional": True}
_LIST = {"field": "list", "type": "array", "items": {"type": "double"}}
SCHEMAS_AND_DATA: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"name": "Order", "fields": [_NOTE, _IN, _TIME, {"field": "n", "type": "int32"}]},
        {"note": None, "in": {"s": "é"}, "at": _AT, "n": 1},
    ),
    (
        {"name": "Other", "fields": [{"field": "n", "type": "string"}, _TIME, _IN, _LIST]},
        {"n": "3", "at": _AT + 2, "in": {"s": ""}, "list": [0.5, -0.25]},
    ),
]
CHAINS: dict[str, list[dict[str, str]]] = {  # of several transforms, where one does not hide what another has done
    "around the data": [
        {"type": "Filter", "predicate": "tombstone"},
        {"type": "DropHeaders", "headers": "h"},
        {"type": "InsertHeader", "header": "from", "value.literal": "here"},
        {"type": "RegexRouter", "regex": "(.*)", "replacement": "new-$1"},
        {"type": "TimestampRouter"},
    ],
    "fields": [
        {"type": "Cast$Value", "spec": "n:int64"},
        {"type": "TimestampConverter$Value", "field": "at", "target.type": "string", "format": "yyyy-MM-dd HH:mm:ss.SSS"},
        {"type": "InsertField$Value", "static.field": "from", "static.value": "here", "timestamp.field": "sent"},
        {"type": "ReplaceField$Value", "exclude": "note,list", "renames": "n:number"},
        {"type": "SetSchemaMetadata$Value", "schema.name": "New", "schema.version": "7"},
    ],
    "flat": [{"type": "Flatten$Value"}, {"type": "MaskField$Value", "fields": "n,at,in.s"}],
    "one field": [{"type": "ExtractField$Value", "field": "in"}],
    "headers": [
        {"type": "HeaderFrom$Value", "fields": "n,in", "headers": "n,in", "operation": "move"},
        {"type": "HoistField$Value", "field": "whole"},
    ],
    "key": [{"type": "ValueToKey", "fields": "n,in"}],
}
TOMBSTONES = {"tombstone": {"type": "RecordIsTombstone"}}
HEADERS = [("h", b"1"), ("other", b"2")]
AS_JSON = {"value.converter": JSON, "value.converter.schemas.enable": "true"}

Data = dict[str, list[Record]]
"""Records by the converter that reads them."""


@pytest.fixture(scope="module")
def formats() -> Iterator[dict[str, dict[str, str]]]:
    """The converters' settings, with a registry each."""
    with SchemaRegistry() as one, SchemaRegistry() as two, SchemaRegistry() as three:
        of_format = {}
        for name, registry in zip(FORMATS, (one, two, three), strict=True):
            registry.store.levels[None] = "NONE"
            options = {"schema.registry.url": registry.url, "max.retries": "0"}
            options |= (
                {"optional.for.nullables": "true"} if "protobuf" in name else {}
            )  # else a text that is null is an empty one
            of_format[name] = {
                "value.converter": name,
                **{f"value.converter.{option}": value for option, value in options.items()},
            }
        yield of_format


@pytest.fixture(scope="module")
def records(spark: SparkSession, formats: dict[str, dict[str, str]]) -> tuple[Data, Data]:
    """The same data in each format, and as JSON with the schema that it is read with."""
    records = [
        Record(json.dumps({"schema": {"type": "struct", **schema}, "payload": data}).encode(), headers=HEADERS)
        for schema, data in SCHEMAS_AND_DATA
    ]
    keys = {"key.converter": BYTES}
    written = {name: through(spark, {**keys, **AS_JSON}, records, options) for name, options in formats.items()}
    return written, {name: through(spark, {**keys, **options}, written[name], AS_JSON) for name, options in formats.items()}


def test_each_transform_of_kafka_connect_is_there() -> None:
    simple = {
        one.plugin_name.removeprefix(KAFKA).partition("$")[0]
        for one in plugins.every(Kind.TRANSFORMATION)
        if one.plugin_name.startswith(KAFKA)
    }
    assert simple == {stage["type"].partition("$")[0] for chain in CHAINS.values() for stage in chain}


def test_the_formats_hold_the_data(records: tuple[Data, Data]) -> None:
    written, plain = records
    for name in FORMATS:
        assert all(outcome.value is not None and outcome.value[:1] == b"\0" for outcome in written[name]), name
        assert [json.loads(outcome.value or b"")["payload"] for outcome in plain[name]] == [
            data for _, data in SCHEMAS_AND_DATA
        ], name


@pytest.mark.parametrize("name", CHAINS)
def test_transforms_do_the_same_in_every_format(
    spark: SparkSession, formats: dict[str, dict[str, str]], records: tuple[Data, Data], name: str
) -> None:
    filters = any("predicate" in stage for stage in CHAINS[name])
    chain = config(*CHAINS[name], predicates=TOMBSTONES if filters else None)
    tombstones = [Record(None, headers=HEADERS)] if filters else []
    written, plain = ({format_name: [*tombstones, *data[format_name]] for format_name in FORMATS} for data in records)
    outcomes = {
        format_name: through(spark, {**chain, **formats[format_name]}, written[format_name], AS_JSON) for format_name in FORMATS
    }
    everything = through(
        spark, {**chain, **AS_JSON}, [record for format_name in FORMATS for record in plain[format_name]], AS_JSON
    )
    size = len(tombstones) + len(SCHEMAS_AND_DATA)
    for place, format_name in enumerate(FORMATS):
        assert outcomes[format_name] == everything[place * size : (place + 1) * size], format_name
        values = [record for record in outcomes[format_name] if isinstance(record, Record) and record.value is not None]
        assert len(values) == len(SCHEMAS_AND_DATA), outcomes[format_name]


def test_what_a_transform_makes_of_protobuf_is_written_as_protobuf(
    spark: SparkSession, formats: dict[str, dict[str, str]], records: tuple[Data, Data]
) -> None:
    stages = (
        {"type": "Flatten$Value", "delimiter": "_"},
        {"type": "InsertField$Value", "static.field": "f", "static.value": "x"},
    )
    chain, [written, plain] = config(*stages), records
    made = through(spark, {**chain, **formats[PROTOBUF]}, written[PROTOBUF])
    read = through(spark, {"key.converter": BYTES, **formats[PROTOBUF]}, made, AS_JSON)
    expected = through(spark, {**chain, **AS_JSON}, plain[PROTOBUF], AS_JSON)
    payloads = [[json.loads(outcome.value or b"")["payload"] for outcome in outcomes] for outcomes in (read, expected)]
    assert payloads[0] == payloads[1]
