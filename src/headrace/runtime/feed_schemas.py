"""Learns the schemas of a feed's records on a thread beside the feed: a registry may not answer for minutes."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import wait
from typing import Any

import structlog

from headrace.background import in_background
from headrace.errors import RetriableError
from headrace.registry.request_wait import WaitLimit, limit_wait
from headrace.retry import Backoff
from headrace.runtime.feed_plans import FeedPlans

log = structlog.get_logger(__name__)

_RENEW_S = 1.0  # the shortest interval of checks for newer schemas

Plans = list[tuple[Any, list[str]]]


class FeedSchemas:
    """Learns the schemas of one run of a feed, one request after another. Called by the run's thread."""

    def __init__(self, plans: FeedPlans, wake: Callable[[], None]) -> None:
        """wake: called, on another thread, once `ready` has new plans."""
        self._plans, self._wake = plans, wake
        self._needs: dict[str, None] = {}  # see FeedPlans.plans_for
        self._learning: _Learning | None = None
        self._learn_at, self._backoff = math.inf, Backoff()
        self._renewed_at = -math.inf

    @property
    def due_at(self) -> float:
        """When to call `ready`, by time.monotonic, unless the run is woken before."""
        return math.inf if self._learning is not None else min(self._learn_at, self._renew_at)

    @property
    def _renew_at(self) -> float:
        return max(self._plans.renew_at, self._renewed_at + _RENEW_S)

    def need(self, needs: Iterable[str]) -> None:
        """Add needs of records; while the registry is unavailable, only the partitions with these records wait."""
        self._needs |= dict.fromkeys(needs)
        self._learn_at = min(self._learn_at, time.monotonic())

    def ready(self) -> Plans:
        """Plans with new schemas, as from `FeedPlans.plans_for`; starts the next request if it is due. Raises ConnectError."""
        plans: Plans = []
        if self._learning is not None and self._learning.plans.done():
            learning, self._learning = self._learning, None
            plans = self._result_of(learning)
        if self._learning is None and time.monotonic() >= self.due_at:
            self._begin()
        return plans

    def wait_until_idle(self) -> None:
        """Cancel a wait for the registry, and return once nothing is being learned: then the caller may use the plans."""
        if self._learning is not None:
            self._learning.given_up.set()
            wait([self._learning.plans])
            self._learning = None

    def give_up(self) -> None:
        """Cancel a wait for the registry; returns at once."""
        if self._learning is not None:
            self._learning.given_up.set()

    def _begin(self) -> None:
        needs = list(self._needs)
        if time.monotonic() >= self._renew_at:
            self._renewed_at = time.monotonic()
            self._learning = _Learning(self._plans.renewed, [], self._wake)
        else:
            self._learn_at = math.inf
            self._learning = _Learning(lambda: self._plans.plans_for(needs), needs, self._wake)

    def _result_of(self, learning: _Learning) -> Plans:
        try:
            plans = learning.plans.result()
        except RetriableError as error:
            pause_s = self._backoff.failed()
            log.warning("task.schemas.waiting", cause=str(error), pause_s=pause_s)
            self._learn_at = time.monotonic() + pause_s if self._needs else self._learn_at
            return []
        self._backoff.succeeded()
        for need in learning.needs:
            del self._needs[need]
        if not self._needs:
            self._learn_at = math.inf
        return plans


class _Learning:
    """One request, on a thread of its own that starts at once."""

    def __init__(self, learn: Callable[[], Plans], needs: list[str], wake: Callable[[], None]) -> None:
        self.needs, self.given_up = needs, threading.Event()

        def patiently() -> Plans:
            with limit_wait(WaitLimit(self.given_up)):
                return learn()

        self.plans = in_background(patiently, "feed-schemas")
        self.plans.add_done_callback(lambda _: wake())
