"""The current step of a worker, for errors of requests that time out: `The worker is currently …, which began at ….`"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from headrace.values.times import iso


class CurrentStage:
    """The running steps of a worker, on any threads; the oldest is shown."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[object, tuple[str, datetime]] = {}

    @contextmanager
    def during(self, stage: str) -> Iterator[None]:
        """Show a step while the context is open; stage: `reading …`, in Kafka Connect's words if it has any."""
        key = object()
        with self._lock:
            self._running[key] = (stage, datetime.now(UTC))
        try:
            yield
        finally:
            with self._lock:
                del self._running[key]

    def sentence(self) -> str | None:
        """The oldest running step, as a sentence; None if there is none."""
        with self._lock:
            if not self._running:
                return None
            stage, since = next(iter(self._running.values()))
        return f"The worker is currently {stage}, which began at {iso(since)}."
