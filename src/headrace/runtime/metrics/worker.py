"""Metrics of a worker's connectors, and of startups. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from headrace.runtime.metrics.measures import CONNECTOR, WORKER, Measure
from headrace.runtime.metrics.task import TaskMetrics

_TASK_STATES = ("running", "paused", "failed", "unassigned", "destroyed", "restarting")


@dataclass(frozen=True)
class ConnectorMetrics:
    """A connector of this worker."""

    status: str = "unassigned"
    kind: str = ""
    """`source` or `sink`; empty, as class and version, until the connector was started."""
    java_class: str = ""
    version: str = ""


@dataclass(frozen=True)
class Startups:
    """Numbers of successful and failed startups of connectors or tasks."""

    successes: int = 0
    failures: int = 0

    def add(self, ok: bool) -> Startups:
        """Count one startup."""
        return replace(self, successes=self.successes + ok, failures=self.failures + (not ok))

    def measures(self, kind: str) -> dict[str, float]:
        """The attributes. kind: "connector" or "task"."""
        attempts = self.successes + self.failures
        return {
            f"{kind}-startup-attempts-total": attempts,
            f"{kind}-startup-success-total": self.successes,
            f"{kind}-startup-success-percentage": self.successes / attempts if attempts else 0.0,
            f"{kind}-startup-failure-total": self.failures,
            f"{kind}-startup-failure-percentage": self.failures / attempts if attempts else 0.0,
        }


def of_worker(
    connectors: Mapping[str, ConnectorMetrics], tasks: Mapping[str, Sequence[TaskMetrics]], startups: Mapping[str, Startups]
) -> Iterator[Measure]:
    """The measures of the worker and of its connectors. tasks: by connector; startups: of "connector" and "task"."""
    counts = {"connector-count": len(connectors), "task-count": sum(map(len, tasks.values()))}
    for values in (counts, *(startups[kind].measures(kind) for kind in ("connector", "task"))):
        for name, value in values.items():
            yield Measure(WORKER, name, value, {})
    for name in sorted(connectors.keys() | tasks.keys()):
        states = [task.status for task in tasks.get(name, ())]
        yield Measure(WORKER, "connector-total-task-count", len(states), {"connector": name})
        for state in _TASK_STATES:
            yield Measure(WORKER, f"connector-{state}-task-count", states.count(state), {"connector": name})
    for name, connector in sorted(connectors.items()):
        yield from _of_connector(connector, {"connector": name})


def _of_connector(state: ConnectorMetrics, labels: Mapping[str, str]) -> Iterator[Measure]:
    about = {"connector-type": state.kind, "connector-class": state.java_class, "connector-version": state.version}
    yield Measure(CONNECTOR, "status", state.status, labels)
    yield from (Measure(CONNECTOR, name, value, labels) for name, value in about.items() if value)
