"""The time now, and times as texts, in logs, topics, REST answers and on the page."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def iso(moment: datetime) -> str:
    """A time in ISO 8601 in UTC, with milliseconds, so that texts compare as times do. moment: with a time zone."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment_of(epoch_ms: float) -> datetime | None:
    """The moment of an epoch time; None: no calendar has it, as of a producer that writes µs in place of ms."""
    try:
        return datetime.fromtimestamp(epoch_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def iso_of_ms(epoch_ms: float) -> str:
    """An epoch time as of `iso`; `… ms` if no calendar has it."""
    moment = moment_of(epoch_ms)
    return iso(moment) if moment else f"{epoch_ms:.0f} ms"


def now_ms() -> int:
    """The time now, epoch ms."""
    return time.time_ns() // 1_000_000
