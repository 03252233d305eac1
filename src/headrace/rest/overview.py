"""All connectors at a glance: what failed first, what each does, and the first sentence of what went wrong."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from starlette.requests import Request

from headrace.cluster.herder import Herder
from headrace.cluster.records import Properties
from headrace.cluster.rest_bodies import UNKNOWN, connector_type
from headrace.cluster.state import ClusterState
from headrace.cluster.status import StatusState
from headrace.cluster.status_records import Status
from headrace.connect_config.cluster_names import read_from, written_to
from headrace.errors import HeadraceError, RestError
from headrace.rest.cluster_figures import ClusterFigures, ConnectorFigures
from headrace.rest.traces import first_line
from headrace.runtime.states import FAILED, PAUSED, RESTARTING, RUNNING, STOPPED, UNASSIGNED
from headrace.topics.active import TopicStatus

PER_PAGE = 50
OWN_CLUSTER = "of the workers"
_ORDER = {FAILED: 0, RESTARTING: 1, UNASSIGNED: 2, PAUSED: 4, STOPPED: 5}
_FRESH_S = 2.0
_NO_FIGURES = ConnectorFigures()
_GROUP_FRESH_S, _GROUP_PATIENCE_S = 15.0, 0.2  # reads the group's members from Kafka


@dataclass(frozen=True)
class OverviewRow:
    """One connector."""

    name: str
    type: str
    """`source`, `sink` or `unknown`."""
    connector_class: str
    state: str
    """State of the connector; FAILED if it, or any of its tasks, has failed."""
    connector_state: str
    """State of the connector without its tasks: one that is paused stays so when a task has failed."""
    worker_id: str
    """Of the connector's instance."""
    workers: Sequence[str]
    """Of the connector and its tasks."""
    tasks: int
    """How many, as `running`."""
    running: int
    failed: int
    """Tasks that have failed."""
    problem: str
    """The first line of what went wrong, of the connector or else of its first task that failed, that its cluster is away, or
    which task makes no progress while its lag grows; empty if there is nothing."""
    lag: int | None
    """Of all tasks, in records; None if it is not known."""
    freshness_ms: int | None
    """How long the oldest record that is not delivered has been there, to two digits; None if that is not known."""
    age_ms: float | None
    """Of the oldest record of the last batch when it was acknowledged; None where it is not measured."""
    rate: float
    """Records per second, of all tasks."""
    rates: Sequence[float]
    """The last minutes, oldest first."""
    topics: Sequence[str]
    """Those that are active."""

    @property
    def states(self) -> tuple[str, ...]:
        """What it is in: its state, and also PAUSED or STOPPED where it has failed besides."""
        also = self.connector_state in (PAUSED, STOPPED) and self.connector_state != self.state
        return (self.state, self.connector_state) if also else (self.state,)


@dataclass(frozen=True)
class ClusterAway:
    """A cluster that connectors read from or write to, and that does not answer."""

    cluster: str
    """Its bootstrap servers as the connectors have them, or that it is the workers'."""
    since_ms: int
    """Epoch ms."""
    connectors: int
    """How many read from it."""
    writers: int
    """How many write to it."""


@dataclass(frozen=True)
class Snapshot:
    """All connectors at one time."""

    rows: Sequence[OverviewRow]
    not_reached: Sequence[str]
    """Workers that did not answer: what their tasks measure is missing."""
    away: Sequence[ClusterAway]
    """Longest first."""
    worker_id: str
    """The worker that answers."""
    workers: int
    """How many the group has."""

    @cached_property
    def digest(self) -> bytes:
        """What it shows, in a few bytes: equal for equal snapshots."""
        return hashlib.sha256(repr((self.rows, self.not_reached, self.away, self.worker_id, self.workers)).encode()).digest()

    @property
    def counts(self) -> dict[str, int]:
        """Connectors, tasks and workers, and how many have failed."""
        return {
            "connectors": len(self.rows),
            "failed_connectors": sum(row.state == FAILED for row in self.rows),
            "tasks": sum(row.tasks for row in self.rows),
            "running_tasks": sum(row.running for row in self.rows),
            "failed_tasks": sum(row.failed for row in self.rows),
            "workers": self.workers,
        }

    def states(self) -> dict[str, int]:
        """How many connectors are in each state, worst first; one that is paused and has failed is in both."""
        counted = Counter(state for row in self.rows for state in row.states)
        return dict(sorted(counted.items(), key=lambda entry: _rank(entry[0])))


