"""The main figures of each task for the overview, and their history of one hour."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headrace.connectors.base import Measured

INTERVAL_S = 10.0
"""Between two samples."""
SAMPLES = 360
"""Number of samples kept: those of an hour."""
_AGE = "replication-latency-ms-max"


@dataclass(frozen=True)
class TaskFigures:
    """One task of this worker, now."""

    connector: str
    task: int
    records: float
    """Read since the task was started."""
    rate: float
    """Records per second, over the window of the metrics (`metrics.sample.window.ms`)."""
    lag: int | None
    """Records still to be read; None if the source does not know."""
    age_ms: float | None
    """Age of the oldest record of the last batch when its copy was acknowledged; None where it is not measured."""
    stalled_ms: int = 0
    """How long no offset was stored while the lag grew (`headrace.runtime.metrics.progress`); 0 if not stalled."""
    silent_since_ms: int | None = None
    """Since when (epoch ms) the source cluster has not answered lag requests; None: it answers, or is not asked."""
    target_silent_since_ms: int | None = None
    """Since when (epoch ms) the cluster that the task writes to has not answered; None: it answers."""
    freshness_ms: int | None = None
    """How long the oldest record that is not delivered has been there (`freshness`); 0 if there is none; None if unknown."""


@dataclass(frozen=True)
class FigureSample:
    """A connector's tasks of this worker over one interval."""

    rate: float
    """Records per second, of all tasks together."""
    age_ms: float | None
    """The greatest of them; None if nothing came, or no task has one."""


@dataclass
class FigureHistory:
    """The last hour of each connector, sampled every INTERVAL_S. For one thread that adds; any may read.

    A connector without a task here (restarting, stopped or on another worker) gets samples of 0; its history is dropped once all
    samples are of that kind.
    """

    _absent: dict[str, int] = field(default_factory=dict)
    """Number of samples since each of these connectors had a task here."""
    _samples: dict[str, deque[FigureSample]] = field(default_factory=dict)
    _records: Mapping[tuple[str, int], float] = field(default_factory=dict)

    def add(self, figures: Iterable[TaskFigures], seconds: float) -> None:
        """Add a sample; seconds: since the last one. A counter that fell belongs to a restarted task."""
        by_connector: dict[str, list[TaskFigures]] = {}
        for shown in figures:
            by_connector.setdefault(shown.connector, []).append(shown)
        for name, tasks in by_connector.items():
            grown = sum(self._grown(task) for task in tasks)
            ages = [task.age_ms for task in tasks if task.age_ms is not None and grown]
            ring = self._samples.setdefault(name, deque(maxlen=SAMPLES))
            ring.append(FigureSample(round(grown / max(seconds, 0.001), 3), max(ages, default=None)))
        self._records = {(task.connector, task.task): task.records for tasks in by_connector.values() for task in tasks}
        self._absent = {name: self._absent.get(name, 0) + 1 for name in self._samples if name not in by_connector}
        for name in self._absent:
            if (ring := self._samples.get(name)) is not None:  # it may just have been deleted
                ring.append(FigureSample(0.0, None))
        self._samples = {name: ring for name, ring in self._samples.items() if self._absent.get(name, 0) < SAMPLES}

    def forget(self, connector: str) -> None:
        """Delete the history of a deleted connector."""
        self._samples.pop(connector, None)

    def of(self, connector: str) -> list[FigureSample]:
        """The samples of a connector, oldest first."""
        return list(self._samples.get(connector, ()))

    def _grown(self, task: TaskFigures) -> float:
        before = self._records.get((task.connector, task.task))
        if before is None:
            return 0.0
        return task.records - before if task.records >= before else task.records


def greatest_age(measured: Iterable[Measured]) -> float | None:
    """The greatest replication latency among a task's own measures, in ms."""
    ages = [value for _, name, value, _ in measured if name.endswith(_AGE) and isinstance(value, int | float)]
    return max((age for age in ages if not math.isnan(age)), default=None)
