"""Derives OpenLineage events from the states of connectors and applications: START, RUNNING, COMPLETE and FAIL. Pure.

A run is the time from a connector's start on a worker to its end there, or the time in which the active instance of an
application reports to the worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

START, RUNNING, COMPLETE, FAIL = "START", "RUNNING", "COMPLETE", "FAIL"
RUNNING_INTERVAL_S = 60.0
"""The interval between two RUNNING events of a job."""
_CONNECTOR_RUNNING, _FAILED = ("RUNNING", "RESTARTING"), "FAILED"
_APPLICATION_RUNNING, _ERROR = ("REBALANCING", "RUNNING"), "ERROR"


@dataclass(frozen=True)
class JobState:
    """The current state of a connector or application of this worker."""

    name: str
    state: str
    """The state of the connector, FAILED if any of its tasks has failed, or of the application."""
    trace: str | None = None
    """The stack trace of the connector or the first task that failed."""

    @property
    def is_running(self) -> bool:
        """Whether it is in a run."""
        return self.state in _CONNECTOR_RUNNING

    @classmethod
    def of_connector(cls, status: Mapping[str, Any]) -> JobState:
        """From the body of `GET /connectors/{name}/status`."""
        parts = [status["connector"], *status["tasks"]]
        failed = next((part for part in parts if part["state"] == _FAILED), None)
        return cls(status["name"], _FAILED if failed else parts[0]["state"], failed.get("trace") if failed else None)

    @classmethod
    def of_application(cls, application: Mapping[str, Any]) -> JobState | None:
        """From its report; None: no instance that reports here is active and running."""
        if application["state"] == _ERROR:
            return cls(application["application"], _FAILED, application["problem"] or "The application has ended in ERROR.")
        is_running = any(
            instance["active"] and instance["state"] in _APPLICATION_RUNNING for instance in application["instances"]
        )
        return cls(application["application"], "RUNNING") if is_running else None


@dataclass(frozen=True)
class LineageRun:
    """A run that has started and not ended, or whose job is still failed."""

    id: str
    """OpenLineage's run id, a UUID."""
    last_event_s: float
    """When its last event was sent, of `time.monotonic()`."""
    failed: bool = False
    """It has ended by FAIL: kept until its job changes state, so that a failure is sent once."""


@dataclass(frozen=True)
class RunEventPlan:
    """An event to send."""

    kind: str
    """START, RUNNING, COMPLETE or FAIL."""
    job: str
    """The connector or application."""
    run: str
    """Its id."""
    trace: str | None = None


Runs = Mapping[str, LineageRun]


def follow(runs: Runs, jobs: Iterable[JobState], now_s: float, new_id: Callable[[], str]) -> tuple[Sequence[RunEventPlan], Runs]:
    """The events to send, and the runs after them.

    runs: by job; jobs: all current jobs of this worker; now_s: of `time.monotonic()`; new_id: returns the id of a new run.
    """
    events, continuing = list[RunEventPlan](), dict[str, LineageRun]()
    current = {job.name: job for job in jobs}
    for name, run in runs.items():
        if name not in current and not run.failed:  # deleted, or moved to another worker
            events.append(RunEventPlan(COMPLETE, name, run.id))
    for name, job in sorted(current.items()):
        run = runs.get(name)
        if job.state == _FAILED:
            if run is None:  # it failed before it was seen running: an event of a run needs the run's START
                run = LineageRun(new_id(), now_s)
                events.append(RunEventPlan(START, name, run.id))
            if not run.failed:
                run = replace(run, last_event_s=now_s, failed=True)
                events.append(RunEventPlan(FAIL, name, run.id, job.trace))
            continuing[name] = run
        elif job.is_running:
            if run is None or run.failed:
                run = LineageRun(new_id(), now_s)
                events.append(RunEventPlan(START, name, run.id))
            elif now_s - run.last_event_s >= RUNNING_INTERVAL_S:
                run = replace(run, last_event_s=now_s)
                events.append(RunEventPlan(RUNNING, name, run.id))
            continuing[name] = run
        elif run is not None and not run.failed:
            events.append(RunEventPlan(COMPLETE, name, run.id))
    return events, continuing
