"""What a worker is doing, for error messages of requests that time out: `The worker is currently …, which began at ….`"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime


class CurrentStage:
    """The steps of a worker that are under way, on any threads; the one that began first is shown."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[object, tuple[str, datetime]] = {}

    @contextmanager
    def during(self, what: str) -> Iterator[None]:
        """Report a step while the context is open; what: `reading …`, in Kafka Connect's words where it has any."""
        key = object()
        with self._lock:
            self._running[key] = (what, datetime.now(UTC))
        try:
            yield
        finally:
            with self._lock:
                del self._running[key]

    def sentence(self) -> str | None:
        """The step that began first, as a sentence; None if there is none."""
        with self._lock:
            if not self._running:
                return None
            what, since = next(iter(self._running.values()))
        instant = since.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return f"The worker is currently {what}, which began at {instant}."
