"""FileStreamSink: where it writes to, and what a batch appends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headrace.connectors.base import TaskContext
from headrace.connectors.file_stream.sink import FileStreamSinkTask
from headrace.connectors.sink import SinkBatch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(("props", "path"), [({}, ""), ({"file": " "}, ""), ({"file": "out.txt"}, "out.txt")])
def test_without_a_file_the_values_go_to_the_standard_output(
    props: dict[str, str], path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    task = FileStreamSinkTask(TaskContext("c", 0))
    task.start({"topics": "t", **props})
    assert task.lane_target().path == (path and str(tmp_path / path))
    assert [file.name for file in tmp_path.iterdir()] == ([path] if path else [])
    task.stop()


def test_batches_are_appended_each_topic_partition_in_its_order_and_nothing_else_is_left(
    spark: SparkSession, tmp_path: Path
) -> None:
    task = FileStreamSinkTask(TaskContext("c", 0))
    task.start({"topics": "t", "file": str(tmp_path / "out.txt")})
    frame = spark.range(0, 6, 1, 2).selectExpr("concat(if(id < 3, 'a', 'b'), id % 3) AS value")  # a Spark partition each
    for _ in range(2):
        task.put(SinkBatch(frame, 0, {("t", 0): (0, 3), ("t", 1): (0, 3)}, spark, None, {}))
    assert (tmp_path / "out.txt").read_text().splitlines() == ["a0", "a1", "a2", "b0", "b1", "b2"] * 2
    assert [file.name for file in tmp_path.iterdir()] == ["out.txt"]
    task.stop()
