"""What is known of the connectors of a worker, and of how often something was started. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from headrace.runtime.metrics.measures import CONNECTOR, WORKER, Measure
from headrace.runtime.metrics.task import TaskMetrics

_TASK_STATES = ("running", "paused", "failed", "unassigned", "destroyed", "restarting")


@dataclass(frozen=True)
class ConnectorMetrics:
    """A connector of this worker: its state, and what is known of its class once it was started."""

    status: str = "unassigned"
    kind: str = ""
    java_class: str = ""
    version: str = ""


@dataclass(frozen=True)
class Startups:
    """How often connectors, or tasks, were started, and how often that failed."""

    successes: int = 0
    failures: int = 0

    def add(self, ok: bool) -> Startups:
        """One more."""
        return replace(self, successes=self.successes + ok, failures=self.failures + (not ok))

    def measures(self, what: str) -> dict[str, float]:
        """The attributes, `what` being "connector" or "task"."""
        attempts = self.successes + self.failures
        return {
            f"{what}-startup-attempts-total": attempts,
            f"{what}-startup-success-total": self.successes,
            f"{what}-startup-success-percentage": self.successes / attempts if attempts else 0.0,
            f"{what}-startup-failure-total": self.failures,
            f"{what}-startup-failure-percentage": self.failures / attempts if attempts else 0.0,
        }


def of_worker(
    connectors: Mapping[str, ConnectorMetrics], tasks: Mapping[str, Sequence[TaskMetrics]], startups: Mapping[str, Startups]
) -> Iterator[Measure]:
    """All of the worker as a whole and of its connectors. tasks: by connector; startups: of "connector" and "task"."""
    counts = {"connector-count": len(connectors), "task-count": sum(map(len, tasks.values()))}
    for values in (counts, *(startups[what].measures(what) for what in ("connector", "task"))):
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
