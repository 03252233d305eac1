"""Calls into librdkafka that do not keep their own time-out."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import wait

from headrace.background import in_background


class StuckError(Exception):
    """The called object must not be used again: the call has not returned in time and still runs, or its state is invalid."""


def call_with_timeout(timeout_s: float, call: Callable[[], None]) -> None:
    """Run a call on a thread of its own and wait for it. Raises what the call raises, StuckError after `timeout_s`."""
    future = in_background(call, "bounded-call")
    if not wait([future], timeout_s).done:
        raise StuckError("A call of Kafka's client has not returned")
    future.result()