@dataclass(frozen=True)
class OverviewQuery:
    """Which connectors to show, and how."""

    text: str = ""
    """In the name, class, problem, a topic or a worker; upper and lower case are the same."""
    state: str = ""
    """Empty, as `type`: all."""
    type: str = ""
    sort: str = ""
    """A field of SORTS; a minus before it: the other way round. By default what has failed comes first."""
    page: int = 1
    """From 1."""

    def select(self, rows: Sequence[OverviewRow]) -> list[OverviewRow]:
        """The rows that match, in order, of all pages."""
        text = self.text.lower()
        chosen = [row for row in rows if self._fits(row, text)]
        key = SORTS.get(self.sort.removeprefix("-"), SORTS["state"])
        return sorted(sorted(chosen, key=lambda row: row.name), key=key, reverse=self.sort.startswith("-"))

    def _fits(self, row: OverviewRow, text: str) -> bool:
        if (self.state.upper() or row.state) not in row.states or row.type != (self.type or row.type):
            return False
        return not text or any(
            text in part.lower() for part in (row.name, row.connector_class, row.problem, *row.topics, *row.workers)
        )


def _rank(state: str) -> int:
    return _ORDER.get(state, 3)


SORTS: Mapping[str, Callable[[OverviewRow], Any]] = {
    "state": lambda row: _rank(row.state),
    "name": lambda row: row.name,
    "type": lambda row: row.type,
    "class": lambda row: row.connector_class.rpartition(".")[2],
    "tasks": lambda row: row.tasks,
    "worker": lambda row: row.worker_id,
    "lag": lambda row: -1 if row.lag is None else row.lag,
    "freshness": lambda row: -1 if row.freshness_ms is None else row.freshness_ms,
    "age": lambda row: -1 if row.age_ms is None else row.age_ms,
    "rate": lambda row: row.rate,
}


class _RowInputs(NamedTuple):
    """All that a row depends on: parts of snapshots, which are the same objects as before if nothing has changed."""

    config: Properties
    connector: Status | None
    tasks: Mapping[int, Status]
    topics: Mapping[str, TopicStatus]
    figures: ConnectorFigures

    def parts(self) -> list[Status]:
        """The states of the connector and its tasks; empty if it was just created."""
        return [] if self.connector is None else [self.connector, *(status for _, status in sorted(self.tasks.items()))]


class Overview:
    """Creates snapshots, at most one in two seconds; a row only if something in it has changed. Thread-safe."""

    def __init__(self, figures: ClusterFigures) -> None:
        self._figures = figures
        self._lock = threading.Lock()
        self._cached: tuple[Herder, float, Snapshot] | None = None
        self._rows: dict[str, tuple[_RowInputs, OverviewRow]] = {}
        self._group: Future[int | None] | None = None
        self._group_requested_s = 0.0
        self._group_size: int | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="group-size")

    def read(self, herder: Herder, request: Request) -> Snapshot:
        """All connectors, at most two seconds old. request: of the user, for what other workers are asked."""
        with self._lock:
            if self._cached and self._cached[0] is herder and time.monotonic() - self._cached[1] < _FRESH_S:
                return self._cached[2]
            states, cluster = herder.snapshots()
            workers = _workers_of(states, cluster)
            figures, silent = self._figures.read(herder, request, workers)
            self._rows = {
                name: self._row(herder, name, _inputs(states, name, config, figures.get(name, _NO_FIGURES)))
                for name, config in cluster.connectors.items()
            }
            rows = [row for _, row in self._rows.values()]
            count = self._workers(herder, len({herder.worker_id, *workers}))
            snapshot = Snapshot(rows, silent, _away(cluster, rows, figures), herder.worker_id, count)
            if self._cached and self._cached[2] == snapshot:
                snapshot = self._cached[2]  # whose digest is known
            self._cached = (herder, time.monotonic(), snapshot)
            return snapshot

    def _row(self, herder: Herder, name: str, inputs: _RowInputs) -> tuple[_RowInputs, OverviewRow]:
        before = self._rows.get(name)
        if before and before[0] == inputs and before[1].type != UNKNOWN:  # a class that was not found may be there now
            return before
        return inputs, _row(herder, name, inputs)

    def _workers(self, herder: Herder, reported: int) -> int:
        """How many workers the group has; those that statuses name where Kafka has not answered yet, or not at all."""
        if self._group is None or (self._group.done() and time.monotonic() - self._group_requested_s > _GROUP_FRESH_S):
            self._group, self._group_requested_s = self._pool.submit(_group_size, herder), time.monotonic()
            wait([self._group], _GROUP_PATIENCE_S)
        if self._group.done():
            self._group_size = self._group.result()
        return self._group_size or reported


