"""Log levels by logger name, with the names and rules of Kafka Connect (KIP-495), over Python's `logging`."""

from __future__ import annotations

import logging
import threading
from typing import Any

from headrace.config.types import trim
from headrace.errors import ConnectError, NotFoundError
from headrace.rest import logs
from headrace.runtime.logs import LEVELS
from headrace.values.times import now_ms

ROOT = "root"


def parse_level(text: str) -> str:
    """Return the level's name in upper case.

    Raises NotFoundError for an unknown one, ConnectError (500, as Connect's logging library) for the empty text.
    """
    if not text:
        raise ConnectError("Illegal null or empty Level name.")
    level = trim(text).upper()
    if level not in LEVELS:
        raise NotFoundError(f"invalid log level '{text}'.")
    return level


class LogLevels:
    """Reads and sets the levels of a process's loggers, and remembers when it changed which."""

    def __init__(self, root: logging.Logger | None = None) -> None:
        self._root = root or logging.getLogger()
        self._modified: dict[str, int] = {}
        self._lock = threading.Lock()

    def all(self) -> dict[str, dict[str, Any]]:
        """Every logger in use but those that are OFF: its effective level and when that was changed here (epoch ms, or None)."""
        shown = (item for item in sorted(self._loggers().items()) if not _is_off(item[1]))
        return {name: self._describe(name, logger) for name, logger in shown}

    def get(self, name: str) -> dict[str, Any]:
        """One logger. Raises NotFoundError if nothing logs under this very name and no level was set for it."""
        name = ROOT if name.lower() == ROOT else name
        logger = self._loggers().get(name)
        if logger is None:
            raise NotFoundError(f"Logger {name} not found.")
        return self._describe(name, logger)

    def set(self, namespace: str, level: str) -> list[str]:
        """Give `namespace` and all loggers whose names begin with it, with or without a dot, this level (a name in LEVELS).

        Returns the names of those that had another one, ordered; those that were OFF are among them in any case, as in Kafka
        Connect, which compares with `all`.
        """
        with self._lock:
            loggers = self._affected(namespace).items()
            changed = {name: logger for name, logger in loggers if logger.getEffectiveLevel() != LEVELS[level] or _is_off(logger)}
            for name, logger in changed.items():
                logger.setLevel(LEVELS[level])
                self._modified[name] = now_ms()
        logs.LOGGERS.debug("Level of %s and what is below it is %s now", namespace, level)
        return sorted(changed)

    def _affected(self, namespace: str) -> dict[str, logging.Logger]:
        loggers = self._loggers()
        if namespace.lower() == ROOT:
            return loggers
        below = {name: logger for name, logger in loggers.items() if name.startswith(namespace) and name != ROOT}
        return {namespace: self._root.manager.getLogger(namespace), **below}

    def _loggers(self) -> dict[str, logging.Logger]:
        loggers = dict(self._root.manager.loggerDict)
        return {ROOT: self._root, **{n: logger for n, logger in loggers.items() if isinstance(logger, logging.Logger)}}

    def _describe(self, name: str, logger: logging.Logger) -> dict[str, Any]:
        return {"level": _name(logger.getEffectiveLevel()), "last_modified": self._modified.get(name)}


def _is_off(logger: logging.Logger) -> bool:
    return _name(logger.getEffectiveLevel()) == "OFF"


def _name(number: int) -> str:
    return next((name for name, limit in reversed(LEVELS.items()) if number >= limit), "ALL")
