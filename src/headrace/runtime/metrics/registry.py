"""Records the events of this worker, from any thread, and returns its metrics.

metrics.task("orders", 0, "source") a task is being started: its counters begin at 0 recorder.record(Batch(read=3, written=3, …))
metrics.gauge("connect-worker-rebalance-metrics", "epoch", lambda: 4) metrics.measures() everything, under Kafka Connect's names
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from headrace.connectors.base import Measured
from headrace.kafka.delivered_position import DeliveredPosition
from headrace.runtime.metrics import task as tasks
from headrace.runtime.metrics.events import Event, Retried, StateChanged
from headrace.runtime.metrics.figures import FigureHistory, TaskFigures, greatest_age
from headrace.runtime.metrics.freshness import Freshness
from headrace.runtime.metrics.measures import HEADRACE, Measure, of_task
from headrace.runtime.metrics.progress import CommitProgress
from headrace.runtime.metrics.task import TaskMetrics
from headrace.runtime.metrics.window import Span
from headrace.runtime.metrics.worker import ConnectorMetrics, Startups, of_worker
from headrace.runtime.states import FAILED, RUNNING, UNASSIGNED
from headrace.values.times import now_ms

Lag = Mapping[str, int]
Positions = Mapping[str, DeliveredPosition]
Gauge = Callable[[], float | str | None]


class TaskRecorder:
    """Takes the events of one task, from its start on."""

    def __init__(self, state: TaskMetrics, now: Callable[[], int]) -> None:
        self._state, self._now = state, now
        self._lock = threading.Lock()
        self._positions: Callable[[], Positions | None] = lambda: None
        self._silent_since: Callable[[], int | None] = lambda: None
        self._target_silent_since: Callable[[], int | None] = lambda: None
        self._progress, self._freshness = CommitProgress(now()), Freshness()
        self._task_measures: Callable[[], Iterable[Measured]] = lambda: ()
        self._of_plugins: Callable[[], Iterable[Measured]] = lambda: ()
        self._retries: Callable[[], int] = lambda: 0

    def record(self, event: Event) -> None:
        """Record an event that happens now."""
        with self._lock:
            self._state = tasks.fold(self._state, event, self._now())

    def follow_positions(
        self, positions: Callable[[], Positions | None], silent_since_ms: Callable[[], int | None] = lambda: None
    ) -> None:
        """Call `positions()`, how far each partition is delivered, whenever the metrics are read.

        silent_since_ms: since when (epoch ms) the source cluster has not answered; None: it answers.
        """
        self._positions, self._silent_since = positions, silent_since_ms

    def follow_target(self, silent_since_ms: Callable[[], int | None]) -> None:
        """Ask the cluster that the task writes to whenever the figures are read. silent_since_ms: as of `follow_positions`."""
        self._target_silent_since = silent_since_ms

    def follow_task_measures(self, read: Callable[[], Iterable[Measured]]) -> None:
        """Call `read()`, the task's own measures, whenever the metrics are read."""
        self._task_measures = read

    def follow_plugins(self, measures: Callable[[], Iterable[Measured]], retries: Callable[[], int]) -> None:
        """Call `measures()` and `retries()` of a compiled chain's plugins in Java whenever the metrics are read.

        Retries count from now on.
        """
        before = retries()
        self._of_plugins, self._retries = measures, lambda: retries() - before

    def end_plugins(self) -> None:
        """Keep the number of retries of plugins in Java that are about to be closed."""
        count, self._retries, self._of_plugins = self._retries(), lambda: 0, lambda: ()
        if count:
            self.record(Retried(count))

    def measures(self) -> list[Measured]:
        """The measures of the task and its plugins, without duplicates, as both may read the same host of plugins."""
        measures = [*self._task_measures(), *self._of_plugins()]
        return list(
            {
                (group, name, *sorted(tags.items())): measured for measured in measures for group, name, _, tags in [measured]
            }.values()
        )

    def update_progress(self) -> int | None:
        """Update progress and freshness of the task; call it every few seconds. Returns the lag in records, None if unknown."""
        positions = self._positions()
        total = None if positions is None else sum(position.behind for position in positions.values())
        with self._lock:
            running = self._state.status == "running"
            self._progress = self._progress.updated(self._state.stored, total, running, self._now())
            self._freshness = self._freshness.updated(positions, self._now())
        return total

    @property
    def silent_since_ms(self) -> int | None:
        """Since when (epoch ms) the source cluster has not answered lag requests; None: it answers, or is not asked."""
        return self._silent_since()

    @property
    def target_silent_since_ms(self) -> int | None:
        """The same of the cluster that the task writes to."""
        return self._target_silent_since()

    @property
    def stalled_ms(self) -> int:
        """How long the task has stored no offset while its lag grew; 0 if not stalled."""
        return self._progress.stalled_ms(self._now())

    @property
    def freshness_ms(self) -> int | None:
        """How long the oldest record that is not delivered has been there (`headrace.runtime.metrics.freshness`)."""
        return self._freshness.age_ms(self._now())

    @property
    def state(self) -> TaskMetrics:
        """The current counters and windows of the task."""
        return self._state

    @property
    def state_with_retries(self) -> TaskMetrics:
        """`state` with the retries of plugins in Java, which are read from their host."""
        return replace(self._state, retries=self._state.retries + self._retries())

    @property
    def lag(self) -> Lag | None:
        """The records still to be read, by partition; None if unknown."""
        positions = self._positions()
        return None if positions is None else {name: position.behind for name, position in positions.items()}


