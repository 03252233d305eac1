"""Calls into librdkafka that do not keep their own time-out."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import wait

from headrace.background import in_background


class StuckError(Exception):
    """What was called must not be touched again: it has not come back in time and still runs, or its state is wrong."""


def call_with_timeout(timeout_s: float, call: Callable[[], None]) -> None:
    """Call it on a thread of its own and wait for it. Raises what the call raises, StuckError after `timeout_s`."""
    answer = in_background(call, "bounded-call")
    if not wait([answer], timeout_s).done:
        raise StuckError("Kafka's client does not come back")
    answer.result()
