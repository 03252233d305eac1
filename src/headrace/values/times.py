"""The time now, and times as texts, in logs, topics, REST answers and on the page."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def iso(moment: datetime) -> str:
    """A time in ISO 8601 in UTC, with milliseconds, so that texts compare as times do. moment: with a time zone."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now_ms() -> int:
    """The time now, epoch ms."""
    return time.time_ns() // 1_000_000
