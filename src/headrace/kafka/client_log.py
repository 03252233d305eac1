"""Passes librdkafka's log lines to Python's logging, without the repetitions while a broker is down."""

from __future__ import annotations

import logging
import re
import time

_log = logging.getLogger("headrace.kafka.client")
_QUIET_S = 30.0
_CHANGING = re.compile(r"\d+")


class ClientLog:
    """The `logger` of a confluent-kafka client: the same line (numbers aside) at most once in 30 s, failures as warnings.

    librdkafka logs every failed connection attempt at error level; whether it is an error is decided by the caller.
    """

    def __init__(self, role: str) -> None:
        self._role = role
        self._last_logged: dict[str, float] = {}

    def log(self, level: int, message: str, *args: object) -> None:
        """Log a line of librdkafka, as `logging.Logger.log` does."""
        text = message % args if args else message
        kind, now = _CHANGING.sub("#", text), time.monotonic()
        if now - self._last_logged.get(kind, -_QUIET_S) < _QUIET_S:
            return
        if len(self._last_logged) > 100:
            self._last_logged.clear()
        self._last_logged[kind] = now
        _log.log(min(level, logging.WARNING), "%s: %s", self._role, text)
