"""SparkSource with files: new ones in the order of their modification."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.errors import ConfigError
from tests.spark_formats.sources import Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write(file: Path, text: str, modified_s: float = 1_700_000_000) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    os.utime(file, (modified_s, modified_s))


def props(path: Path, format: str = "text", **more: str) -> dict[str, str]:
    fixed = {"format": format, "topic": "t", "option.path": str(path)}
    return fixed | {name.replace("_", "."): value for name, value in more.items()}


def test_files_are_read_once_in_the_order_of_time_and_name(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "b.txt", "second\n", 1_700_000_000)
    write(tmp_path / "a/[x] y.txt", "first\n", 1_699_999_999)
    write(tmp_path / "c.txt", "third\n", 1_700_000_000)
    write(tmp_path / "_hidden.txt", "never\n")
    files = Source(spark, props(tmp_path, file_max_files="2"))
    assert sorted(files.values() or []) == ["first", "second"]  # of one batch: Spark reads its files side by side
    assert files.stored == [
        ({"format": "text", "path": str(tmp_path)}, {"modified": 1_700_000_000_000, "path": f"file:{tmp_path}/b.txt"})
    ]
    files.start()
    assert (files.values(), files.values()) == (["third"], None)


def test_directories_are_columns_below_a_base_path(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "day=1/a.txt", "one\n")
    write(tmp_path / "day=2/b.txt", "two\n")
    made = props(tmp_path, option_basePath=str(tmp_path), value_columns="value,day")
    assert sorted(map(tuple, Source(spark, made).values() or [])) == [("one", 1), ("two", 2)]


def test_in_bulk_everything_is_read_again_when_the_interval_is_over_and_after_a_start(
    spark: SparkSession, tmp_path: Path
) -> None:
    write(tmp_path / "a.txt", "one\n")
    bulk = Source(spark, props(tmp_path, mode="bulk", poll_interval_ms="3600000"))
    assert (bulk.values(), bulk.values()) == (["one"], None)
    bulk.start()
    assert (bulk.values(), bulk.stored) == (["one"], [])
    again = Source(spark, props(tmp_path, mode="bulk", poll_interval_ms="0"))
    assert (again.values(), again.values()) == (["one"], ["one"])


def test_a_file_that_is_still_written_waits(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "new.txt").write_text("now\n")
    assert Source(spark, props(tmp_path, file_settle_ms="3600000")).values() is None
    assert Source(spark, props(tmp_path, file_settle_ms="0")).values() == ["now"]


def test_a_file_that_comes_late_is_told(spark: SparkSession, tmp_path: Path, events: list[Any]) -> None:
    write(tmp_path / "b.txt", "b\n", 1_700_000_000)
    files = Source(spark, props(tmp_path))
    assert files.values() == ["b"]
    write(tmp_path / "a.txt", "a\n", 1_600_000_000)
    assert files.values() is None
    assert [e["count"] for e in events if e["event"] == "files.late"] == [1]


def test_a_directory_that_is_not_there_yet_is_waited_for(spark: SparkSession, tmp_path: Path) -> None:
    assert Source(spark, props(tmp_path / "none")).values() is None


@pytest.mark.parametrize("format", ["json", "csv", "parquet", "orc"])
def test_columns_are_read_as_the_format_says(spark: SparkSession, tmp_path: Path, format: str) -> None:
    rows = spark.createDataFrame([(1, "a"), (2, None)], "id bigint, name string").coalesce(1)
    rows.write.format(format).save(str(tmp_path / "files"))
    made = props(tmp_path / "files", format, schema="id BIGINT, name STRING", file_settle_ms="0", key_columns="id")
    found = Source(spark, made).poll()
    assert found is not None
    record = found.record
    chosen = found.frame.select(record.key.alias("k"), record.value.alias("v"), record.origin["file"].alias("f"))
    got: list[Any] = sorted(chosen.collect(), key=lambda row: row.k)
    assert [(row.k, row.v.asDict()) for row in got] == [(1, {"id": 1, "name": "a"}), (2, {"id": 2, "name": None})]
    assert str(tmp_path / "files") in got[0].f


def test_the_topic_may_follow_from_the_record(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "a.json", '{"kind": "x"}\n')
    made = props(tmp_path, "json", schema="kind STRING", topic_expression="concat('of-', kind)")
    found = Source(spark, {name: value for name, value in made.items() if name != "topic"}).poll()
    assert found is not None
    row: Any = found.frame.select(found.record.topic.alias("t")).first()
    assert (row.t, found.progress.topics, found.destination) == ("of-x", None, None)


def test_a_column_that_is_not_there_is_told(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "a.json", '{"kind": "x"}\n')
    with pytest.raises(ConfigError, match="There is no column id in "):
        Source(spark, props(tmp_path, "json", key_columns="id")).poll()
