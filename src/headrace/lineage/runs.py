"""Which events follow from the states of connectors and applications: a run begins, continues, is completed, or fails. Pure.

A run is the time from a connector's start on a worker to its end there, or that for which the active instance of an application
reports to it; neither has another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

START, RUNNING, COMPLETE, FAIL = "START", "RUNNING", "COMPLETE", "FAIL"
EVERY_S = 60.0
"""Between two RUNNING events of a job."""
_WORKS, _FAILED = ("RUNNING", "RESTARTING"), "FAILED"
_AT_WORK, _ERROR = ("REBALANCING", "RUNNING"), "ERROR"


@dataclass(frozen=True)
class JobState:
    """A connector or application of this worker now."""

    name: str
    state: str
    """Of the connector, FAILED if any of its tasks has failed; of the application."""
    trace: str | None = None
    """Of the first part that failed."""

    @classmethod
    def of_connector(cls, status: Mapping[str, Any]) -> JobState:
        """From the body of `GET /connectors/{name}/status`."""
        parts = [status["connector"], *status["tasks"]]
        failed = next((part for part in parts if part["state"] == _FAILED), None)
        return cls(status["name"], _FAILED if failed else parts[0]["state"], failed.get("trace") if failed else None)

    @classmethod
    def of_application(cls, application: Mapping[str, Any]) -> JobState | None:
        """From what it has reported; None: none of the instances that report here has the work."""
        if application["state"] == _ERROR:
            return cls(application["application"], _FAILED, application["problem"] or "The application has ended in ERROR.")
        works = any(instance["active"] and instance["state"] in _AT_WORK for instance in application["instances"])
        return cls(application["application"], "RUNNING") if works else None


@dataclass(frozen=True)
class LineageRun:
    """A run that has begun."""

    id: str
    last_event_s: float
    """When its last event was sent, of `time.monotonic()`."""


@dataclass(frozen=True)
class RunEventPlan:
    """An event to send."""

    kind: str
    job: str
    """The connector or application."""
    run: str
    trace: str | None = None


Runs = Mapping[str, LineageRun]


def follow(runs: Runs, jobs: Iterable[JobState], now_s: float, new_id: Callable[[], str]) -> tuple[Sequence[RunEventPlan], Runs]:
    """The events that are due, and the runs then.

    runs: by job; jobs: all of this worker now; now_s: of `time.monotonic()`; new_id: gives the id of a new run.
    """
    events, left = list[RunEventPlan](), dict[str, LineageRun]()
    here = {job.name: job for job in jobs}
    for name, run in runs.items():
        if name not in here:  # deleted, or another worker has it
            events.append(RunEventPlan(COMPLETE, name, run.id))
    for name, job in sorted(here.items()):
        run = runs.get(name)
        if job.state in _WORKS:
            if run is None:
                run = LineageRun(new_id(), now_s)
                events.append(RunEventPlan(START, name, run.id))
            elif now_s - run.last_event_s >= EVERY_S:
                run = replace(run, last_event_s=now_s)
                events.append(RunEventPlan(RUNNING, name, run.id))
            left[name] = run
        elif run is not None:
            kind = FAIL if job.state == _FAILED else COMPLETE
            events.append(RunEventPlan(kind, name, run.id, job.trace))
    return events, left
