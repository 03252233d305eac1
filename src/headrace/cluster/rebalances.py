"""Metrics of the group's rebalances: `connect-worker-rebalance-metrics`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from headrace.runtime.metrics import Metrics
from headrace.runtime.metrics.measures import REBALANCE
from headrace.runtime.metrics.window import Span, Window
from headrace.values.times import now_ms


class Rebalances:
    """Metrics of the rebalances of one worker: each lasts from the new assignment until revoked parts have stopped."""

    def __init__(self, span: Span, now: Callable[[], int] = now_ms) -> None:
        """span: window of the times; now: the clock, in epoch ms."""
        self._now = now
        self._times_ms = Window(span)
        self._completed, self._last_ms = 0, 0
        self._epoch, self._under_way = -1, False

    @contextmanager
    def measured(self, generation: int) -> Iterator[None]:
        """Measure one rebalance, whose steps run inside the context. generation: of the group."""
        begun, self._under_way, self._epoch = self._now(), True, generation
        try:
            yield
        finally:
            self._last_ms, self._under_way = self._now(), False
            self._times_ms = self._times_ms.add(self._last_ms - begun, self._last_ms)
            self._completed += 1

    def show(self, metrics: Metrics, protocol: str, leader: Callable[[], str | None]) -> None:
        """Register the metrics. protocol: `connect.protocol`; leader: returns its URL if it is known without a request."""
        metrics.gauge(REBALANCE, "connect-protocol", lambda: protocol)
        metrics.gauge(REBALANCE, "leader-name", leader)
        metrics.gauge(REBALANCE, "epoch", lambda: self._epoch)
        metrics.gauge(REBALANCE, "completed-rebalances-total", lambda: self._completed)
        metrics.gauge(REBALANCE, "rebalancing", lambda: float(self._under_way))
        metrics.gauge(REBALANCE, "rebalance-max-time-ms", lambda: self._times_ms.largest(self._now()))
        metrics.gauge(REBALANCE, "rebalance-avg-time-ms", lambda: self._times_ms.average(self._now()))
        metrics.gauge(REBALANCE, "time-since-last-rebalance-ms", lambda: self._since())

    def _since(self) -> float | None:
        return self._now() - self._last_ms if self._last_ms else None
