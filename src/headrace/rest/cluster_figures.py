"""The figures of the tasks of all workers, requested in the background so that a lost worker delays no request."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from starlette.requests import Request

from headrace.cluster.herder import Herder
from headrace.errors import HeadraceError, NotFoundError
from headrace.rest.forwarding import WorkerClient
from headrace.runtime.metrics.figures import INTERVAL_S, FigureSample, TaskFigures
from headrace.runtime.schema_usage import USAGE
from headrace.values.times import now_ms

POINTS = 30
"""Samples of each connector in an overview."""
_FRESH_S, _FIRST_S, _AT_ONCE, _RETENTION_S = 2.0, 0.5, 8, 300.0


@dataclass(frozen=True)
class ConnectorFigures:
    """The tasks of one connector, of all workers together."""

    rate: float = 0.0
    """Records per second."""
    lag: int | None = None
    """Records still to be read; None if no task knows."""
    age_ms: float | None = None
    """The greatest age of a record that was copied in the last batches."""
    samples: Sequence[FigureSample] = ()
    """Oldest first, every `figures.INTERVAL_S`."""
    stalled: Mapping[int, int] = field(default_factory=dict)
    """The tasks that make no progress while their lag grows, and for how many ms."""
    waiting: Mapping[int, str] = field(default_factory=dict)
    """The tasks that wait for a schema registry, and why."""
    silent_since_ms: int | None = None
    """Since when (epoch ms) the cluster that tasks read from has not answered; None: it answers, or is not asked."""
    target_silent_since_ms: int | None = None
    """Since when (epoch ms) the cluster that tasks write to has not answered; None: it answers, or is not asked."""
    freshness_ms: int | None = None
    """How long the oldest record that is not delivered has been there; None if no task knows."""
    freshness: Mapping[int, int] = field(default_factory=dict)
    """The same of each task that knows."""

    def plus(self, more: ConnectorFigures) -> ConnectorFigures:
        """Together with those of another worker."""
        return ConnectorFigures(
            self.rate + more.rate,
            _both(self.lag, more.lag, sum),
            _both(self.age_ms, more.age_ms, max),
            _added(self.samples, more.samples),
            {**self.stalled, **more.stalled},
            {**self.waiting, **more.waiting},
            _both(self.silent_since_ms, more.silent_since_ms, min),
            _both(self.target_silent_since_ms, more.target_silent_since_ms, min),
            _both(self.freshness_ms, more.freshness_ms, max),
            {**self.freshness, **more.freshness},
        )


def _both(first: Any, second: Any, how: Any) -> Any:
    values = [value for value in (first, second) if value is not None]
    return how(values) if values else None


def _added(first: Sequence[FigureSample], second: Sequence[FigureSample]) -> Sequence[FigureSample]:
    """Sample by sample, from the newest backwards: the workers' clocks differ by less than an interval matters."""
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    start = len(longer) - len(shorter)
    summed = [FigureSample(a.rate + b.rate, _both(a.age_ms, b.age_ms, max)) for a, b in zip(longer[start:], shorter, strict=True)]
    return [*longer[:start], *summed]


def figures_body(herder: Herder, points: int, connector: str = "") -> dict[str, Any]:
    """The answer of `GET /headrace/figures`: the tasks of this worker, and the last `points` samples of each connector.

    connector: of this one only; empty: of all.
    """
    measured = _measured(herder, points, connector)
    tasks = [{**asdict(task), "waiting_for": reason} for task, reason in measured.tasks]
    series = {name: [[sample.rate, sample.age_ms] for sample in samples] for name, samples in measured.history.items()}
    return {"worker_id": herder.worker_id, "tasks": tasks, "history": series}


@dataclass(frozen=True)
class _Measured:
    """What one worker measures."""

    tasks: Sequence[tuple[TaskFigures, str | None]]
    """Each with why it waits for a schema registry."""
    history: Mapping[str, Sequence[FigureSample]]

    def by_connector(self) -> dict[str, ConnectorFigures]:
        """The figures of each connector."""
        by_name: dict[str, ConnectorFigures] = {}
        for task, reason in self.tasks:
            figures, others = _of_task(task, reason), by_name.get(task.connector)
            by_name[task.connector] = others.plus(figures) if others else figures
        for name, samples in self.history.items():
            by_name[name] = replace(by_name.get(name, ConnectorFigures()), samples=samples)
        return by_name


def _measured(herder: Herder, points: int, connector: str = "") -> _Measured:
    """By this worker, now; connector: of this one only; empty: of all."""
    tasks = herder.metrics.figures(connector)
    names = {task.connector for task in tasks} | ({connector} if connector else set())  # it may have no task here now
    history = {name: herder.metrics.history.of(name)[-points:] for name in names} if points else {}
    return _Measured([(task, USAGE.waiting_for(task.connector, task.task)) for task in tasks], history)


