"""Calls into librdkafka that do not keep their own time-out."""

from __future__ import annotations

import threading
from collections.abc import Callable


class StuckError(Exception):
    """What was called must not be touched again: it has not come back in time and still runs, or its state is wrong."""


def call_with_timeout(timeout_s: float, call: Callable[[], None]) -> None:
    """Call it on a thread of its own and wait for it. Raises what the call raises, StuckError after `timeout_s`."""
    error: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as e:
            error.append(e)

    thread = threading.Thread(target=run, name="bounded-call", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if thread.is_alive():
        raise StuckError("Kafka's client does not come back")
    if error:
        raise error[0]
