"""The last log entries of each connector of this worker, bounded and redacted, for the REST API."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import structlog

from headrace.config.redaction import redacted

PER_CONNECTOR = 1000
"""Number of entries kept for each connector, if there is room for them."""
_MOST, _LONGEST = 500_000, 8192
_SEPARATE_FIELDS = ("event", "level", "logger", "timestamp", "connector", "task")


class RecentLogs(logging.Handler):
    """A handler that keeps log records with a `connector`, in the event or in the context of the thread."""

    def __init__(self, per_connector: int = PER_CONNECTOR, most: int = _MOST) -> None:
        """per_connector: entries kept for each; most: of all, above which the oldest of the connector with most are dropped."""
        super().__init__()
        self._per_connector, self._most = per_connector, most
        self._rings: dict[str, deque[tuple[int, dict[str, Any]]]] = {}
        self._size = 0
        self._guard = threading.Lock()
        self._traces = logging.Formatter()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record of a connector; an error in doing so does not affect other handlers."""
        try:
            about = {**structlog.contextvars.get_contextvars(), **(record.msg if isinstance(record.msg, dict) else {})}
            if about.get("connector") is not None:
                self._keep(str(about["connector"]), record.levelno, self._entry(record, about))
        except Exception:
            self.handleError(record)

    def entries(self, connector: str, lines: int, level: int = logging.NOTSET, task: int | None = None) -> list[dict[str, Any]]:
        """The last `lines` entries of a connector, oldest first.

        Each has `time` (ISO 8601), `level`, `logger`, `task` (None: the connector itself), `event`, and `details`, its texts.
        level: the lowest (a number of `logging`); task: of this task only.
        """
        with self._guard:
            ring = list(self._rings.get(connector, ()))
        entries = [entry for number, entry in ring if number >= level and task in (None, entry["task"])]
        return [redacted(entry) for entry in entries[-lines:]] if lines > 0 else []

    def _keep(self, connector: str, level: int, entry: dict[str, Any]) -> None:
        with self._guard:
            ring = self._rings.setdefault(connector, deque(maxlen=self._per_connector))
            self._size += len(ring) < self._per_connector
            ring.append((level, entry))
            if self._size > self._most:
                self._make_room()

    def _make_room(self) -> None:
        name, largest = max(self._rings.items(), key=lambda item: len(item[1]))
        dropped = len(largest) // 10 or 1  # not one at a time: to find the largest visits all
        for _ in range(dropped):
            largest.popleft()
        self._size -= dropped
        if not largest:
            del self._rings[name]

    def _entry(self, record: logging.LogRecord, about: Mapping[str, Any]) -> dict[str, Any]:
        event = str(about["event"]) if isinstance(record.msg, dict) else record.getMessage()
        details = {k: v for k, v in about.items() if k not in _SEPARATE_FIELDS and not k.startswith("_") and v is not None}
        if record.exc_info and "exception" not in details:
            details["exception"] = self._traces.formatException(record.exc_info)
        return {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": "WARN" if record.levelno == logging.WARNING else record.levelname,
            "logger": record.name,
            "task": about.get("task"),
            "event": _short(redacted(event)),
            "details": {key: _short(redacted(str(value))) for key, value in details.items()},
        }


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


RECENT = RecentLogs()
"""The handler of this process."""
