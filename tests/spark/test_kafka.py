"""Spark's JSON of Kafka offsets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headrace.spark.kafka import offsets_json, parse_offsets

POSITIONS = st.dictionaries(st.text(min_size=1), st.dictionaries(st.integers(0, 500), st.integers(-2, 2**62), min_size=1))


def test_offsets_are_written_as_spark_reads_them() -> None:
    assert offsets_json({"b": {1: 5, 0: -2}, "a": {0: 1}}) == '{"a": {"0": 1}, "b": {"0": -2, "1": 5}}'


@given(POSITIONS)
def test_offsets_round_trip(positions: dict[str, dict[int, int]]) -> None:
    assert parse_offsets(offsets_json(positions)) == positions
