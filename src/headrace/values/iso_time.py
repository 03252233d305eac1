"""Times as texts, in logs, topics, REST answers and on the page."""

from __future__ import annotations

from datetime import UTC, datetime


def iso(moment: datetime) -> str:
    """A time in ISO 8601 in UTC, with milliseconds, so that texts compare as times do. moment: with a time zone."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
