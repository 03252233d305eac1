"""Retries: how long to wait before the next attempt, and until when to try (docs/decisions/0020-libraries.md).

Who retries decides what may be retried.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import TypeVar

import structlog

from headrace.errors import HeadraceError

log = structlog.get_logger(__name__)

Result = TypeVar("Result")


@dataclass
class Backoff:
    """Pauses that double from one attempt to the next, up to the longest."""

    first_s: float = 0.5
    longest_s: float = 30.0
    failures: int = 0
    """Attempts that failed since the last success."""
    jitter: float = 0.0
    """The part of a pause that is random, from 0 to 1, so that many clients do not retry at once."""

    @property
    def pause_s(self) -> float:
        """How long to wait before the next attempt."""
        pause_s = min(self.first_s * 2.0 ** min(self.failures, 60), self.longest_s)
        return pause_s * random.uniform(1 - self.jitter, 1)

    def failed(self) -> float:
        """Count a failure; returns how long to wait before the next attempt."""
        pause_s = self.pause_s
        self.failures += 1
        return pause_s

    def succeeded(self) -> None:
        """Begin with the first pause at the next failure."""
        self.failures = 0


def retry_until(
    step: Callable[[float], Result],
    timeout_s: float,
    pause_s: float,
    is_retriable: Callable[[Exception], bool],
    wait: Callable[[float], bool | None] = time.sleep,
) -> Result:
    """Call `step(seconds left)` until it returns; returns what it returns.

    wait: waits that long, and may return true to end the attempts. Raises the last error of `step` if it is not retriable, the
    time is over, or `wait` ended the attempts.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return step(max(deadline - time.monotonic(), pause_s))
        except Exception as error:
            if not is_retriable(error) or time.monotonic() >= deadline or wait(pause_s):
                raise


def retry_until_stopped(step: Callable[[], object], stopping: threading.Event, pause_s: float, event: str) -> None:
    """Call `step` until it returns, or `stopping` is set; a HeadraceError is logged as this event, and any other one raised."""

    def is_retriable(error: Exception) -> bool:
        if isinstance(error, HeadraceError):
            log.warning(event, cause=str(error))
            return True
        return False

    try:
        retry_until(lambda _left_s: stopping.is_set() or step(), math.inf, pause_s, is_retriable, stopping.wait)
    except Exception:
        if not stopping.is_set():
            raise


def poll_until(
    ask: Callable[[float], Result], timeout_s: float, pause_s: float, wait: Callable[[float], bool | None] = time.sleep
) -> Result:
    """Call `ask(seconds left)` until its answer is true, or the time is over; returns the last answer.

    wait: as for `retry_until`. Raises what `ask` raises.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        answer = ask(max(deadline - time.monotonic(), pause_s))
        if answer or time.monotonic() >= deadline or wait(pause_s):
            return answer


def await_result(future: Future[Result], timeout_s: float, pause_s: float, meanwhile: Callable[[], object]) -> Result:
    """The result of a future; `meanwhile` is called after every pause without one, while as long a pause is left for it.

    Raises what the future holds, TimeoutError if it is not done within `timeout_s`.
    """
    deadline = time.monotonic() + timeout_s
    while not future.done() and deadline - time.monotonic() > 2 * pause_s:
        if not wait([future], pause_s).done:
            meanwhile()
    return future.result(max(deadline - time.monotonic(), 0))


def common_moment(since: float, pause_s: float, step_s: float) -> float:
    """The last moment until `pause_s` after `since` of those that lie `step_s` apart, which are the same for everybody.

    What is asked of a cluster at one moment can be one request, or one transaction, for all who ask. Later than `since` if
    `step_s` is no more than `pause_s`; both and the result are in s of `time.monotonic`.
    """
    return (since + pause_s) // step_s * step_s
