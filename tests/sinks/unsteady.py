"""A sink in Python as a user writes one, which fails as often as a test wants."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from headrace.config import ConfigDef
from headrace.connectors.sink import SinkBatch, SinkConnector, SinkTask
from headrace.errors import RetriableError
from headrace.plugins import Kind, plugin


class UnsteadyTask(SinkTask):
    """Counts what it gets."""

    failures: ClassVar[int] = 0
    error: ClassVar[Exception] = RetriableError("come back later")
    seen: ClassVar[list[SinkBatch]] = []

    def put(self, batch: SinkBatch) -> None:
        """Count the records, or fail."""
        self.seen.append(batch)
        if len(self.seen) <= self.failures:
            raise self.error
        batch.frame.count()


@plugin("tests.Unsteady", Kind.SINK)
class Unsteady(SinkConnector):
    """The connector."""

    task_class = UnsteadyTask

    @classmethod
    def definition(cls) -> ConfigDef:
        """No options."""
        return ConfigDef([])

    @classmethod
    @contextmanager
    def failing(cls, times: int, error: Exception | None = None) -> Iterator[list[SinkBatch]]:
        """Fail so often; gives the list of batches that are handed over."""
        UnsteadyTask.failures, UnsteadyTask.error = times, error or RetriableError("come back later")
        UnsteadyTask.seen = []
        yield UnsteadyTask.seen
