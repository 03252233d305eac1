"""Durations as users give them: a `timedelta`, or a whole number of milliseconds."""

from __future__ import annotations

import re
from datetime import timedelta

from headrace.errors import ArgumentError, ConfigError

MAX_LONG = 2**63 - 1
Duration = timedelta | int
BY_DURATION = "by_duration:"
_ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")


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


def reset_ms(policy: str) -> int:
    """The milliseconds of `by_duration:` and Java's text of a duration (`P1DT2H3M4.5S`). Raises ConfigError if it is none."""
    match = _ISO.fullmatch(policy.removeprefix(BY_DURATION).upper())
    if match is None or not any(match.groups()):
        raise ConfigError(f"Invalid value {policy} for configuration auto.offset.reset: it has to be like by_duration:PT1H30M.")
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000)


def saturated_sum(*parts: int) -> int:
    """The sum in milliseconds, at most Java's greatest long, where Kafka stops as well."""
    return min(sum(parts), MAX_LONG)
