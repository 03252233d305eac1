"""SparkSink with the format jdbc, against a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from headrace.connectors.base import TaskContext
from headrace.connectors.spark_sink.jdbc import stage_name
from headrace.errors import ConfigError, HeadraceError
from headrace.spark.jdbc import Database
from tests.spark_formats.conftest import Sql
from tests.spark_formats.postgres import Postgres
from tests.spark_formats.sinks import Topic, task

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_numbers = iter(range(1000))
VALUE = "struct<name: string, total: int>"


@pytest.fixture
def table(sql: Sql) -> str:
    name = f"sink_{next(_numbers)}"
    sql(f'CREATE TABLE {name} (id BIGINT PRIMARY KEY, name TEXT, "total" INT DEFAULT 7)')
    return name


@pytest.fixture
def props(postgres: Postgres, table: str) -> Callable[..., dict[str, str]]:
    def make(**more: str) -> dict[str, str]:
        fixed = {"format": "jdbc", "option.url": postgres.url, "option.user": "postgres", "option.dbtable": table}
        return fixed | {name.replace("_", "."): value for name, value in more.items()}

    return make


Make = Callable[..., dict[str, str]]
UPSERT = {"insert_mode": "upsert", "pk_mode": "record_key", "pk_fields": "id"}


def rows(sql: Sql, table: str, columns: str = "id, name, total") -> list[Any]:
    return sorted(sql(f"SELECT {columns} FROM {table}"))


def test_the_last_record_of_a_key_is_its_row(spark: SparkSession, sql: Sql, props: Make, table: str) -> None:
    topic = Topic(spark, "bigint", VALUE)
    topic.add([(0, 1, ("a", 1)), (0, 2, ("b", 1)), (0, 1, ("a", 2)), (0, 1, ("a", 3)), (1, 3, ("c", None))])
    task(props(**UPSERT)).put(topic.batch({0: (0, 4), 1: (0, 1)}))
    assert rows(sql, table) == [(1, "a", 3), (2, "b", 1), (3, "c", None)]


def test_a_batch_that_comes_again_changes_nothing(spark: SparkSession, sql: Sql, props: Make, table: str) -> None:
    topic = Topic(spark, "bigint", VALUE)
    topic.add([(0, 1, ("a", 1)), (0, 1, ("a", 2)), (0, 2, ("b", 1)), (0, 2, ("b", 2))])
    for extent in ((0, 3), (0, 3), (0, 4)):
        task(props(**UPSERT)).put(topic.batch({0: extent}))
    assert rows(sql, table) == [(1, "a", 2), (2, "b", 2)]
    assert sql("SELECT tablename FROM pg_tables WHERE tablename LIKE 'headrace_stage%'") == []


def test_a_record_without_value_deletes_its_row(spark: SparkSession, sql: Sql, props: Make, table: str) -> None:
    topic = Topic(spark, "bigint", VALUE)
    topic.add([(0, 1, ("a", 1)), (0, 2, ("b", 1)), (0, 1, None), (0, 2, None), (0, 2, ("again", 2))])
    task(props(**UPSERT, delete_enabled="true")).put(topic.batch({0: (0, 2)}))
    task(props(**UPSERT, delete_enabled="true")).put(topic.batch({0: (2, 5)}))
    assert rows(sql, table) == [(2, "again", 2)]
    task(props(**UPSERT)).put(topic.batch({0: (3, 4)}))  # not enabled: left out
    assert rows(sql, table) == [(2, "again", 2)]


def test_a_field_that_a_schema_does_not_have_keeps_its_value(spark: SparkSession, sql: Sql, props: Make, table: str) -> None:
    value, old, new = "struct<name: string, total: int, headrace_own_fields: array<string>>", ["name"], ["name", "total"]
    topic = Topic(spark, "bigint", value)
    topic.add([(0, key, ("a", 1, new)) for key in (1, 2, 3)])
    topic.add([(0, 1, ("b", None, old))])
    topic.add([(0, 1, ("b", 2, new)), (0, 1, ("c", None, old)), (0, 2, ("a", None, new)), (0, 4, ("d", None, old))])
    topic.add([(0, 3, None), (0, 3, ("e", None, old))])
    made = task(props(**UPSERT, delete_enabled="true"))
    made.put(topic.batch({0: (0, 3)}))
    made.put(topic.batch({0: (3, 4)}))
    assert rows(sql, table)[0] == (1, "b", 1), "no record of this batch has the field"
    made.put(topic.batch({0: (4, 10)}))
    assert rows(sql, table) == [(1, "c", 2), (2, "a", None), (3, "e", 7), (4, "d", 7)]
    sql(f"DELETE FROM {table}")
    task(props(pk_mode="record_key", pk_fields="id")).put(topic.batch({0: (6, 8)}))
    assert rows(sql, table) == [(2, "a", None), (4, "d", 7)], "the default, where the schema does not have it"


def test_update_changes_only_what_is_there(spark: SparkSession, sql: Sql, props: Make, table: str) -> None:
    sql(f"INSERT INTO {table} VALUES (1, 'old', 1)")
    topic = Topic(spark, "struct<id: bigint>", "struct<name: string>")
    topic.add([(0, (1,), ("new",)), (0, (2,), ("none",))])
    task(props(insert_mode="update", pk_mode="record_key")).put(topic.batch({0: (0, 2)}))
    assert rows(sql, table) == [(1, "new", 1)]


def test_a_batch_is_inserted_as_a_whole_or_not_at_all(spark: SparkSession, sql: Sql, props: Make, table: str) -> None:
    topic = Topic(spark, "binary", "struct<id: bigint, name: string>")
    topic.add([(0, None, (1, "a")), (0, None, (2, "b")), (0, None, (2, "twice"))])
    task(props()).put(topic.batch({0: (0, 1)}))
    with pytest.raises(HeadraceError, match="duplicate key value violates unique constraint"):
        task(props()).put(topic.batch({0: (1, 3)}))
    assert rows(sql, table) == [(1, "a", 7)]  # a column that records do not have takes its default
    assert sql("SELECT tablename FROM pg_tables WHERE tablename LIKE 'headrace_stage%'") == []


def test_each_batch_has_a_stage_of_its_own() -> None:
    names = {stage_name(TaskContext("orders", 0), "lake.orders") for _ in range(2)}  # the same task of two clusters
    assert len(names) == 2
    assert all(name.startswith("lake.headrace_stage_") for name in names)


def test_a_table_is_made_with_the_key_if_it_may(spark: SparkSession, sql: Sql, props: Make, table: str) -> None:
    topic = Topic(spark, "binary", "struct<Name: string, paid: decimal(10,2), at: timestamp>")
    topic.add([(0, None, ("a", None, None)), (1, None, ("b", None, None))])
    made = props(insert_mode="upsert", pk_mode="kafka", auto_create="true", option_dbtable=f"{table}_made")
    for _ in range(2):
        task(made).put(topic.batch({0: (0, 1), 1: (0, 1)}))
    columns = '"Name", __connect_topic, __connect_partition, __connect_offset'
    assert rows(sql, f"{table}_made", columns) == [("a", "t", 0, 0), ("b", "t", 1, 0)]


def test_deletes_alone_make_no_table(spark: SparkSession, sql: Sql, props: Make, table: str) -> None:
    topic = Topic(spark, "bigint", "struct<name: string>")
    topic.add([(0, 1, None), (0, 2, ("b",))])
    made = task(props(**UPSERT, delete_enabled="true", auto_create="true", option_dbtable=f"{table}_made"))
    made.put(topic.batch({0: (0, 1)}))
    assert sql(f"SELECT tablename FROM pg_tables WHERE tablename = '{table}_made'") == []
    made.put(topic.batch({0: (1, 2)}))
    assert rows(sql, f"{table}_made", "id, name") == [(2, "b")]


def test_a_table_is_made_with_its_key_or_not_at_all(spark: SparkSession, sql: Sql, props: Make, table: str) -> None:
    topic = Topic(spark, "binary", f"struct<{', '.join(f'c{n}: int' for n in range(33))}>")
    topic.add([(0, None, tuple(range(33)))])
    made = props(insert_mode="upsert", pk_mode="record_value", auto_create="true", option_dbtable=f"{table}_made")
    with pytest.raises(HeadraceError, match="cannot use more than 32 columns in an index"):
        task(made).put(topic.batch({0: (0, 1)}))
    assert sql(f"SELECT tablename FROM pg_tables WHERE tablename = '{table}_made'") == []


def test_what_does_not_fit_is_told(spark: SparkSession, props: Make, table: str) -> None:
    topic = Topic(spark, "string", "struct<other: string>")
    topic.add([(0, "k", ("a",))])
    batch = topic.batch({0: (0, 1)})
    with pytest.raises(ConfigError, match="The records have a column other, the table has id, name, total"):
        task(props()).put(batch)
    with pytest.raises(ConfigError, match=r"There is no such table; make it, or set auto\.create"):
        task(props(option_dbtable="nowhere")).put(batch)
    with pytest.raises(ConfigError, match="has no field id; it has other"):
        task(props(insert_mode="upsert", pk_mode="record_value", pk_fields="id")).put(batch)
    with pytest.raises(ConfigError, match="has to be the name of one column"):
        task(props(insert_mode="upsert", pk_mode="record_key")).put(batch)


def test_what_fails_is_rolled_back_before_the_connection_is_closed(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    jvm.java.lang.System.setProperty("derby.stream.error.file", "/dev/null")
    database = Database(spark, {"url": "jdbc:derby:memory:rolled-back;create=true"})
    with database.transaction() as transaction:
        transaction.execute("CREATE TABLE t (id INT)")
    with pytest.raises(ValueError, match="It fails"), database.transaction() as transaction:  # unlike others, Derby tells
        transaction.execute("INSERT INTO t VALUES (1)")
        raise ValueError("It fails")
    with database.transaction() as transaction:
        assert transaction.execute("DELETE FROM t") == 0
