"""SparkSink with the format delta: exactly once, whatever comes again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.connectors.spark_sink.delta import Commit, is_conflict
from headrace.errors import RetriableError
from headrace.spark.formats import as_error
from tests.spark_formats.sinks import Topic, task

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def topic(spark: SparkSession) -> Topic:
    """Two partitions of ten records whose values are their numbers: 0 to 9, and 100 to 109."""
    made = Topic(spark, "binary", "struct<n: int>")
    made.add([(p, None, (100 * p + n,)) for p in range(2) for n in range(10)])
    return made


def numbers(spark: SparkSession, path: Path) -> list[int]:
    return sorted(row.n for row in spark.read.format("delta").load(str(path)).collect())


def test_a_batch_that_comes_again_is_written_once(spark: SparkSession, topic: Topic, tmp_path: Path) -> None:
    props = {"format": "delta", "option.path": str(tmp_path / "t")}
    task(props).put(topic.batch({0: (0, 3), 1: (0, 2)}))
    task(props).put(topic.batch({0: (0, 3), 1: (0, 2)}))
    assert numbers(spark, tmp_path / "t") == [0, 1, 2, 100, 101]


def test_a_batch_that_comes_again_longer_adds_what_is_new(spark: SparkSession, topic: Topic, tmp_path: Path) -> None:
    props = {"format": "delta", "option.path": str(tmp_path / "t")}
    task(props).put(topic.batch({0: (0, 3), 1: (0, 2)}))
    task(props).put(topic.batch({0: (0, 5), 1: (0, 2)}))
    task(props).put(topic.batch({0: (2, 4), 1: (1, 4)}))  # one partition shorter, one longer, both begin before the end
    assert numbers(spark, tmp_path / "t") == [0, 1, 2, 3, 4, 100, 101, 102, 103]


def test_partitions_may_move_between_tasks(spark: SparkSession, topic: Topic, tmp_path: Path) -> None:
    props = {"format": "delta", "option.path": str(tmp_path / "t"), "metadata.columns": "partition,offset"}
    task(props, 0).put(topic.batch({0: (0, 3), 1: (0, 2)}))
    task(props, 1).put(topic.batch({1: (0, 4)}))
    assert numbers(spark, tmp_path / "t") == [0, 1, 2, 100, 101, 102, 103]
    last: Any = spark.read.format("delta").load(str(tmp_path / "t")).where("n = 103").first()
    assert last.asDict() == {"n": 103, "__connect_partition": 1, "__connect_offset": 3}


def test_of_two_tasks_that_write_one_partition_at_once_one_fails(spark: SparkSession, topic: Topic, tmp_path: Path) -> None:
    path, name = str(tmp_path / "t"), "headrace/c/t/0"
    props = {"format": "delta", "option.path": path}
    task(props).put(topic.batch({0: (0, 1)}))
    slow = Commit(spark, {"path": path})
    assert slow.version(name) == 1
    task(props).put(topic.batch({0: (1, 2)}))
    with pytest.raises(Exception, match="ConcurrentTransaction") as caught:
        slow.append(spark.range(1).selectExpr("int(id) AS n"), [], {name: 2})
    assert not isinstance(as_error(caught.value, "It failed"), RetriableError)  # the task says so of these
    assert numbers(spark, tmp_path / "t") == [0, 1]


@pytest.mark.parametrize("name", ["ConcurrentAppend", "ConcurrentTransaction", "MetadataChanged", "ProtocolChanged"])
def test_a_commit_that_another_was_faster_than_is_tried_again(name: str) -> None:
    assert is_conflict(f"io.delta.exceptions.{name}Exception")
    assert not is_conflict("io.delta.exceptions.DeltaAnalysisException")


def test_records_without_value_alone_make_no_column(spark: SparkSession, tmp_path: Path) -> None:
    first = Topic(spark, "binary", "variant")  # the first records after a start, when no schema is known
    first.add([(0, b"k", None)])
    for path in (tmp_path / "t", tmp_path / "${topic}"):
        task({"format": "delta", "option.path": str(path), "option.mergeSchema": "true"}).put(first.batch({0: (0, 1)}))
    assert list(tmp_path.iterdir()) == []


def test_new_columns_are_taken_if_the_table_may_change(spark: SparkSession, topic: Topic, tmp_path: Path) -> None:
    props = {"format": "delta", "option.path": str(tmp_path / "t"), "option.mergeSchema": "true"}
    task(props).put(topic.batch({0: (0, 1)}))
    wider = Topic(spark, "binary", "struct<n: int, more: string>")
    wider.add([(0, None, (0, "old")), (0, None, (1, "new"))])
    task(props).put(wider.batch({0: (0, 2)}))
    rows: list[Any] = spark.read.format("delta").load(str(tmp_path / "t")).orderBy("n").collect()
    assert [tuple(row) for row in rows] == [(0, None), (1, "new")]