class Metrics:
    """All metrics of a worker."""

    def __init__(self, window_ms: int = 30_000, samples: int = 2, now: Callable[[], int] = now_ms) -> None:
        """window_ms, samples: the window of rates, averages and maxima; now: the clock, in epoch ms."""
        self._span, self._now = Span(window_ms, samples), now
        self._lock = threading.Lock()
        self._connectors: dict[str, ConnectorMetrics] = {}
        self._tasks: dict[tuple[str, int], TaskRecorder] = {}
        self._written_before: dict[str, float] = {}
        """By connector, what tasks of it have written whose counters were reset, or that are gone."""
        self._startups = {"connector": Startups(), "task": Startups()}
        self._gauges: dict[tuple[str, str], Gauge] = {}
        self._connector_measures: dict[str, Callable[[], Iterable[Measured]]] = {}
        self.history = FigureHistory()

    # ------------------------------------------------------------------------------------------------- from the runtime
    def task(self, connector: str, task: int, kind: str) -> TaskRecorder:
        """Register a task ("source" or "sink") that is being started; returns a recorder whose counters begin at 0, except
        those of failures and data losses. A paused task keeps its recorder: in Kafka Connect it is the same task.
        """
        with self._lock:
            before = self._tasks.get((connector, task))
            if before and before.state.status == "paused":
                return before
            self._keep_written(connector, before)
            state = TaskMetrics.new(kind, self._span, self._now(), before.state if before else None)
            recorder = self._tasks[connector, task] = TaskRecorder(state, self._now)
            return recorder

    def started(self, kind: str, ok: bool) -> None:
        """Count a start of a "connector" or "task" that has succeeded or failed."""
        with self._lock:
            self._startups[kind] = self._startups[kind].add(ok)

    def connector(self, name: str, kind: str, java_class: str, version: str | None) -> None:
        """Set type, class and version of a connector."""
        with self._lock:
            state = self._connectors.get(name, ConnectorMetrics())
            self._connectors[name] = replace(state, kind=kind, java_class=java_class, version=version or "")

    def follow_connector(self, name: str, read: Callable[[], Iterable[Measured]]) -> None:
        """Call `read()`, a connector's own measures, whenever the metrics are read, while it runs on this worker."""
        with self._lock:
            self._connector_measures[name] = read

    def gauge(self, group: str, name: str, read: Gauge) -> None:
        """Show `read()` as an attribute of the whole worker: a number, a text, or None while there is none.

        group: the MBean's type, as `connect-worker-rebalance-metrics`; name: the attribute's, as `completed-rebalances-total`.
        `read` is called, on any thread, when the metrics are; it should neither wait nor raise.
        """
        with self._lock:
            self._gauges[group, name] = read

    # ------------------------------------------------------------------------------------- from who reports the states
    def connector_state(self, name: str, state: str) -> None:
        """Set the state (RUNNING …) of a connector of this worker; UNASSIGNED removes it."""
        with self._lock:
            if state == UNASSIGNED:
                self._connectors.pop(name, None)
                self._connector_measures.pop(name, None)
            else:
                self._connectors[name] = replace(self._connectors.get(name, ConnectorMetrics()), status=state.lower())

    def task_state(self, connector: str, task: int, state: str, error: str | None = None, *, restarts: bool = False) -> None:
        """Set the state of a task of this worker; UNASSIGNED: it is stopped, and has no metrics until it is started again.

        error: of a FAILED task, whose metrics stay; restarts: whether it will be restarted automatically.
        """
        with self._lock:
            recorder = self._tasks.get((connector, task))
            if recorder is None and state != UNASSIGNED:  # it failed before it was created
                kind = self._connectors.get(connector, ConnectorMetrics()).kind or "source"
                recorder = self._tasks[connector, task] = TaskRecorder(TaskMetrics.new(kind, self._span, self._now()), self._now)
        if recorder is not None:
            if recorder.state.status == "unassigned" and state in (RUNNING, FAILED):
                self.started("task", ok=state == RUNNING)
            recorder.record(StateChanged(state.lower(), error, restarts))

    def remove_task(self, connector: str, task: int) -> None:
        """Remove a task that no longer belongs to its connector, or to this worker."""
        with self._lock:
            self._keep_written(connector, self._tasks.pop((connector, task), None))

    def remove_connector(self, name: str) -> None:
        """Remove a deleted connector."""
        self.history.forget(name)
        with self._lock:
            self._connector_measures.pop(name, None)
            self._connectors.pop(name, None)
            self._written_before.pop(name, None)
            self._tasks = {key: recorder for key, recorder in self._tasks.items() if key[0] != name}

    # ------------------------------------------------------------------------------------------------- reading
    def measures(self) -> list[Measure]:
        """The current value of every metric."""
        now = self._now()
        with self._lock:
            here = {key: r for key, r in sorted(self._tasks.items()) if r.state.status != "unassigned"}
            connectors, startups, gauges = dict(self._connectors), dict(self._startups), dict(self._gauges)
            plugin_metrics = list(self._connector_measures.values())
        by_connector: dict[str, list[TaskMetrics]] = {}
        for (name, _), recorder in here.items():
            by_connector.setdefault(name, []).append(recorder.state)
        measures = list(of_worker(connectors, by_connector, startups))
        measures += [Measure(*of, value, {}) for of, read in gauges.items() if (value := read()) is not None]
        for (name, number), recorder in here.items():
            measures += of_task(recorder.state_with_retries, recorder.lag, {"connector": name, "task": str(number)}, now)
            labels = {"connector": name, "task": str(number)}
            measures.append(Measure(HEADRACE, "stalled-ms", recorder.stalled_ms, labels))
            if (freshness_ms := recorder.freshness_ms) is not None:
                measures.append(Measure(HEADRACE, "freshness-ms", freshness_ms, labels))
            measures += [Measure(*measured) for measured in recorder.measures()]
        return measures + [Measure(*measured) for read in plugin_metrics for measured in read()]

    def written(self, connector: str) -> int:
        """Records that the tasks of a connector have written here since the worker was started, or the connector was created."""
        with self._lock:
            now = sum(r.state.written.total for (name, _), r in self._tasks.items() if name == connector)
            return int(now + self._written_before.get(connector, 0))

    def _keep_written(self, connector: str, ended: TaskRecorder | None) -> None:
        if ended and (total := ended.state.written.total):
            self._written_before[connector] = self._written_before.get(connector, 0) + total

    def figures(self, connector: str = "") -> list[TaskFigures]:
        """The figures of each task of this worker, or of this connector's; also updates their progress."""
        now = self._now()
        with self._lock:
            tasks = {key: r for key, r in self._tasks.items() if connector in ("", key[0])}
        here = {key: r for key, r in tasks.items() if r.state.status != "unassigned"}
        return [_figures(*key, recorder, now) for key, recorder in here.items()]


def _figures(connector: str, task: int, recorder: TaskRecorder, now_ms: int) -> TaskFigures:
    state, lag = recorder.state, recorder.update_progress()
    rate = round(state.read.window.rate(now_ms), 3) if state.status == "running" else 0.0
    running = state.status == "running"
    silent = (recorder.silent_since_ms, recorder.target_silent_since_ms) if running else (None, None)
    age = greatest_age(recorder.measures())
    return TaskFigures(connector, task, state.read.total, rate, lag, age, recorder.stalled_ms, *silent, recorder.freshness_ms)
