"""What the tasks of all workers measure, asked of each worker in the background: one that is away holds up no request."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from typing import Any

from starlette.requests import Request

from headrace.errors import HeadraceError
from headrace.rest.forwarding import WorkerClient
from headrace.rest.herder import RestHerder
from headrace.runtime.metrics.figures import FigureSample
from headrace.runtime.schema_usage import USAGE

POINTS = 30
"""Samples of each connector in an overview."""
_FRESH_S, _FIRST_S, _AT_ONCE, _KEPT_S = 2.0, 0.5, 8, 300.0


@dataclass(frozen=True)
class ConnectorFigures:
    """The tasks of one connector, of all workers together."""

    rate: float = 0.0
    """Records per second."""
    lag: int | None = None
    """Records that are still to be read; None if no task can tell."""
    age_ms: float | None = None
    """The greatest age of a record that was copied in the last batches."""
    samples: Sequence[FigureSample] = ()
    """Oldest first, every `figures.INTERVAL_S`."""
    stalled: Mapping[int, int] = field(default_factory=dict)
    """The tasks that make no progress while their lag grows, and for how many ms."""
    waiting: Mapping[int, str] = field(default_factory=dict)
    """The tasks that wait for a schema registry, and why."""

    def plus(self, other: ConnectorFigures) -> ConnectorFigures:
        """Together with those of another worker."""
        return ConnectorFigures(
            self.rate + other.rate,
            _both(self.lag, other.lag, sum),
            _both(self.age_ms, other.age_ms, max),
            _added(self.samples, other.samples),
            {**self.stalled, **other.stalled},
            {**self.waiting, **other.waiting},
        )


def _both(one: Any, other: Any, how: Any) -> Any:
    known = [value for value in (one, other) if value is not None]
    return how(known) if known else None


def _added(one: Sequence[FigureSample], other: Sequence[FigureSample]) -> Sequence[FigureSample]:
    """Sample by sample, from the newest backwards: the workers' clocks differ by less than an interval matters."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    start = len(longer) - len(shorter)
    summed = [FigureSample(a.rate + b.rate, _both(a.age_ms, b.age_ms, max)) for a, b in zip(longer[start:], shorter, strict=True)]
    return [*longer[:start], *summed]


def figures_body(herder: RestHerder, points: int) -> dict[str, Any]:
    """The answer of `GET /headrace/figures`: the tasks of this worker, and the last `points` samples of each connector."""
    tasks = [{**asdict(task), "waiting_for": USAGE.waiting_for(task.connector, task.task)} for task in herder.metrics.figures()]
    names = {task["connector"] for task in tasks}
    series = {name: [[s.rate, s.age_ms] for s in herder.metrics.history.of(name)[-points:]] for name in names} if points else {}
    return {"worker_id": herder.worker_id, "tasks": tasks, "history": series}


def by_connector(body: Mapping[str, Any]) -> dict[str, ConnectorFigures]:
    """The figures in an answer of `GET /headrace/figures`."""
    found: dict[str, ConnectorFigures] = {}
    for task in body["tasks"]:
        name = task["connector"]
        stalled = {task["task"]: task["stalled_ms"]} if task.get("stalled_ms") else {}  # not yet in answers of older workers
        waiting = {task["task"]: task["waiting_for"]} if task.get("waiting_for") else {}
        figures = ConnectorFigures(task["rate"], task["lag"], task["age_ms"], stalled=stalled, waiting=waiting)
        found[name] = found.get(name, ConnectorFigures()).plus(figures)
    for name, samples in body["history"].items():
        told = ConnectorFigures(samples=[FigureSample(rate, age) for rate, age in samples])
        found[name] = found.get(name, ConnectorFigures()).plus(told)
    return found


@dataclass
class _Worker:
    """The last answer of another worker."""

    figures: dict[str, ConnectorFigures] = field(default_factory=dict)
    asked_s: float = -_FRESH_S
    reached: bool | None = None
    pending: Future[None] | None = None


class ClusterFigures:
    """The figures of all workers, at most a few seconds old. Thread-safe."""

    def __init__(self, others: WorkerClient) -> None:
        self._others = others
        self._workers: dict[str, _Worker] = {}
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="figures")

    def read(self, herder: RestHerder, request: Request, workers: Iterable[str]) -> tuple[dict[str, ConnectorFigures], list[str]]:
        """By connector; and those of these workers that did not answer the last time. request: of the user who asks."""
        others = sorted(set(workers) - {herder.worker_id})
        with self._lock:
            now = time.monotonic()
            self._workers = {worker: known for worker, known in self._workers.items() if now - known.asked_s < _KEPT_S}
            known = [self._asked(worker, request) for worker in others]
        wait([one.pending for one in known if one.pending and one.reached is None], _FIRST_S)
        found = by_connector(figures_body(herder, POINTS))
        for one in known:
            for name, figures in one.figures.items():
                found[name] = found.get(name, ConnectorFigures()).plus(figures)
        return found, [worker for worker, one in zip(others, known, strict=True) if not one.reached]

    def _asked(self, worker_id: str, request: Request) -> _Worker:
        one = self._workers.setdefault(worker_id, _Worker())
        if (one.pending is None or one.pending.done()) and time.monotonic() - one.asked_s > _FRESH_S:
            one.asked_s = time.monotonic()
            one.pending = self._pool.submit(self._ask, worker_id, one, request)
        return one

    def _ask(self, worker_id: str, one: _Worker, request: Request) -> None:
        try:
            answer = self._others.get_from(worker_id, ["headrace", "figures"], {"points": str(POINTS)}, request)
            one.figures, one.reached = by_connector(answer), True
        except (HeadraceError, KeyError, TypeError, ValueError):
            one.figures, one.reached = {}, False
