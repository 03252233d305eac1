"""The statements of the JDBC sink, run by SQLite where they are standard SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import pytest

from headrace.connectors.spark_sink.jdbc_sql import Merge


def inserted(before: Sequence[Any], records: Sequence[tuple[Any, str | None]], *, deletes: bool = True) -> list[Any]:
    """The table `t` after a batch of `insert`. records: keys and names; a name that is None deletes."""
    database = sqlite3.connect(":memory:")
    merge = Merge("t", "stage", ["id", "name"], ["id"], lambda name: f'"{name}"')
    database.execute("CREATE TABLE t (id INT PRIMARY KEY, name TEXT)")
    database.executemany("INSERT INTO t VALUES (?, ?)", before)
    database.execute(merge.create_stage())
    rows = [(key, name, 0, offset, int(name is None), 0) for offset, (key, name) in enumerate(records)]
    database.executemany("INSERT INTO stage VALUES (?, ?, ?, ?, ?, ?)", rows)
    for statement in merge.statements("insert", deletes):
        database.execute(statement)
    assert database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [("t",)]
    return sorted(database.execute("SELECT * FROM t").fetchall(), key=repr)


@pytest.mark.parametrize(
    ("records", "after"),
    [
        ([(1, None), (1, "b")], [(1, "b")]),
        ([(1, None)], []),
        ([(2, "x"), (2, None), (2, "y")], [(1, "a"), (2, "y")]),
        ([(2, "x"), (2, None)], [(1, "a")]),
        ([(1, None), (1, "b"), (1, None)], []),
        ([(2, "x"), (3, None)], [(1, "a"), (2, "x")]),
    ],
)
def test_insert_takes_deletes_in_the_order_of_the_records(records: Sequence[Any], after: list[Any]) -> None:
    assert inserted([(1, "a")], records) == after


def test_insert_without_deletes_takes_every_row() -> None:
    assert inserted([(1, "a")], [(2, "b"), (3, "c")], deletes=False) == [(1, "a"), (2, "b"), (3, "c")]


def test_the_stage_names_no_type() -> None:
    assert "CAST" not in Merge("t", "stage", ["id"], [], str).create_stage()  # MySQL has no INT there, Oracle no BIGINT


def test_an_update_of_the_key_alone_changes_nothing() -> None:
    assert Merge("t", "stage", ["id"], ["id"], str).statements("update", deletes=False) == ["DROP TABLE stage"]
