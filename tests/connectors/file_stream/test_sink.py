"""FileStreamSink: where it writes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace.connectors.base import TaskContext
from headrace.connectors.file_stream.sink import FileStreamSinkTask


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
