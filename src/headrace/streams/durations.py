"""Durations as users give them: a `timedelta`, or a whole number of milliseconds."""

from __future__ import annotations

from datetime import timedelta

from headrace.errors import ArgumentError
from headrace.kafka.reset_policy import BY_DURATION

MAX_LONG = 2**63 - 1
Duration = timedelta | int


def milliseconds(duration: Duration, what: str) -> int:
    """The duration in milliseconds, rounded down; `what`: the parameter's name, for the ArgumentError if it is no duration."""
    if isinstance(duration, timedelta):
        return duration // timedelta(milliseconds=1)
    if isinstance(duration, bool) or not isinstance(duration, int):
        raise ArgumentError(f"`{what}` is {duration!r}, but should be a timedelta or a number of milliseconds.")
    return duration


def by_duration(duration: Duration) -> str:
    """`by_duration:PT…`, the reset policy that begins so long ago (KIP-1106). Raises ArgumentError for a negative duration."""
    duration_ms = milliseconds(duration, "duration")
    if duration_ms < 0:
        raise ArgumentError("Duration cannot be negative")
    return f"{BY_DURATION}PT{duration_ms / 1000:.3f}S"


def as_java(duration_ms: int) -> str:
    """A duration of zero or more milliseconds as Java writes it: `PT1M0.5S`."""
    minutes, rest_ms = divmod(duration_ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest_ms / 1000:.3f}".rstrip("0").rstrip(".") + "S" if rest_ms or not duration_ms else ""
    return "PT" + (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "") + seconds


def saturated_sum(*parts: int) -> int:
    """The sum in milliseconds, at most Java's greatest long, where Kafka stops as well."""
    return min(sum(parts), MAX_LONG)
