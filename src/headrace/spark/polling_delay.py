"""The polling delay of the queries of this process.

An idle query polls its source after `spark.sql.streaming.pollingDelay`, which Spark reads once, when the query starts. A query
that has been idle for a while is slowed down here, in proportion to the number of idle queries, so that all of them together
poll a limited number of times a second; its next batch restores its delay.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog

log = structlog.get_logger(__name__)

QUIET_S = 10.0
"""Time without a batch after which a query is slowed down."""
EACH_MS, LONGEST_MS = 10, 1000
_POLL_INTERVAL_S = 5.0


@dataclass
class _Paced:
    usual_ms: int
    set_ms: Callable[[int], None]
    last: float
    now_ms: int


class PollingDelay:
    """Polling delays of queries, each identified by a key of the caller. Thread-safe."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """now: the clock, in seconds."""
        self._now, self._lock = now, threading.Lock()
        self._queries: dict[object, _Paced] = {}
        self._watching = False

    def begin(self, key: object, usual_ms: int, set_ms: Callable[[int], None]) -> None:
        """Register a query that polls every `usual_ms`; set_ms: changes its delay."""
        with self._lock:
            self._queries[key] = _Paced(usual_ms, set_ms, self._now(), usual_ms)
            if not self._watching:
                self._watching = True
                threading.Thread(target=self._watch, name="query-pace", daemon=True).start()

    def batch(self, key: object) -> None:
        """Restore the delay of a query that has a batch."""
        with self._lock:
            query = self._queries.get(key)
            if query is not None:
                query.last = self._now()
                _set(query, query.usual_ms)

    def end(self, key: object) -> None:
        """Remove a query that has ended."""
        with self._lock:
            self._queries.pop(key, None)

    def slow_quiet_queries(self) -> None:
        """Slow down idle queries."""
        with self._lock:
            quiet = [query for query in self._queries.values() if self._now() - query.last >= QUIET_S]
            for query in quiet:
                _set(query, max(query.usual_ms, min(EACH_MS * len(quiet), LONGEST_MS)))

    def _watch(self) -> None:
        while True:
            time.sleep(_POLL_INTERVAL_S)
            self.slow_quiet_queries()
            with self._lock:
                if not self._queries:
                    self._watching = False
                    return


def _set(query: _Paced, delay_ms: int) -> None:
    if query.now_ms == delay_ms:
        return
    query.now_ms = delay_ms
    try:
        query.set_ms(delay_ms)
    except Exception as error:  # the query or Spark has ended
        log.debug("query.polling-delay.unchanged", cause=str(error))


PACE = PollingDelay()
"""The polling delays of this process, which has one session."""


def pace(query: Any, key: object) -> None:
    """Control the polling delay of a `StreamingQuery` with the default trigger, until `PACE.end(key)`."""
    execution = query._jsq.streamingQuery()
    owner = execution.getClass()
    while owner.getSimpleName() != "StreamExecution":
        owner = owner.getSuperclass()
    field = owner.getDeclaredField("pollingDelayMs")
    field.setAccessible(True)
    PACE.begin(key, field.getLong(execution), lambda delay_ms: field.setLong(execution, delay_ms))
