"""What a source gives without bytes to convert, written by the converters."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import SparkSession

from headrace.converters.base import Converter, load
from headrace.converters.typed_column import TypedColumn
from headrace.errors import ConfigError
from headrace.values.compile_context import CompileContext
from headrace.values.scope import Scope

BYTES, TEXT = [b"", b"\x00\xff", bytes(range(256)), None], ["", 'a "b"\\\n', "é🎈", None]


def converted(spark: SparkSession, converter: Converter, values: list, kind: str) -> list[bytes | str | None]:
    """What is written for each value; the message of those that fail."""
    frame = spark.createDataFrame([(n, v) for n, v in enumerate(values)], f"n int, v {'binary' if kind == 'bytes' else 'string'}")
    context = CompileContext(Scope())
    with context.step("output.value"):
        out = context.scope.bind(converter.write(context, TypedColumn(kind).read(context, "v")))
    rows = context.scope.apply(frame).orderBy("n").selectExpr(f"{out} AS out", f"{context.failure()} AS failure").collect()
    return [r.failure["message"] if r.failure else None if r.out is None else bytes(r.out) for r in rows]


def test_bytes_pass_through_the_byte_array_converter(spark: SparkSession) -> None:
    assert converted(spark, load("ByteArrayConverter", {}, is_key=False), BYTES, "bytes") == BYTES


def test_text_is_utf_8_by_the_string_converter(spark: SparkSession) -> None:
    expected = [None if t is None else t.encode() for t in TEXT]
    assert converted(spark, load("StringConverter", {}, is_key=True), TEXT, "string") == expected


def test_text_is_in_the_encoding_that_was_asked_for(spark: SparkSession) -> None:
    converter = load("StringConverter", {"converter.encoding": "ISO-8859-1"}, is_key=True)
    assert converted(spark, converter, ["é"], "string") == [b"\xe9"]


def test_bytes_are_base64_in_json(spark: SparkSession) -> None:
    converter = load("JsonConverter", {"schemas.enable": "false"}, is_key=False)
    hundred = b'"' + b"A" * 134 + b'=="'  # in one line
    assert converted(spark, converter, [b"\x00\xff", None, bytes(100)], "bytes") == [b'"AP8="', b"null", hundred]


def test_json_carries_its_schema(spark: SparkSession) -> None:
    out = converted(spark, load("JsonConverter", {}, is_key=False), TEXT, "string")
    assert [json.loads(o or b"") for o in out] == [
        {"schema": {"type": "string", "optional": True}, "payload": text} for text in TEXT
    ]


def test_text_is_no_bytes(spark: SparkSession) -> None:
    out = converted(spark, load("ByteArrayConverter", {}, is_key=False), ["x"], "string")
    assert out == ["Invalid schema type for ByteArrayConverter: STRING"]


def test_bytes_are_no_text_but_null_is_null(spark: SparkSession) -> None:
    refused, null = converted(spark, load("StringConverter", {}, is_key=False), [b"x", None], "bytes")
    assert str(refused).startswith("StringConverter cannot write bytes") and null is None


def test_a_converter_that_does_not_exist_is_named() -> None:
    sentence = r"Invalid value NoSuch for configuration key\.converter: Class NoSuch could not be found"
    with pytest.raises(ConfigError, match=sentence):
        load("NoSuch", {}, is_key=True)


@pytest.mark.parametrize(("kind", "optional"), [("string", "true"), ("line", "false")])
def test_the_schema_of_text_says_whether_it_may_be_null(spark: SparkSession, kind: str, optional: str) -> None:
    converter = load("JsonConverter", {}, is_key=False)
    expected = f'{{"schema":{{"type":"string","optional":{optional}}},"payload":"x"}}'
    assert converted(spark, converter, ["x"], kind) == [expected.encode()]
