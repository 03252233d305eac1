"""Samples a worker's metrics for the history that an overview shows."""

from __future__ import annotations

import threading
import time

from headrace.cluster.herder import Herder
from headrace.rest import logs
from headrace.runtime.metrics.figures import INTERVAL_S


class Sampler:
    """A thread that adds to the history of the metrics every INTERVAL_S."""

    def __init__(self, herder: Herder) -> None:
        self._herder = herder
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics-sampler", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; harmless if not started."""
        self._stopped.set()

    def _run(self) -> None:
        last = time.monotonic()
        while not self._stopped.wait(INTERVAL_S):
            now = time.monotonic()
            try:
                metrics = self._herder.metrics
                metrics.history.add(metrics.figures(), now - last)
            except Exception:  # a plugin's own metric; the next sample may succeed
                logs.SERVER.exception("The metrics could not be sampled")
            last = now
