"""FileStreamSource: lines of a file as Spark reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headrace.connectors.base import StoredOffsets, TaskContext
from headrace.connectors.file_stream.source import FileStreamSourceConnector, FileStreamSourceTask
from headrace.errors import ConnectError


def poll(spark: SparkSession, file: Path, position: int | None = None) -> tuple[list[str], int] | None:
    task = FileStreamSourceTask(TaskContext("c", 0))
    task.start({"file": str(file), "topic": "t"})
    found = task.poll(spark, StoredOffsets([(task.partitions()[0], None if position is None else {"position": position})]))
    if found is None:
        return None
    rows = found.frame.orderBy("number").select(found.record.value.alias("v")).collect()
    return [r.v for r in rows], found.progress.offsets[0][1]["position"]


def test_complete_lines_are_read_and_the_rest_waits(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "in.txt"
    file.write_bytes("één\n\nthree\r\nunfinished".encode())
    assert poll(spark, file) == (["één", "", "three"], 14)


def test_reading_resumes_at_the_stored_position(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "in.txt"
    file.write_text("a\nb\nc\n", encoding="utf-8")
    assert poll(spark, file, 2) == (["b", "c"], 6)
    assert poll(spark, file, 6) is None


def test_a_file_that_does_not_exist_yet_is_waited_for(spark: SparkSession, tmp_path: Path) -> None:
    assert poll(spark, tmp_path / "none.txt") is None


@pytest.mark.parametrize(
    ("offset", "sentence"),
    [
        ({"position": -1}, "should be a non-negative value"),
        ({"position": "0"}, "expected to be a Long value"),
        ({"pos": 1}, "contain the key 'position'"),
    ],
)
def test_impossible_positions_are_refused(offset: dict, sentence: str) -> None:
    with pytest.raises(ConnectError, match=sentence):
        FileStreamSourceConnector.alter_offsets({"file": "f"}, [({"filename": "f"}, offset)])
