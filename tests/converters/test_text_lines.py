"""Data of every kind as text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pyspark.sql import SparkSession

from headrace.converters.base import Converter, ConverterWriter, Writers, load, load_header
from headrace.converters.text_lines import NoWriter, TextLines
from headrace.transforms.chain import INPUT, NO_HEADERS, Converters, compile_chain
from headrace.values.sql import lit

PACKAGE = "org.apache.kafka.connect."
STRING = load(PACKAGE + "storage.StringConverter", {}, is_key=False)
JSON = load(PACKAGE + "json.JsonConverter", {"schemas.enable": "false"}, is_key=False)
BYTES = load(PACKAGE + "converters.ByteArrayConverter", {}, is_key=False)
HEADERS = load_header(PACKAGE + "storage.SimpleHeaderConverter", {})


def written(reader: Converter, writer: ConverterWriter, text: str | None, schemas: Sequence[str] = ()) -> object:
    known_schemas = {"value": schemas}
    compiled = compile_chain(
        (), Converters(BYTES, reader, HEADERS), Writers(NoWriter(), writer, HEADERS), known_schemas, sink=True
    )
    row = (lit("t"), "0", "0L", "0L", "binary(NULL)", f"binary({lit(text)})", NO_HEADERS)
    columns = (f"{value} AS {name}" for name, value in zip(INPUT, row, strict=True))
    result = compiled.apply(SparkSession.active().range(1).selectExpr(*columns)).head()
    assert result is not None
    assert result["key"] is None
    return result["value"]


@pytest.mark.parametrize(
    ("json", "text"), [('{"a":1,"b":[true]}', "{a=1, b=[true]}"), ("{}", "{}"), ("[1]", "[1]"), ("null", "null")]
)
def test_json_is_written_as_java_writes_it(spark: SparkSession, json: str, text: str) -> None:
    assert written(JSON, TextLines(), json) == text


def test_an_object_that_no_transform_has_changed_is_written_by_the_string_converter_as_well(spark: SparkSession) -> None:
    assert written(JSON, STRING, '{"a":1}') == b"{a=1}"


def test_bytes_are_the_text_that_they_hold_and_null_is_null(spark: SparkSession) -> None:
    assert written(BYTES, TextLines(), "line") == "line"
    assert written(STRING, TextLines(), None) == "null"


TYPED = load(PACKAGE + "json.JsonConverter", {}, is_key=False)
POINT = '{"type":"struct","fields":[{"type":"float","field":"x"},{"type":"string","optional":true,"field":"y"}]}'


@pytest.mark.parametrize(("schema", "payload", "text"), [
    (f'{{"type":"array","items":{POINT}}}', '[{"x":1,"y":null},{"x":2.5,"y":"z"}]', "[Struct{x=1.0}, Struct{x=2.5,y=z}]"),
    (f'{{"type":"map","keys":{{"type":"string"}},"values":{POINT}}}', '{"k":{"x":1}}', "{k=Struct{x=1.0}}"),
    ('{"type":"map","keys":{"type":"int8"},"values":{"type":"string","optional":true}}', '[[1,"a"],[2,null]]', "{1=a, 2=null}"),
    ('{"type":"struct","fields":[{"type":"array","items":{"type":"int8"},"field":"a"}]}', '{"a":[1,2]}', "Struct{a=[1, 2]}"),
])  # fmt: skip
def test_structs_are_told_from_maps_wherever_they_are(spark: SparkSession, schema: str, payload: str, text: str) -> None:
    assert written(TYPED, TextLines(), f'{{"schema":{schema},"payload":{payload}}}', [schema]) == text
