"""What the worker does for a hosted sink task, which reads, writes and commits by itself: it looks after it and measures it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from headrace.connectors.base import Props
from headrace.connectors.hosted import HostedSink
from headrace.runtime.metrics import TaskRecorder
from headrace.runtime.metrics.events import Assigned, Batch, Committed
from headrace.runtime.sink.plan import SinkPlan

_READ, _WRITTEN, _COMMITTED = "sink-record-read-total", "sink-record-send-total", "offset-commit-completion-total"


class HostedSinkWork:
    """The work of one hosted sink task (`headrace.runtime.task.WorkerTask`)."""

    def __init__(self, plan: SinkPlan, task: HostedSink, note_topic: Callable[[str], None], recorder: TaskRecorder) -> None:
        """note_topic: takes a topic that the task has had records of."""
        self._plan, self._task, self._note_topic, self._recorder = plan, task, note_topic, recorder
        self._figures: Mapping[str, float] = {}

    @property
    def props(self) -> Props:
        """The task's configuration."""
        return self._plan.props

    @property
    def batches(self) -> int:
        """How often offsets were committed."""
        return int(self._figures.get(_COMMITTED, 0))

    def prepare(self) -> None:
        """Nothing: the task has started by then."""

    def once(self) -> float:
        """Look at the task; raises what has ended it."""
        answer = self._task.look()
        for topic in sorted(answer.topics):
            self._note_topic(topic)
        before, self._figures = self._figures, answer.figures
        self._measure(lambda name: int(answer.figures.get(name, 0) - before.get(name, 0)))
        return 0.0

    def end(self, timeout_s: float) -> None:
        """Stop it."""
        self._task.end(timeout_s)

    def cut_off(self) -> None:
        """It commits nothing any more by then."""

    def close(self) -> None:
        """Nothing is kept here."""

    def _measure(self, more: Callable[[str], int]) -> None:
        """more: by how much a total has grown."""
        figures, record = self._figures, self._recorder.record
        record(Assigned(int(figures.get("partition-count", 0))))
        if more(_READ):
            record(
                Batch(
                    read=more(_READ),
                    written=more(_WRITTEN),
                    took_ms=figures.get("put-batch-avg-time-ms", 0.0),
                    failed=more("total-record-failures"),
                    skipped=more("total-records-skipped"),
                    logged=more("total-errors-logged"),
                    letters=more("deadletterqueue-produce-requests"),
                )
            )
        for _ in range(more(_COMMITTED)):
            record(Committed(True, figures.get("offset-commit-avg-time-ms", 0.0)))
