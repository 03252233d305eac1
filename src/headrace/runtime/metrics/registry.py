"""Where events of this worker are recorded, from any thread, and metrics are read.

metrics.task("orders", 0, "source")           a task is being started: its counters begin at 0
recorder.record(Batch(read=3, written=3, …))
metrics.gauge("connect-worker-rebalance-metrics", "epoch", lambda: 4)
metrics.measures()                            everything, under Kafka Connect's names
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from headrace.connectors.base import Measured
from headrace.runtime.metrics import task as tasks
from headrace.runtime.metrics.events import Event, Moved, Retried
from headrace.runtime.metrics.figures import FigureHistory, TaskFigures, greatest_age
from headrace.runtime.metrics.measures import OWN, Measure, of_task
from headrace.runtime.metrics.progress import CommitProgress
from headrace.runtime.metrics.task import TaskMetrics
from headrace.runtime.metrics.window import Span
from headrace.runtime.metrics.worker import ConnectorMetrics, Startups, of_worker

Lag = Mapping[str, int]
Gauge = Callable[[], float | str | None]


def _now() -> int:
    return time.time_ns() // 1_000_000


class TaskRecorder:
    """Takes the events of one task, from its start on."""

    def __init__(self, state: TaskMetrics, now: Callable[[], int]) -> None:
        self._state, self._now = state, now
        self._lock = threading.Lock()
        self._lag: Callable[[], Lag | None] = lambda: None
        self._silent_since: Callable[[], int | None] = lambda: None
        self._target_silent_since: Callable[[], int | None] = lambda: None
        self._progress = CommitProgress(now())
        self._own: Callable[[], Iterable[Measured]] = lambda: ()
        self._of_plugins: Callable[[], Iterable[Measured]] = lambda: ()
        self._retries: Callable[[], int] = lambda: 0

    def record(self, event: Event) -> None:
        """Something has happened, now."""
        with self._lock:
            self._state = tasks.fold(self._state, event, self._now())

    def follow_lag(self, lag: Callable[[], Lag | None], silent_since_ms: Callable[[], int | None] = lambda: None) -> None:
        """Have `lag()`, the records that are still to be read by partition, asked whenever the metrics are read.

        silent_since_ms: since when (epoch ms) the cluster that is asked for it has given no answer; None: it does.
        """
        self._lag, self._silent_since = lag, silent_since_ms

    def follow_target(self, silent_since_ms: Callable[[], int | None]) -> None:
        """Have the cluster that the task writes to asked whenever the figures are read. silent_since_ms: as of `follow_lag`."""
        self._target_silent_since = silent_since_ms

    def follow_own(self, own: Callable[[], Iterable[Measured]]) -> None:
        """Have `own()`, what the task itself measures, asked whenever the metrics are read."""
        self._own = own

    def follow_plugins(self, measures: Callable[[], Iterable[Measured]], retries: Callable[[], int]) -> None:
        """The same of what plugins in Java of a compiled chain measure, and of how often they were called again."""
        self._of_plugins, self._retries = measures, retries

    def end_plugins(self) -> None:
        """Plugins in Java are about to be closed: how often they were called again is kept."""
        count, self._retries, self._of_plugins = self._retries(), lambda: 0, lambda: ()
        if count:
            self.record(Retried(count))

    def measures(self) -> list[Measured]:
        """What the task itself and its plugins measure now; one host of plugins may be asked by both."""
        measures = [*self._own(), *self._of_plugins()]
        return list({(group, name, *sorted(tags.items())): one for one in measures for group, name, _, tags in [one]}.values())

    def update_progress(self) -> int | None:
        """See whether the task makes progress; to be called every few seconds. Returns the records that are still to be read."""
        lag = self.lag
        total = None if lag is None else sum(lag.values())
        with self._lock:
            running = self._state.status == "running"
            self._progress = self._progress.updated(self._state.stored, total, running, self._now())
        return total

    @property
    def silent_since_ms(self) -> int | None:
        """Since when (epoch ms) the cluster that is asked for the lag has given no answer; None: it does, or is not asked."""
        return self._silent_since()

    @property
    def target_silent_since_ms(self) -> int | None:
        """The same of the cluster that the task writes to."""
        return self._target_silent_since()

    @property
    def stalled_ms(self) -> int:
        """For how long the task has stored no offset while its lag grew; 0 if that is not so."""
        return self._progress.stalled_ms(self._now())

    @property
    def state(self) -> TaskMetrics:
        """What is known now."""
        return self._state

    @property
    def state_with_retries(self) -> TaskMetrics:
        """The same, with how often plugins in Java were called again; the host of plugins is asked for that."""
        return replace(self._state, retries=self._state.retries + self._retries())

    @property
    def lag(self) -> Lag | None:
        """The records that are still to be read, by partition; None if nobody can tell."""
        return self._lag()


class Metrics:
    """All that a worker measures."""

    def __init__(self, window_ms: int = 30_000, samples: int = 2, now: Callable[[], int] = _now) -> None:
        """window_ms, samples: what rates, averages and maxima look back on; now: the clock, in epoch ms."""
        self._span, self._now = Span(window_ms, samples), now
        self._lock = threading.Lock()
        self._connectors: dict[str, ConnectorMetrics] = {}
        self._tasks: dict[tuple[str, int], TaskRecorder] = {}
        self._startups = {"connector": Startups(), "task": Startups()}
        self._gauges: dict[tuple[str, str], Gauge] = {}
        self._own: dict[str, Callable[[], Iterable[Measured]]] = {}
        self.history = FigureHistory()

    # ------------------------------------------------------------------------------------------------- from the runtime
    def task(self, connector: str, task: int, kind: str) -> TaskRecorder:
        """A task ("source" or "sink") is being started: a recorder whose counters begin at 0, but for the number of failures.

        One that was paused continues: it is the same task in Kafka Connect.
        """
        with self._lock:
            before = self._tasks.get((connector, task))
            if before and before.state.status == "paused":
                return before
            state = TaskMetrics.new(kind, self._span, self._now(), before.state.failures if before else 0)
            recorder = self._tasks[connector, task] = TaskRecorder(state, self._now)
            return recorder

    def started(self, what: str, ok: bool) -> None:
        """A start of a "connector" or "task" has succeeded or failed."""
        with self._lock:
            self._startups[what] = self._startups[what].add(ok)

    def connector(self, name: str, kind: str, java_class: str, version: str | None) -> None:
        """What is known of the class of a connector."""
        with self._lock:
            state = self._connectors.get(name, ConnectorMetrics())
            self._connectors[name] = replace(state, kind=kind, java_class=java_class, version=version or "")

    def own_of_connector(self, name: str, read: Callable[[], Iterable[Measured]]) -> None:
        """What a connector of this worker measures itself, as long as it is here."""
        with self._lock:
            self._own[name] = read

    def gauge(self, group: str, name: str, read: Gauge) -> None:
        """Show `read()` as an attribute of the whole worker: a number, a text, or None while there is none.

        group: the MBean's type, as `connect-worker-rebalance-metrics`; name: the attribute's, as `completed-rebalances-total`.
        `read` is called, on any thread, when the metrics are; it should neither wait nor raise.
        """
        with self._lock:
            self._gauges[group, name] = read

    # ------------------------------------------------------------------------------------- from who reports the states
    def connector_state(self, name: str, state: str) -> None:
        """A connector of this worker is in this state (RUNNING …) now; UNASSIGNED: it is no longer this worker's."""
        with self._lock:
            if state == "UNASSIGNED":
                self._connectors.pop(name, None)
                self._own.pop(name, None)
            else:
                self._connectors[name] = replace(self._connectors.get(name, ConnectorMetrics()), status=state.lower())

    def task_state(self, connector: str, task: int, state: str, error: str | None = None) -> None:
        """A task of this worker is in this state now; UNASSIGNED: it is stopped, and its metrics end until it is started again.

        error: what ended a task that is FAILED; its metrics stay.
        """
        with self._lock:
            recorder = self._tasks.get((connector, task))
            if recorder is None and state != "UNASSIGNED":  # it failed before it was made
                kind = self._connectors.get(connector, ConnectorMetrics()).kind or "source"
                recorder = self._tasks[connector, task] = TaskRecorder(TaskMetrics.new(kind, self._span, self._now()), self._now)
        if recorder is not None:
            if recorder.state.status == "unassigned" and state in ("RUNNING", "FAILED"):
                self.started("task", ok=state == "RUNNING")
            recorder.record(Moved(state.lower(), error))

    def no_task(self, connector: str, task: int) -> None:
        """The task is no longer part of its connector, or of this worker."""
        with self._lock:
            self._tasks.pop((connector, task), None)

    def no_connector(self, name: str) -> None:
        """The connector was deleted."""
        self.history.forget(name)
        with self._lock:
            self._own.pop(name, None)
            self._connectors.pop(name, None)
            self._tasks = {key: recorder for key, recorder in self._tasks.items() if key[0] != name}

    # ------------------------------------------------------------------------------------------------- reading
    def measures(self) -> list[Measure]:
        """Everything that is measured, as it is now."""
        now = self._now()
        with self._lock:
            here = {key: r for key, r in sorted(self._tasks.items()) if r.state.status != "unassigned"}
            connectors, startups, gauges = dict(self._connectors), dict(self._startups), dict(self._gauges)
            plugin_metrics = list(self._own.values())
        by_connector: dict[str, list[TaskMetrics]] = {}
        for (name, _), recorder in here.items():
            by_connector.setdefault(name, []).append(recorder.state)
        measures = list(of_worker(connectors, by_connector, startups))
        measures += [Measure(*of, value, {}) for of, read in gauges.items() if (value := read()) is not None]
        for (name, number), recorder in here.items():
            measures += of_task(recorder.state_with_retries, recorder.lag, {"connector": name, "task": str(number)}, now)
            measures.append(Measure(OWN, "stalled-ms", recorder.stalled_ms, {"connector": name, "task": str(number)}))
            measures += [Measure(*measured) for measured in recorder.measures()]
        return measures + [Measure(*measured) for read in plugin_metrics for measured in read()]

    def written(self, connector: str) -> int:
        """Records that the source tasks of a connector on this worker have written since they were started."""
        with self._lock:
            return int(sum(r.state.written.total for (name, _), r in self._tasks.items() if name == connector))

    def figures(self) -> list[TaskFigures]:
        """What an overview shows of each task of this worker; whether they make progress is looked at, too."""
        now = self._now()
        with self._lock:
            here = {key: r for key, r in self._tasks.items() if r.state.status != "unassigned"}
        return [_figures(*key, recorder, now) for key, recorder in here.items()]


def _figures(connector: str, task: int, recorder: TaskRecorder, now_ms: int) -> TaskFigures:
    state, lag = recorder.state, recorder.update_progress()
    rate = round(state.read.window.rate(now_ms), 3) if state.status == "running" else 0.0
    running = state.status == "running"
    silent = (recorder.silent_since_ms, recorder.target_silent_since_ms) if running else (None, None)
    age = greatest_age(recorder.measures())
    return TaskFigures(connector, task, state.read.total, rate, lag, age, recorder.stalled_ms, *silent)
