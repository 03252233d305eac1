"""Single values of Python as JSON: what a processor puts into a store and gets from it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from ctypes import c_float
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from timeit import repeat
from typing import Any

import pytest
from pyspark.sql import Row
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
    VariantVal,
)

from headrace.errors import StreamsError
from headrace.streams import Serdes
from headrace.streams.serde_values import decoder, encoder
from headrace.values import json_text


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine's zone."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


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
        ({True: b"x", 2: "y"}, b'{"true":"eA==","2":"y"}'),
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


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.1, b"0.1"), (16777217.0, b"1.6777216E7"), (3.4028235e38, b"3.4028235E38"), (1e-45, b"1.4E-45"), (-2.5, b"-2.5"),
     (1.00000012, b"1.0000001"), (5, b"5.0"), (float("nan"), b'"NaN"'), (1e300, b'"Infinity"')],
)  # fmt: skip
def test_a_float_has_the_digits_of_its_32_bits(number: float, text: bytes):
    row = StructType().add("x", FloatType())
    in_spark = c_float(number).value
    for value in (number, in_spark):
        assert written(Row(x=value), row) == b'{"x":' + text + b"}"
    assert repr(read(b'{"x":' + text + b"}", row)) == repr(Row(x=in_spark))


def test_a_decimal_of_too_many_digits_is_refused():
    with pytest.raises(StreamsError, match=r"^1234.5 does not fit into decimal\(5,2\)"):
        written(Row(x=Decimal("1234.5")), StructType().add("x", DecimalType(5, 2)))
    with pytest.raises(StreamsError, match=r"^z does not fit into decimal\(5,2\)"):
        written(Row(x="z"), StructType().add("x", DecimalType(5, 2)))
    with pytest.raises(StreamsError, match=r"^NaN does not fit"):
        written(Row(x=Decimal("NaN")), StructType().add("x", DecimalType(5, 2)))


def test_times_are_those_of_the_machines_zone_as_spark_gives_them_to_python(berlin: None):
    row = StructType().add("x", TimestampType())
    assert written(Row(x=datetime(2026, 1, 1, 11)), row) == b'{"x":"2026-01-01T10:00:00.000Z"}'
    assert written(Row(x=datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))), row) == (
        b'{"x":"2026-01-01T10:00:00.000Z"}'
    )
    assert read(b'{"x":"2026-07-01T10:00:00.000Z"}', row).x == datetime(2026, 7, 1, 12)
    assert encoder(Serdes.json())(datetime(2026, 1, 1, 10, tzinfo=UTC)) == b'"2026-01-01T10:00:00.000Z"'


def test_times_of_no_zone_stay_what_they_are(berlin: None):
    row, text = StructType().add("x", TimestampNTZType()), b'{"x":"2026-01-01T11:00:00.000"}'
    assert written(Row(x=datetime(2026, 1, 1, 11)), row) == text
    assert read(text, row) == Row(x=datetime(2026, 1, 1, 11))


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("a", StringType()),
        (7, IntegerType()),
        (True, BooleanType()),
        (2.5, DoubleType()),
        (Decimal("2.50"), DecimalType(5, 2)),
        (date(2026, 1, 1), DateType()),
        (datetime(2026, 1, 1, 11), TimestampType()),
        (b"x", BinaryType()),
    ],
)
def test_the_keys_of_a_map_have_their_type(key: Any, kind: DataType):
    counts = MapType(kind, ArrayType(IntegerType()))
    assert repr(read(written({key: [1, None]}, counts), counts)) == repr({key: [1, None]})


@pytest.mark.parametrize("value", [{"b": 2, "a": 1, "c": 9}, Row(b=2, a=1), (1, 2)])
def test_a_struct_has_the_fields_of_its_schema_in_their_order(value: Any):
    assert written(value, StructType().add("a", DoubleType()).add("b", IntegerType())) == b'{"a":1.0,"b":2}'


@pytest.mark.parametrize("value", ["zz", 5, (1,), [1, 2, 3]])
def test_what_is_no_struct_is_refused_and_not_spread_over_the_fields(value: Any):
    with pytest.raises(StreamsError, match="is no value of a struct with the fields a, b"):
        written(value, StructType().add("a", StringType()).add("b", StringType()))


def test_json_without_a_schema_is_a_variant_whichever_way_it_comes():
    text = b'{"a":[1,2.5,12345678901234567890123456789012345.5],"b":null}'
    found = decoder(Serdes.json(), VariantType())(text)
    assert isinstance(found, VariantVal)
    assert encoder(Serdes.json(), VariantType())(found) == text
    nested = StructType().add("x", VariantType())
    assert written(read(b'{"x":' + text + b"}", nested), nested) == b'{"x":' + text + b"}"


def test_plain_values_cost_no_more_than_json_itself_because_a_processor_writes_and_reads_them_for_each_record():
    values, kind = [{"name": "x", "count": number} for number in range(200)], StructType().add("name", StringType())
    rows = ArrayType(kind.add("count", LongType()))
    write, parse = encoder(Serdes.json(), rows), decoder(Serdes.json(), rows)
    text = json_text.encode(values)
    assert write(values) == text
    whole = least_time(lambda: json_text.encode(values))
    assert least_time(lambda: write(values)) < 1.5 * whole
    assert least_time(lambda: parse(text)) < 1.5 * whole


def least_time(function: Callable[[], object]) -> float:
    """Seconds of this thread on a processor, which others do not add to; the least of many runs."""
    return min(repeat(function, timer=time.thread_time, number=2, repeat=30))