def overview_body(snapshot: Snapshot, query: OverviewQuery, herder: Herder) -> dict[str, Any]:
    """The answer of `GET /headrace/overview`."""
    chosen = query.select(snapshot.rows)
    first = (query.page - 1) * PER_PAGE
    return {
        "worker_id": herder.worker_id,
        "kafka_cluster_id": herder.cluster_id,
        "counts": snapshot.counts,
        "states": snapshot.states(),
        "not_reached": list(snapshot.not_reached),
        "clusters_away": [asdict(cluster) for cluster in snapshot.away],
        "matching": len(chosen),
        "page": query.page,
        "pages": max(1, -(-len(chosen) // PER_PAGE)),
        "connectors": [asdict(row) for row in chosen[first : first + PER_PAGE]],
    }


def _group_size(herder: Herder) -> int | None:
    try:
        return len(herder.workers())
    except HeadraceError:
        return None


def _inputs(states: StatusState, name: str, config: Properties, figures: ConnectorFigures) -> _RowInputs:
    return _RowInputs(config, states.connectors.get(name), states.tasks.get(name, {}), states.topics.get(name, {}), figures)


def _workers_of(states: StatusState, cluster: ClusterState) -> set[str]:
    """The workers that connectors and tasks are on."""
    connectors = {name: status for name, status in states.connectors.items() if name in cluster.connectors}
    tasks = (status for name in connectors for status in states.tasks.get(name, {}).values())
    return {status["worker_id"] for status in (*connectors.values(), *tasks)}


def _row(herder: Herder, name: str, inputs: _RowInputs) -> OverviewRow:
    config, figures, parts = inputs.config, inputs.figures, inputs.parts()
    tasks, kind = parts[1:], connector_type(config)
    state = parts[0]["state"] if parts else UNASSIGNED
    return OverviewRow(
        name=name,
        type=kind,
        connector_class=config.get("connector.class") or "",
        state=FAILED if any(part["state"] == FAILED for part in parts) else state,
        connector_state=state,
        worker_id=parts[0]["worker_id"] if parts else "",
        workers=sorted({part["worker_id"] for part in parts}),
        tasks=len(tasks),
        running=sum(task["state"] == RUNNING for task in tasks),
        failed=sum(task["state"] == FAILED for task in tasks),
        problem=_problem(parts, figures, _clusters(kind, config)),
        lag=figures.lag,
        freshness_ms=_rounded(figures.freshness_ms),
        age_ms=figures.age_ms,
        rate=round(figures.rate, 3),
        rates=[round(sample.rate, 3) for sample in figures.samples],
        topics=_topics(herder, name),
    )


def _rounded(millis: int | None) -> int | None:
    """To two digits, as it is shown: what only grows older need not be sent to every page every two seconds."""
    return None if millis is None else millis - millis % 10 ** max(0, len(str(millis)) - 2)


def _clusters(kind: str, config: Mapping[str, str | None]) -> tuple[str, str]:
    """What a connector reads from and writes to; a placeholder is shown as it is in the configuration: no answer has values."""
    return read_from(kind, config) or OWN_CLUSTER, written_to(kind, config) or OWN_CLUSTER


def _away(cluster: ClusterState, rows: Sequence[OverviewRow], figures: Mapping[str, ConnectorFigures]) -> list[ClusterAway]:
    """The clusters that give no answer."""
    away: dict[str, ClusterAway] = {}
    for row in rows:
        connector_figures = figures.get(row.name, _NO_FIGURES)
        silent = (connector_figures.silent_since_ms, connector_figures.target_silent_since_ms)
        if silent == (None, None):
            continue
        clusters = _clusters(row.type, cluster.connectors[row.name])
        for side, (servers, since_ms) in enumerate(zip(clusters, silent, strict=True)):
            if since_ms is not None:
                before = away.get(servers, ClusterAway(servers, since_ms, 0, 0))
                counts = before.connectors + (side == 0), before.writers + (side == 1)
                away[servers] = ClusterAway(servers, min(before.since_ms, since_ms), *counts)
    return sorted(away.values(), key=lambda of: (of.since_ms, of.cluster))


def _problem(parts: Sequence[Status], figures: ConnectorFigures, clusters: tuple[str, str]) -> str:
    """The first sentence of what has failed; if nothing has, which cluster is away, or which task makes no progress.

    clusters: that it reads from, and that it writes to.
    """
    failed = [first_line(part.get("trace") or FAILED) for part in parts if part["state"] == FAILED]
    silent = zip(clusters, (figures.silent_since_ms, figures.target_silent_since_ms), ("reads from", "writes to"), strict=True)
    away = [cluster_not_answering(cluster, since_ms, use) for cluster, since_ms, use in silent if since_ms is not None]
    return next(iter([*failed, *away, *(no_progress(task, ms) for task, ms in sorted(figures.stalled.items()))]), "")


def cluster_not_answering(cluster: str, since_ms: int, use: str) -> str:
    """The sentence about a cluster that does not answer. use: what the connector does with it."""
    since = datetime.fromtimestamp(since_ms / 1000, UTC)
    return f"No answer since {since:%Y-%m-%d %H:%M:%S} UTC from the cluster {cluster} that it {use}."


def no_progress(task: int, stalled_ms: int) -> str:
    """A sentence about a task that stores no offsets while its lag grows."""
    return f"Task {task} has made no progress for {stalled_ms // 1000} s, and its lag grows."


def _topics(herder: Herder, name: str) -> list[str]:
    try:
        return sorted(herder.active_topics(name))
    except RestError:  # tracking is off
        return []
