"""Limits on waiting for a schema registry: a caller can cancel its requests, or limit the time of each."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from headrace.background import in_background
from headrace.registry.errors import RegistryUnavailableError

T = TypeVar("T")

_POLL_INTERVAL_S = 0.1
_REPORT_AFTER_S = 5.0


@dataclass(frozen=True)
class WaitLimit:
    """How long a caller waits for responses of a registry."""

    cancelled: threading.Event
    """Once it is set, the caller stops waiting."""
    report: Callable[[str | None], None] = lambda _: None
    """Called with a sentence when a response takes long, with None when it has arrived."""
    timeout_s: float = math.inf
    """The time limit of one request with all its retries, in s."""


_LIMITS: ContextVar[tuple[WaitLimit, ...]] = ContextVar("registry_wait_limits", default=())


@contextmanager
def limit_wait(limit: WaitLimit) -> Iterator[None]:
    """Apply a limit, and those of the enclosing contexts, to the requests that are sent in this context."""
    token = _LIMITS.set((*_LIMITS.get(), limit))
    try:
        yield
    finally:
        _LIMITS.reset(token)


def is_cancelled() -> bool:
    """Whether the caller, or one of an enclosing context, has stopped waiting."""
    return any(limit.cancelled.is_set() for limit in _LIMITS.get())


def wait_for_response(send: Callable[[float], T], where: str) -> T:
    """The result of `send`, which is called on a new thread if there is a limit.

    send: takes the time limit, of time.monotonic; where: the URLs of the registry, for messages. Raises what `send` raises;
    RegistryUnavailableError at the time limit, or when a caller has stopped waiting.
    """
    limits = _LIMITS.get()
    if not limits:
        return send(math.inf)
    if is_cancelled():
        raise _cancelled(where)
    limit_s = min(limit.timeout_s for limit in limits)
    started_s, reported = time.monotonic(), False
    request = in_background(lambda: send(started_s + limit_s), "schema-registry-request")
    while not wait([request], min(_POLL_INTERVAL_S, limit_s)).done:
        waited_s = time.monotonic() - started_s
        if is_cancelled():
            raise _cancelled(where)
        if waited_s > limit_s:
            raise RegistryUnavailableError(f"The schema registry has not answered ({where}) in {limit_s:g} s.")
        if not reported and waited_s > _REPORT_AFTER_S:
            reported = True
            _report(
                limits,
                f"The schema registry does not answer ({where}): the request was sent more than {_REPORT_AFTER_S:.0f} s ago.",
            )
    if reported:
        _report(limits, None)
    return request.result()


def _cancelled(where: str) -> RegistryUnavailableError:
    return RegistryUnavailableError(f"The schema registry has not answered ({where}); the request was cancelled.")


def _report(limits: tuple[WaitLimit, ...], sentence: str | None) -> None:
    for limit in limits:
        limit.report(sentence)
