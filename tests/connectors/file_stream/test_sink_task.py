"""The task of FileStreamSink, without a worker."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace.connectors.base import TaskContext
from headrace.connectors.file_stream.sink import FileStreamSinkTask
from headrace.errors import ConnectError


@pytest.mark.parametrize("name", ["eu/orders", "n" * 300, "a\\b:c"])
def test_any_name_of_a_connector_will_do(tmp_path: Path, name: str) -> None:
    task = FileStreamSinkTask(TaskContext(name, 0))
    task.start({"file": str(tmp_path / ("f" * 250))})
    task.stop()
    assert task._parts.parent == tmp_path
    task._parts.mkdir()


def test_a_file_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    file = tmp_path / "missing" / "out"
    with pytest.raises(ConnectError, match=f"^Couldn't find or create file '{file}' for FileStreamSinkTask$"):
        FileStreamSinkTask(TaskContext("eu/orders", 0)).start({"file": str(file)})
