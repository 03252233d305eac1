"""Conditions of the JDBC source, run by SQLite over times that are finer than its positions."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from headrace.connectors.spark_source.jdbc_position import Growth, JdbcPosition


def polled(rows: list[tuple[float, int]], number: bool) -> list[Any]:
    """The rows of a table with a time (microseconds) and a number, in the order in which polls read them."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t (time REAL, number INT)")
    database.executemany("INSERT INTO t VALUES (?, ?)", rows)
    growth, begin, read = Growth("time", "number" if number else None, str), JdbcPosition(), []
    for _ in range(10):
        after = database.execute(f"SELECT time, number FROM t WHERE {growth.after(begin)}").fetchall()
        if not after:
            return read
        last = max((int(time), n if number else None) for time, n in after)
        end = begin.to(JdbcPosition(*last))
        read += database.execute(
            f"SELECT time, number FROM t WHERE {growth.after(begin)} AND {growth.until(end)} ORDER BY time, number"
        ).fetchall()
        begin = JdbcPosition.of(end.offset)
    return ["there is no end"]


@pytest.mark.parametrize("number", [False, True])
def test_the_last_row_is_read_where_times_are_finer_than_microseconds(number: bool) -> None:
    rows = [(1_000_000.0, 9), (1_000_000.25, 3), (1_000_007.5, 1), (1_000_007.75, 2)]
    assert polled(rows, number) == rows


@pytest.mark.parametrize("number", [False, True])
def test_whole_microseconds_are_read_to_the_last(number: bool) -> None:
    rows = [(1_000_000.0, 1), (1_000_000.0, 2), (1_000_001.0, 1)]
    assert polled(rows, number) == rows
