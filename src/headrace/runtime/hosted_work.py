"""The worker's side of a task that Kafka Connect's own classes run: polls its state and records its metrics."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace

import structlog

from headrace.connectors.base import Offsets, Props
from headrace.connectors.hosted import Conversion, HostedClients, HostedTask
from headrace.kafka.coalesced_requests import follow_silence
from headrace.runtime.metrics import TaskRecorder
from headrace.runtime.metrics.events import Assigned, Batch, Committed, Retried

log = structlog.get_logger(__name__)

_WAITED_S = 10.0
"""After so long without a record that is written it is logged that records wait."""


@dataclass(frozen=True)
class _FigureNames:
    """Names of those of Kafka Connect's metrics of a task that are recorded."""

    read: str
    written: str
    took: str
    failed: str = "total-record-failures"
    skipped: str = "total-records-skipped"
    logged: str = "total-errors-logged"
    letters: str = "deadletterqueue-produce-requests"
    retried: str = "total-retries"
    committed: str = "offset-commit-completion-total"
    commit_took: str = "offset-commit-avg-time-ms"
    partitions: str = "partition-count"
    unwritten: str = "source-record-active-count"


_SINK = _FigureNames("sink-record-read-total", "sink-record-send-total", "put-batch-avg-time-ms")
_SOURCE = _FigureNames("source-record-poll-total", "source-record-write-total", "poll-batch-avg-time-ms")


class HostedWork:
    """The work of one hosted task (`headrace.runtime.task.WorkerTask`)."""

    def __init__(
        self, props: Props, task: HostedTask, hosted: tuple[Conversion, HostedClients], note_topic: Callable[[str], None],
        recorder: TaskRecorder,
    ) -> None:  # fmt: skip
        """props: of the task; hosted: its conversion and clients; note_topic: takes a topic that the task has used."""
        self._props, self._task, self._note_topic, self._recorder = props, task, note_topic, recorder
        self._figures: Mapping[str, float] = {}
        self._stored_commits = 0
        self._waiting_since: float | None = None  # infinity once it has been logged
        conversion, clients = hosted
        store = clients.store
        self._names = _SINK if store is None else _SOURCE
        if store is not None:
            recorder.follow_target(follow_silence(clients.producer, clients.admin))
        task.run_with(
            conversion, clients if store is None else replace(clients, store=lambda offsets: self._store(store, offsets))
        )

    @property
    def props(self) -> Props:
        """The task's configuration."""
        return self._props

    @property
    def batches(self) -> int:
        """How often offsets were committed."""
        return self._stored_commits + int(self._figures.get(self._names.committed, 0))

    def prepare(self) -> None:
        """Do nothing: the task is started already."""

    def once(self) -> float:
        """Poll the task's state; raises the error that ended it."""
        state = self._task.state(astuple(self._names))
        for topic in sorted(state.topics):
            self._note_topic(topic)
        before, self._figures = self._figures, state.figures
        self._measure(lambda name: max(0, int(state.figures.get(name, 0) - before.get(name, 0))))
        totals = (self._names.read, self._names.written)
        self._log_waiting(all(before.get(name) == state.figures.get(name) for name in totals))
        return 0.0

    def _log_waiting(self, unchanged: bool) -> None:
        """Log once that records of a source wait for its producer, which sends them whenever it can, and says nothing until then.

        unchanged: none has been polled or written since the last look.
        """
        waiting, now = int(self._figures.get(self._names.unwritten, 0)), time.monotonic()
        if not waiting or not unchanged:
            self._waiting_since = now if waiting else None
        elif self._waiting_since is not None and now - self._waiting_since >= _WAITED_S:
            meaning = "their topic does not exist, which topic.creation.default.* would create, or its brokers do not answer"
            log.warning("task.records-wait", records=waiting, meaning=meaning)
            self._waiting_since = math.inf

    def end(self, timeout_s: float) -> None:
        """Stop the task."""
        self._task.end(timeout_s)

    def cut_off(self) -> None:
        """Do nothing: a stopped task commits no offsets."""

    def close(self) -> None:
        """Do nothing: there are no resources."""

    def _store(self, store: Callable[[Offsets], None], offsets: Offsets) -> None:
        begun, ok = time.monotonic(), False
        try:
            store(offsets)
            ok = True
            self._stored_commits += 1
        finally:
            self._recorder.record(Committed(ok, (time.monotonic() - begun) * 1000))

    def _measure(self, growth: Callable[[str], int]) -> None:
        """Record the metrics.

        growth: of a total, by name; the totals of a task that was started on another worker begin at zero.
        """
        figures, names, record = self._figures, self._names, self._recorder.record
        if names is _SINK:
            record(Assigned(int(figures.get(names.partitions, 0))))
        if growth(names.read):
            record(
                Batch(
                    read=growth(names.read),
                    written=growth(names.written),
                    took_ms=figures.get(names.took, 0.0),
                    failed=growth(names.failed),
                    skipped=growth(names.skipped),
                    logged=growth(names.logged),
                    letters=growth(names.letters),
                )
            )
        if growth(names.retried):
            record(Retried(growth(names.retried)))
        for _ in range(growth(names.committed)):
            record(Committed(True, figures.get(names.commit_took, 0.0)))
