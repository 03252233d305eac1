"""How a connector's lag is printed."""

from __future__ import annotations

import pytest

from headrace.cli.connectors import tables

DONE = {
    "topic": "a\x1b[2J",
    "partition": 0,
    "task": 1,
    "offset": 9,
    "end_offset": 10,
    "lag": 0,
    "timestamp": 0,
    "freshness_ms": 0,
}
GONE = {**dict.fromkeys(DONE, None), "topic": "b", "partition": 3}


def test_each_partition_is_a_row_and_what_is_not_known_is_blank() -> None:
    table = tables.lag({"partitions": [DONE, GONE]})
    rows = [[str(cell) for cell in row] for row in zip(*(column.cells for column in table.columns), strict=True)]
    assert rows == [
        ["a\\x1b[2J", "0", "1", "9", "10", "0", "1970-01-01T00:00:00.000+00:00", "0.0 s"],
        ["b", "3", "", "", "", "", "", ""],
    ]


@pytest.mark.parametrize(
    ("lag", "freshness_ms", "sentence"),
    [
        (0, 0, "0 records behind"),
        (1, 1_840, "1 record behind, the oldest of them 1.8 s old"),
        (12_345, 3_723_900, "12,345 records behind, the oldest of them 1:02:03 old"),
        (5, None, "5 records behind"),
    ],
)
def test_all_partitions_are_one_sentence(lag: int, freshness_ms: int | None, sentence: str) -> None:
    assert tables.lag_of_all({"lag": lag, "freshness_ms": freshness_ms, "partitions": [DONE]}) == sentence


def test_a_connector_without_partitions_says_so() -> None:
    assert tables.lag_of_all({"lag": 0, "freshness_ms": None, "partitions": []}) == "No partition is copied, and none has been."
