"""Jobs that a connector does again and again on one thread, one after the other (MirrorMaker's Scheduler)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace

import structlog

from headrace.errors import HeadraceError
from headrace.retry import Backoff

log = structlog.get_logger(__name__)

FIRST_RETRY_S, _RETRY_S, LEAST_S = 5.0, 10.0, 1.0
NEVER_S = 1e9
"""The interval of a job that is not repeated."""


def interval_s(enabled: bool, seconds: int) -> float:
    """The interval of a job that is done once at least: NEVER_S if it is not enabled, or the interval is negative."""
    return float(seconds) if enabled and seconds >= 0 else NEVER_S


@dataclass(frozen=True)
class Job:
    """Something that is done again and again."""

    what: str
    """In words, for the log."""
    action: Callable[[], None]
    interval_s: float
    """The pause after it; negative: it is never run."""
    after_s: float = 0.0
    """The pause before the first run."""


class Schedule:
    """Runs jobs from `start` to `stop`. One that fails is logged and tried again, after five seconds, then ten.

    A job with a negative interval is never run, as in MirrorMaker; one with an interval of 0, every second: clusters are asked.
    """

    def __init__(self, name: str, jobs: Sequence[Job]) -> None:
        self._jobs = [replace(job, interval_s=max(LEAST_S, job.interval_s)) for job in jobs if job.interval_s >= 0]
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=copy_context().run, args=(self._main,), name=name, daemon=True)

    def start(self) -> None:
        """Start the thread; returns at once."""
        self._thread.start()

    def stop(self, timeout_s: float) -> None:
        """End the thread; one that does not end in time is left behind."""
        self._stopping.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout_s)

    def _main(self) -> None:
        due = [time.monotonic() + job.after_s for job in self._jobs]
        backoffs = [Backoff(min(job.interval_s, FIRST_RETRY_S), min(job.interval_s, _RETRY_S)) for job in self._jobs]
        while due and not self._stopping.wait(max(0.0, min(due) - time.monotonic())):
            at = due.index(min(due))
            job = self._jobs[at]
            if self._run(job):
                backoffs[at].succeeded()
                pause_s = job.interval_s
            else:
                pause_s = backoffs[at].failed()
            due[at] = time.monotonic() + pause_s

    def _run(self, job: Job) -> bool:
        begun = time.monotonic()
        try:
            job.action()
        except HeadraceError as error:
            if not self._stopping.is_set():
                log.warning("mirror.job.failed", job=job.what, cause=str(error))
            return False
        except Exception:
            log.exception("mirror.job.failed", job=job.what)
            return False
        log.debug("mirror.job.done", job=job.what, took_s=round(time.monotonic() - begun, 3))
        return True
