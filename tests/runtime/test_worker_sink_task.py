"""What a sink's task does before it reads."""

from __future__ import annotations

from typing import Any, cast

import pytest

from headrace.connectors.base import TaskContext
from headrace.connectors.file_stream.sink import FileStreamSinkTask
from headrace.errors import RetriableError
from headrace.runtime.metrics.registry import Metrics
from headrace.runtime.sink.delivery import SinkPorts
from headrace.runtime.sink.worker_sink_task import WorkerSinkTask
from tests.runtime.test_sink_plan import plan


def test_a_dead_letter_topic_that_was_not_ensured_is_ensured_by_the_next_call() -> None:
    asked: list[str] = []

    def ensure(topic: str, _replication_factor: int) -> None:
        asked.append(topic)
        raise RetriableError("Timed out while describing topics 'dlq'")

    unused, recorder = cast("Any", None), Metrics().task("c", 1, "sink")
    ports = SinkPorts(unused, ensure, unused, unused, unused, recorder)
    config = {"topics": "a", "file": "f", "errors.tolerance": "all", "errors.deadletterqueue.topic.name": "dlq"}
    work = WorkerSinkTask(plan(config), FileStreamSinkTask(TaskContext("c", 1)), unused, ports, unused)
    for _ in range(2):
        with pytest.raises(RetriableError, match="Timed out while describing topics 'dlq'"):
            work.once()
    assert asked == ["dlq", "dlq"]
