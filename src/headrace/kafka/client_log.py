"""Passes librdkafka's log lines to Python's logging, without the flood that a broker that is down causes."""

from __future__ import annotations

import logging
import re
import time

_log = logging.getLogger("headrace.kafka.client")
_QUIET_S = 30.0
_CHANGING = re.compile(r"\d+")


class ClientLog:
    """The `logger` of a confluent-kafka client: the same line (numbers aside) at most once in 30 s, failures as warnings.

    librdkafka logs a failed connection at error level each time it tries; whether it is an error is for the caller to say.
    """

    def __init__(self, role: str) -> None:
        self._role = role
        self._seen: dict[str, float] = {}

    def log(self, level: int, message: str, *args: object) -> None:
        """Take a line of librdkafka, as `logging.Logger.log` does."""
        text = message % args if args else message
        kind, now = _CHANGING.sub("#", text), time.monotonic()
        if now - self._seen.get(kind, -_QUIET_S) < _QUIET_S:
            return
        if len(self._seen) > 100:
            self._seen.clear()
        self._seen[kind] = now
        _log.log(min(level, logging.WARNING), "%s: %s", self._role, text)
