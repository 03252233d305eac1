"""SparkSink with the format delta, by key: the last record of a key counts."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headrace.connectors.spark_sink.config import SparkSinkConfig
from headrace.errors import ConnectError
from headrace.sql_functions import F
from tests.spark_formats.sinks import Topic, task
from tests.support import everything

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UPSERT = {"format": "delta", "insert.mode": "upsert", "pk.mode": "record_key", "delete.enabled": "true"}

# Each test makes a table of its own columns, for whose every batch Spark would compile code: that was most of their time.
pytestmark = [] if everything() else [pytest.mark.usefixtures("interpreted")]


def rows(spark: SparkSession, path: Path) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in spark.read.format("delta").load(str(path)).collect())


def test_rows_are_changed_added_and_deleted_and_a_batch_may_come_again(spark: SparkSession, tmp_path: Path) -> None:
    topic = Topic(spark, "struct<id: int>", "struct<id: int, city: string>")
    topic.add([(0, (1,), (1, "Bern")), (0, (2,), (2, "Basel")), (0, (1,), (1, "Thun")), (0, (2,), None), (0, (3,), (3, "Chur"))])
    path = tmp_path / "t"
    props = {**UPSERT, "option.path": str(path)}
    task(props).put(topic.batch({0: (0, 2)}))
    assert rows(spark, path) == [(1, "Bern"), (2, "Basel")]
    for _ in range(2):
        task(props).put(topic.batch({0: (1, 5)}))
        assert rows(spark, path) == [(1, "Thun"), (3, "Chur")]


def test_a_new_column_is_added_where_that_is_asked_for(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    props = {**UPSERT, "option.path": str(path), "option.mergeSchema": "true"}
    old, new = (Topic(spark, "struct<id: int>", f"struct<id: int{more}>") for more in ("", ", city: string"))
    old.add([(0, (1,), (1,)), (0, (2,), (2,))])
    new.add([(0, (1,), (1, "Bern"))])
    task(props).put(old.batch({0: (0, 2)}))
    task(props).put(new.batch({0: (0, 1)}))
    assert spark.read.format("delta").load(str(path)).columns == ["id", "city"]
    assert {tuple(row) for row in spark.read.format("delta").load(str(path)).collect()} == {(1, "Bern"), (2, None)}


def test_a_field_that_a_schema_does_not_have_keeps_its_value(spark: SparkSession, tmp_path: Path) -> None:
    value = "struct<id: int, city: string, zip: string, headrace_own_fields: array<string>>"
    topic, old, new = Topic(spark, "struct<id: int>", value), ["id", "city"], ["id", "city", "zip"]
    topic.add([(0, (key,), (key, "Bern", "3000", new)) for key in (1, 2, 3)])
    topic.add([(0, (1,), (1, "Thun", None, old))])
    topic.add([(0, (1,), (1, "Thun", "3600", new)), (0, (1,), (1, "Chur", None, old)), (0, (2,), (2, "Bern", None, new))])
    topic.add([(0, (3,), None), (0, (3,), (3, "Visp", None, old))])
    for more in ({}, {"option.mergeSchema": "true"}):
        path = tmp_path / f"t{len(more)}"
        made = task({**UPSERT, "option.path": str(path), **more})
        made.put(topic.batch({0: (0, 3)}))
        made.put(topic.batch({0: (3, 4)}))
        assert rows(spark, path)[0] == (1, "Thun", "3000"), "no record of this batch has the field"
        made.put(topic.batch({0: (4, 9)}))
        assert rows(spark, path) == [(1, "Chur", "3600"), (2, "Bern", None), (3, "Visp", None)]


def test_a_value_that_is_kept_is_not_changed_by_the_types_of_the_records(spark: SparkSession, tmp_path: Path) -> None:
    table, of_records = (
        f"struct<id: int, code: {code}, total: {total}, at: struct<a: int{more}>{own}>"
        for code, total, more, own in (
            ("string", "decimal(30,4)", "", ""),
            ("int", "double", ", b: int", ", headrace_own_fields: array<string>"),
        )
    )
    large, own = Decimal("123456789012345678.1234"), ["id", "code", "total", "at"]
    before, topic = (Topic(spark, "struct<id: int>", value) for value in (table, of_records))
    before.add([(0, (1,), (1, "007", large, (1,))), (0, (2,), (2, "abc", large, (2,)))])
    topic.add([(0, (1,), (1, None, None, None, ["id"])), (0, (2,), (2, 5, 0.5, (3, 4), own))])
    made = task({**UPSERT, "option.path": str(tmp_path / "t"), "option.mergeSchema": "true"})
    made.put(before.batch({0: (0, 2)}))
    made.put(topic.batch({0: (0, 2)}))
    assert rows(spark, tmp_path / "t") == [(1, "007", large, (1, None)), (2, "5", Decimal("0.5"), (3, 4))]


def test_a_batch_of_several_schemas_is_kept_and_computed_once(spark: SparkSession, tmp_path: Path) -> None:
    topic = Topic(spark, "struct<id: int>", "struct<id: int, city: string, zip: string, headrace_own_fields: array<string>>")
    topic.add([(0, (1,), (1, "Bern", "3000", ["id", "city", "zip"])), (0, (1,), (1, "Thun", None, ["id", "city"]))])
    batch, own = topic.batch({0: (0, 2)}), "headrace_own_fields"
    other_each_time = F.array_append(F.col(f"value.{own}"), F.expr("java_method('java.util.UUID', 'randomUUID')"))
    frame = batch.frame.withColumn("value", F.col("value").withField(own, other_each_time))
    task({**UPSERT, "option.path": str(tmp_path / "t")}).put(replace(batch, frame=frame))
    assert rows(spark, tmp_path / "t") == [(1, "Thun", "3000")], "the schemas that were looked up are those of the records"


def test_deletes_alone_need_no_columns_of_values(spark: SparkSession, tmp_path: Path) -> None:
    topic, gone = Topic(spark, "struct<id: int>", "struct<id: int, c: string>"), Topic(spark, "struct<id: int>", "variant")
    topic.add([(0, (1,), (1, "a")), (0, (2,), (2, "b"))])
    gone.add([(0, (1,), None)])
    props = {**UPSERT, "option.path": str(tmp_path / "t")}
    task(props).put(gone.batch({0: (0, 1)}))  # there is no table yet, and this makes none: it has no columns for it
    task(props).put(topic.batch({0: (0, 2)}))
    task(props).put(gone.batch({0: (0, 1)}))
    assert rows(spark, tmp_path / "t") == [(2, "b")]


def test_a_record_without_key_is_no_other_records_row(spark: SparkSession, tmp_path: Path) -> None:
    topic = Topic(spark, "int", "struct<city: string>")
    topic.add([(0, 1, ("Thun",)), (0, None, ("Bern",)), (0, None, ("Basel",))])
    props = {**UPSERT, "pk.fields": "id", "option.path": str(tmp_path / "t")}
    task(props).put(topic.batch({0: (0, 1)}))
    with pytest.raises(ConnectError, match="The column id of the key is NULL in the record at t-0, offset "):
        task(props).put(topic.batch({0: (0, 3)}))
    assert rows(spark, tmp_path / "t") == [(1, "Thun")]


def test_a_record_with_neither_key_nor_value_deletes_no_row(spark: SparkSession, tmp_path: Path) -> None:
    topic = Topic(spark, "struct<id: int>", "struct<id: int>")
    topic.add([(0, (1,), (1,)), (0, (2,), (2,)), (0, None, None), (0, (1,), None)])
    task({**UPSERT, "option.path": str(tmp_path / "t")}).put(topic.batch({0: (0, 4)}))
    assert rows(spark, tmp_path / "t") == [(2,)]


@pytest.mark.parametrize(
    ("given", "option", "why"),
    [
        ({"insert.mode": "update"}, "insert.mode", "The format delta takes insert and upsert"),
        ({"insert.mode": "upsert"}, "pk.mode", "insert.mode=upsert needs a primary key"),
        ({"delete.enabled": "true"}, "delete.enabled", "Deletes need pk.mode=record_key"),
    ],
)
def test_what_cannot_be_is_said(given: dict[str, str], option: str, why: str) -> None:
    assert why in SparkSinkConfig.all_problems({"format": "delta", "option.path": "/t", **given})[option][0]
