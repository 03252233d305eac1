"""A limit on how often something is done in a period."""

from __future__ import annotations

import threading
from time import monotonic


class PeriodLimit:
    """Lets so many through in a period, and counts the others. Thread-safe.

    A period begins with the first that comes after the last one ended.
    """

    def __init__(self, most: int, period_s: float) -> None:
        self._most, self._period_s = most, period_s
        self._begun_s, self._count, self._missed = -period_s, 0, 0
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Whether there is room for one more in this period."""
        with self._lock:
            self._end_period()
            if self._count == 0:
                self._begun_s = monotonic()
            self._count += 1
            return self._count <= self._most

    def missed(self) -> int:
        """How many had no room in periods that have ended, since this was asked last."""
        with self._lock:
            self._end_period()
            missed, self._missed = self._missed, 0
            return missed

    def _end_period(self) -> None:
        if self._count and monotonic() - self._begun_s >= self._period_s:
            self._missed += max(0, self._count - self._most)
            self._count = 0
