"""Tasks of SparkSource, polled by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace.connectors.base import Poll, PollingSourceTask, StoredOffsets, TaskContext
from headrace.connectors.spark_source.connector import SparkSourceConnector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass
class Source:
    """A polling source and the offsets that it has stored, which outlive its tasks."""

    spark: SparkSession
    props: Mapping[str, str]
    stored: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = field(default_factory=list)
    task: PollingSourceTask | None = None

    def start(self) -> PollingSourceTask:
        """A new task, as after a restart."""
        task = SparkSourceConnector.task_for(self.props)(TaskContext("c", 0))
        assert isinstance(task, PollingSourceTask)
        task.start(self.props)
        self.task = task
        return task

    def poll(self) -> Poll | None:
        task = self.task or self.start()
        return task.poll(self.spark, StoredOffsets(self.stored))

    def values(self) -> list[Any] | None:
        """The values of the next poll, whose offsets are then stored; None if there is nothing."""
        found = self.poll()
        if found is None:
            return None
        rows = [row.v for row in found.frame.select(found.record.value.alias("v")).collect()]
        self.stored = list(found.progress.offsets)
        assert self.task is not None
        self.task.committed(found.progress)
        return rows
