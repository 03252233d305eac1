"""SparkSource with the format jdbc, against a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from headrace.connectors.base import StoredOffsets
from headrace.errors import ConfigError, RetriableError
from tests.spark_formats.conftest import Sql
from tests.spark_formats.postgres import Postgres
from tests.spark_formats.sources import Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_numbers = iter(range(1000))


@pytest.fixture
def table(sql: Sql) -> str:
    name = f"source_{next(_numbers)}"
    sql(f"CREATE TABLE {name} (id BIGINT, changed TIMESTAMP, name TEXT)")
    return name


@pytest.fixture
def source(spark: SparkSession, postgres: Postgres, table: str) -> Callable[..., Source]:
    def make(mode: str, **more: str) -> Source:
        columns = {"incrementing": "id", "timestamp": "changed"}
        props = {"format": "jdbc", "topic": "t", "mode": mode, "option.url": postgres.url, "option.user": "postgres"}
        props |= {"option.dbtable": table, "value.columns": "name", "poll.interval.ms": "0"}
        props |= {f"{kind}.column.name": column for kind, column in columns.items() if kind in mode}
        return Source(spark, props | {name.replace("_", "."): value for name, value in more.items()})

    return make


Make = Callable[..., Source]


def test_new_rows_are_read_in_the_order_of_the_growing_column(source: Make, sql: Sql, table: str) -> None:
    sql(f"INSERT INTO {table} (id, name) VALUES (2, 'b'), (1, 'a'), (3, 'c')")
    rows = source("incrementing", batch_max_rows="2")
    assert (rows.values(), rows.stored) == (["a", "b"], [({"table": table}, {"incrementing": 2})])
    assert rows.values() == ["c"]
    assert rows.values() is None
    sql(f"INSERT INTO {table} (id, name) VALUES (4, 'd')")
    assert rows.values() == ["d"]


def test_a_new_task_resumes_at_the_stored_offset(source: Make, sql: Sql, table: str) -> None:
    sql(f"INSERT INTO {table} (id, name) VALUES (1, 'a'), (2, 'b')")
    rows = source("incrementing")
    assert rows.values() == ["a", "b"]
    sql(f"INSERT INTO {table} (id, name) VALUES (3, 'c')")
    rows.start()
    assert rows.values() == ["c"]


def test_rows_without_a_number_are_left_out_and_told(source: Make, sql: Sql, table: str, events: list[Any]) -> None:
    sql(f"INSERT INTO {table} (id, name) VALUES (1, 'a'), (NULL, 'nobody')")
    assert source("incrementing").values() == ["a"]
    assert "jdbc.rows.null" in [event["event"] for event in events]


def test_rows_of_one_time_stay_in_one_batch(source: Make, sql: Sql, table: str) -> None:
    sql(f"INSERT INTO {table} (changed, name) SELECT '2026-01-01 00:00:00.123456', 'same' FROM generate_series(1, 5)")
    sql(f"INSERT INTO {table} (changed, name) VALUES ('2026-01-01 00:00:00.123457', 'next'), (NULL, 'never')")
    rows = source("timestamp", batch_max_rows="2")
    assert rows.values() == ["same"] * 5
    assert rows.stored[0][1] == {"timestamp": 1767225600123, "timestamp_nanos": 123456000}
    assert (rows.values(), rows.values()) == (["next"], None)


def test_rows_of_one_time_are_told_apart_by_their_number(source: Make, sql: Sql, table: str) -> None:
    sql(f"INSERT INTO {table} SELECT i, '2026-01-01 00:00:00', 'n' || i FROM generate_series(1, 5) i")
    rows = source("timestamp+incrementing", batch_max_rows="2")
    assert [rows.values() for _ in range(4)] == [["n1", "n2"], ["n3", "n4"], ["n5"], None]
    sql(f"UPDATE {table} SET changed = '2026-01-01 00:00:01', name = 'changed' WHERE id = 2")
    assert rows.values() == ["changed"]


def test_rows_younger_than_the_delay_wait(source: Make, sql: Sql, table: str) -> None:
    sql(f"INSERT INTO {table} VALUES (1, now() - interval '1 hour', 'old'), (2, now(), 'young')")
    assert source("timestamp", timestamp_delay_interval_ms="1800000").values() == ["old"]
    assert source("timestamp", timestamp_initial="-1").values() is None


def test_the_first_of_several_times_that_is_there_counts(source: Make, sql: Sql, table: str) -> None:
    sql(f"ALTER TABLE {table} ADD COLUMN created TIMESTAMP")
    sql(f"INSERT INTO {table} VALUES (1, NULL, 'new', '2026-01-01'), (2, '2026-01-02', 'changed', '2025-01-01')")
    assert source("timestamp", timestamp_column_name="changed,created").values() == ["new", "changed"]


def test_a_query_is_read_like_a_table(source: Make, sql: Sql, table: str) -> None:
    sql(f"INSERT INTO {table} (id, name) VALUES (1, 'a'), (2, 'b')")
    rows = source("incrementing")
    query = f"SELECT id, upper(name) AS name FROM {table}"
    rows.props = {k: v for k, v in rows.props.items() if k != "option.dbtable"} | {"option.query": query}
    assert (rows.values(), rows.stored) == (["A", "B"], [({"table": query}, {"incrementing": 2})])


def test_bulk_is_everything_after_every_pause(source: Make, sql: Sql, table: str) -> None:
    sql(f"INSERT INTO {table} (id, name) VALUES (1, 'a')")
    rows = source("bulk", poll_interval_ms="3600000")
    assert (rows.values(), rows.values()) == (["a"], None)
    rows.start()
    assert rows.values() == ["a"]


def test_all_columns_make_a_struct(source: Make, sql: Sql, table: str) -> None:
    sql(f"INSERT INTO {table} (id, name) VALUES (1, 'a')")
    rows = source("incrementing", value_columns="", key_columns="id")
    found = rows.poll()
    assert found is not None
    row: Any = found.frame.select(found.record.key.alias("k"), found.record.value.alias("v")).first()
    assert (row.k, row.v.asDict()) == (1, {"id": 1, "changed": None, "name": "a"})


def test_a_database_that_is_away_is_tried_again(source: Make, spark: SparkSession) -> None:
    rows = source("incrementing")
    rows.props = {**rows.props, "option.url": "jdbc:postgresql://127.0.0.1:1/none"}
    with pytest.raises(RetriableError, match="Connection refused"):
        rows.start().poll(spark, StoredOffsets([]))


def test_a_missing_driver_is_told_with_the_remedy(source: Make, spark: SparkSession) -> None:
    rows = source("incrementing")
    rows.props = {**rows.props, "option.url": "jdbc:nowhere:db"}
    with pytest.raises(ConfigError, match=r"There is no JDBC driver for it: name its jar in spark\.jars of the worker"):
        rows.start().poll(spark, StoredOffsets([]))