def _of_answer(body: Mapping[str, Any]) -> _Measured:
    """What another worker, of an older or newer version, has answered. Raises KeyError, TypeError, ValueError."""
    known = {field.name for field in fields(TaskFigures)}
    tasks = [
        (TaskFigures(**{name: value for name, value in task.items() if name in known}), task.get("waiting_for"))
        for task in body["tasks"]
    ]
    return _Measured(
        tasks, {name: [FigureSample(rate, age) for rate, age in samples] for name, samples in body["history"].items()}
    )


def _of_task(task: TaskFigures, waiting_for: str | None) -> ConnectorFigures:
    return ConnectorFigures(
        task.rate, task.lag, task.age_ms,
        stalled={task.task: task.stalled_ms} if task.stalled_ms else {},
        waiting={task.task: waiting_for} if waiting_for else {},
        silent_since_ms=task.silent_since_ms, target_silent_since_ms=task.target_silent_since_ms,
        freshness_ms=task.freshness_ms, freshness={} if task.freshness_ms is None else {task.task: task.freshness_ms},
    )  # fmt: skip


def connector_figures_body(
    herder: Herder, worker_client: WorkerClient, request: Request, connector: str, points: int
) -> dict[str, Any]:
    """The answer of `GET /headrace/connectors/{connector}/figures`: of all workers together, each asked now.

    request: of the user who asks. Raises NotFoundError.
    """
    herder.info(connector)
    now = now_ms()
    path, query = ["headrace", "figures"], {"points": str(points), "connector": connector}
    answered = worker_client.get_from_all(sorted(workers_of(herder, connector) - {herder.worker_id}), path, query, request)
    figures = _measured(herder, points, connector).by_connector().get(connector, ConnectorFigures())
    for response in answered.values():
        if response is not None:
            figures = figures.plus(_of_answer(response).by_connector().get(connector, ConnectorFigures()))
    first_ms = now - (len(figures.samples) - 1) * int(INTERVAL_S * 1000)
    samples = [
        {"time_ms": first_ms + n * int(INTERVAL_S * 1000), "rate": round(sample.rate, 3), "age_ms": sample.age_ms}
        for n, sample in enumerate(figures.samples)
    ]
    return {
        "connector": connector,
        "rate": round(figures.rate, 3),
        "lag": figures.lag,
        "age_ms": figures.age_ms,
        "freshness_ms": figures.freshness_ms,
        "samples": samples,
        "not_reached": [worker_id for worker_id, response in answered.items() if response is None],
    }


def workers_of(herder: Herder, connector: str) -> set[str]:
    """The workers of a connector's tasks, by their statuses."""
    try:
        return {task["worker_id"] for task in herder.status(connector)["tasks"]}
    except NotFoundError:
        return set()


@dataclass
class _Worker:
    """The last answer of another worker."""

    figures: dict[str, ConnectorFigures] = field(default_factory=dict)
    requested_s: float = -_FRESH_S
    reached: bool | None = None
    pending: Future[None] | None = None


class ClusterFigures:
    """The figures of all workers, at most a few seconds old. Thread-safe."""

    def __init__(self, worker_client: WorkerClient) -> None:
        self._worker_client = worker_client
        self._workers: dict[str, _Worker] = {}
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="figures")

    def read(self, herder: Herder, request: Request, workers: Iterable[str]) -> tuple[dict[str, ConnectorFigures], list[str]]:
        """The figures by connector; and the workers that did not answer the last request. request: of the user."""
        other_workers = sorted(set(workers) - {herder.worker_id})
        with self._lock:
            now = time.monotonic()
            self._workers = {
                worker: worker_figures
                for worker, worker_figures in self._workers.items()
                if now - worker_figures.requested_s < _RETENTION_S
            }
            by_worker = [self._request_figures(worker, request) for worker in other_workers]
        own_figures = _measured(herder, POINTS).by_connector()  # may read lags of clusters, while the other workers respond
        left_s = max(0.0, now + _FIRST_S - time.monotonic())
        wait([worker.pending for worker in by_worker if worker.pending and worker.reached is None], left_s)
        for worker_figures in by_worker:
            for name, figures in worker_figures.figures.items():
                own_figures[name] = own_figures.get(name, ConnectorFigures()).plus(figures)
        return own_figures, [
            worker for worker, worker_figures in zip(other_workers, by_worker, strict=True) if not worker_figures.reached
        ]

    def _request_figures(self, worker_id: str, request: Request) -> _Worker:
        worker = self._workers.setdefault(worker_id, _Worker())
        if (worker.pending is None or worker.pending.done()) and time.monotonic() - worker.requested_s > _FRESH_S:
            worker.requested_s = time.monotonic()
            worker.pending = self._pool.submit(self._ask, worker_id, worker, request)
        return worker

    def _ask(self, worker_id: str, worker: _Worker, request: Request) -> None:
        try:
            response = self._worker_client.get_from(worker_id, ["headrace", "figures"], {"points": str(POINTS)}, request)
            worker.figures, worker.reached = _of_answer(response).by_connector(), True
        except (HeadraceError, KeyError, TypeError, ValueError):
            worker.figures, worker.reached = {}, False
