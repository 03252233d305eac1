"""Which events follow from the states of connectors: a run begins, goes on, is completed, or fails. Pure.

A run is the time from a connector's start on a worker to its end there; Connect's connectors have no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

START, RUNNING, COMPLETE, FAIL = "START", "RUNNING", "COMPLETE", "FAIL"
EVERY_S = 60.0
"""Between two RUNNING events of a connector."""
_WORKS, _FAILED = ("RUNNING", "RESTARTING"), "FAILED"


@dataclass(frozen=True)
class ConnectorState:
    """A connector of this worker now."""

    name: str
    state: str
    """Of the connector; FAILED if any of its tasks has failed."""
    trace: str | None = None
    """Of the first part that failed."""

    @classmethod
    def of(cls, status: Mapping[str, Any]) -> ConnectorState:
        """From the body of `GET /connectors/{name}/status`."""
        parts = [status["connector"], *status["tasks"]]
        failed = next((part for part in parts if part["state"] == _FAILED), None)
        return cls(status["name"], _FAILED if failed else parts[0]["state"], failed.get("trace") if failed else None)


@dataclass(frozen=True)
class LineageRun:
    """A run that has begun."""

    id: str
    told_s: float
    """When its last event was, of `time.monotonic()`."""


@dataclass(frozen=True)
class RunEventPlan:
    """An event to send."""

    kind: str
    connector: str
    run: str
    trace: str | None = None


Runs = Mapping[str, LineageRun]


def follow(
    runs: Runs, connectors: Iterable[ConnectorState], now_s: float, new_id: Callable[[], str]
) -> tuple[Sequence[RunEventPlan], Runs]:
    """The events that are due, and the runs then.

    runs: by connector; connectors: all of this worker now; now_s: of `time.monotonic()`; new_id: gives the id of a new run.
    """
    events, left = list[RunEventPlan](), dict[str, LineageRun]()
    here = {connector.name: connector for connector in connectors}
    for name, run in runs.items():
        if name not in here:  # deleted, or another worker has it
            events.append(RunEventPlan(COMPLETE, name, run.id))
    for name, connector in sorted(here.items()):
        run = runs.get(name)
        if connector.state in _WORKS:
            if run is None:
                run = LineageRun(new_id(), now_s)
                events.append(RunEventPlan(START, name, run.id))
            elif now_s - run.told_s >= EVERY_S:
                run = replace(run, told_s=now_s)
                events.append(RunEventPlan(RUNNING, name, run.id))
            left[name] = run
        elif run is not None:
            kind = FAIL if connector.state == _FAILED else COMPLETE
            events.append(RunEventPlan(kind, name, run.id, connector.trace))
    return events, left
