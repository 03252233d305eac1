"""Single values of Python as JSON: what a processor puts into a store and gets from it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import Row
from pyspark.sql.types import (
    DataType,
    DecimalType,
    DoubleType,
    IntegerType,
    StructType,
)

from headrace.errors import StreamsError
from headrace.streams import Serdes
from headrace.streams.serde_values import decoder, encoder


def written(value: Any, kind: DataType) -> bytes:
    text = encoder(Serdes.json(kind.simpleString()), kind)(value)
    assert text is not None
    return text


def read(text: bytes, kind: DataType) -> Any:
    return decoder(Serdes.json(kind.simpleString()), kind)(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Row(a=1, b=None), b'{"a":1,"b":null}'),
        ({"x": None, "y": 10_000_000_000.0}, b'{"x":null,"y":1.0E10}'),
        ([Row(a=None), None, float("nan")], b'[{"a":null},null,"NaN"]'),
        ({"a": Decimal("2.50"), "b": Decimal(300)}, b'{"a":2.5,"b":300}'),
    ],
)
def test_json_is_written_as_spark_writes_it_because_keys_are_compared_as_bytes(value: Any, text: bytes):
    assert encoder(Serdes.json())(value) == text


@pytest.mark.parametrize(
    ("number", "kind", "text"),
    [
        ("123456789012345678.91", DecimalType(20, 2), b'{"x":123456789012345678.91}'),
        ("2.5", DecimalType(20, 2), b'{"x":2.50}'),
        ("1234567890123456789012345678.0123456789", DecimalType(38, 10), b'{"x":1234567890123456789012345678.0123456789}'),
        ("5", DecimalType(10, 0), b'{"x":5}'),
        ("0.0000001", DecimalType(10, 7), b'{"x":1E-7}'),
    ],
)
def test_a_decimal_keeps_its_digits_and_has_the_scale_of_its_type(number: str, kind: DecimalType, text: bytes):
    row = StructType().add("x", kind)
    assert written(Row(x=Decimal(number)), row) == text
    back = read(text, row).x
    assert (back, back.as_tuple().exponent) == (Decimal(number), -kind.scale)


def test_a_decimal_of_too_many_digits_is_refused():
    with pytest.raises(StreamsError, match=r"^1234.5 does not fit into decimal\(5,2\)"):
        written(Row(x=Decimal("1234.5")), StructType().add("x", DecimalType(5, 2)))
    with pytest.raises(StreamsError, match=r"^NaN does not fit"):
        written(Row(x=Decimal("NaN")), StructType().add("x", DecimalType(5, 2)))


@pytest.mark.parametrize("value", [{"b": 2, "a": 1, "c": 9}, Row(b=2, a=1), (1, 2)])
def test_a_struct_has_the_fields_of_its_schema_in_their_order(value: Any):
    assert written(value, StructType().add("a", DoubleType()).add("b", IntegerType())) == b'{"a":1.0,"b":2}'
