"""The statements of the JDBC sink, run by SQLite where they are standard SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import pytest

from headrace.connectors.spark_sink.jdbc_sql import Merge

COLUMNS = ["id", "name", "total"]
TABLE = "CREATE TABLE t (id INT PRIMARY KEY, name TEXT, total INT DEFAULT 7)"
Record = tuple[int, dict[str, Any] | None]


def merged(
    mode: str, records: Sequence[Record], *, before: Sequence[Any] = (), deletes: bool = True, made: str = TABLE
) -> list[Any]:
    """The table `t` after a batch. records: keys and other columns; None deletes. made: the statement that makes the table."""
    database = sqlite3.connect(":memory:")
    sets = sorted({("id", *columns) for _, columns in records if columns is not None})
    merge = Merge("t", "stage", COLUMNS, ["id"], lambda name: f'"{name}"', sets if len(sets) > 1 else [])
    database.execute(made)
    database.executemany("INSERT INTO t VALUES (?, ?, ?)", before)
    database.execute(merge.create_stage())
    for offset, (key, columns) in enumerate(records):
        has = columns or {}
        place = 0 if columns is None else sets.index(("id", *columns))
        row = (key, has.get("name"), has.get("total"), 0, offset, int(columns is None), place)
        database.execute("INSERT INTO stage VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    for statement in merge.statements(mode, deletes):
        database.execute(statement.replace(" r ON CONFLICT", " r WHERE true ON CONFLICT"))  # or it is a join to SQLite
    assert database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [("t",)]
    return sorted(database.execute("SELECT * FROM t").fetchall())


def inserted(before: Sequence[Any], records: Sequence[tuple[Any, str | None]], *, deletes: bool = True) -> list[Any]:
    """The keys and names of the table after a batch of `insert`. A name that is None deletes."""
    rows = [(key, None if name is None else {"name": name, "total": 0}) for key, name in records]
    return [row[:2] for row in merged("insert", rows, before=[(*row, 0) for row in before], deletes=deletes)]


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


@pytest.mark.parametrize(("mode", "after"), [("upsert", [(1, "b", 2)]), ("update", [])])
@pytest.mark.parametrize("others", [[], [(9, {"name": "x"})]])  # a record of another schema
def test_a_key_that_is_deleted_and_comes_again_is_another_row(mode: str, after: list[Any], others: list[Record]) -> None:
    records: list[Record] = [(1, None), (1, {"name": "b", "total": 2}), (2, {"name": "c", "total": 3}), (2, None)]
    found = merged(mode, [*others, *records], before=[(1, "a", 1), (2, "a", 1)])
    assert [row for row in found if row[0] != 9] == after, "as in a batch for each record"


def test_a_row_is_inserted_with_all_columns_of_its_record() -> None:
    required = TABLE.replace("DEFAULT 7", "NOT NULL")
    records: list[Record] = [(1, {"name": "a"}), (1, {"name": "b", "total": 1}), (2, {"name": "c", "total": 2})]
    assert merged("upsert", records, made=required) == [(1, "b", 1), (2, "c", 2)]
    either = TABLE.replace("DEFAULT 7", ", CHECK ((name IS NULL) <> (total IS NULL))")
    kinds: list[Record] = [(1, {"name": "a"}), (2, {"total": 2})]
    assert merged("upsert", kinds, made=either) == [(1, "a", None), (2, None, 2)]
    changed: list[Record] = [(1, {"name": None, "total": 3}), (2, {"name": "b"})]
    assert merged("update", changed, made=either, before=[(1, "a", None), (2, "a", None)]) == [(1, None, 3), (2, "b", None)]


def test_a_column_that_the_last_record_of_a_key_lacks_is_that_of_one_before() -> None:
    old, new = {"name": "c"}, {"name": "b", "total": 2}
    for mode in ("upsert", "update"):
        before = [(1, "a", 1), (2, "a", 1)]
        assert merged(mode, [(1, new), (1, old), (2, new), (2, old), (2, {**new, "total": 3})], before=before) == [
            (1, "c", 2),
            (2, "b", 3),
        ]
    assert merged("upsert", [(1, new), (1, None), (1, old)], before=[(1, "a", 1)]) == [(1, "c", 7)]
