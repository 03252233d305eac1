"""Levels of loggers in the JVMs where plugins of Kafka Connect run (KIP-495).

They are Spark's driver, its executors, and the processes that connectors have of their own. A level is also set in JVMs that
start later. The root logger keeps its own: below it are all of Spark's.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import structlog

from headrace.jvm import output

log = structlog.get_logger(__name__)

SetLevel = Callable[[str, str], object]
"""Sets the level of a logger, and of those below it, in one JVM: name and level in Log4j's words."""

_levels: dict[str, str] = {}
_hosts: dict[int, SetLevel] = {}
_lock = threading.Lock()


def set_level(namespace: str, level: str, number: int) -> None:
    """Set a level in every JVM where plugins run; one that does not answer is left out.

    level: in Log4j's words; number: the same of Python's logging, so that the lines pass there.
    """
    if namespace.lower() == "root":
        return
    lines = logging.getLogger(output.__name__)
    if number < lines.getEffectiveLevel():
        lines.setLevel(number)
    with _lock:
        _levels.pop(namespace, None)  # the last one set is the last one in the dict: it is that of loggers below, too
        _levels[namespace] = level
        hosts = list(_hosts.values())
    for host in hosts:
        _set(host, namespace, level)


def follow(host: object, setting: SetLevel) -> None:
    """Set the levels of a JVM that has started, so far and from now on."""
    with _lock:
        _hosts[id(host)] = setting
        levels = dict(_levels)
    for namespace, level in levels.items():
        _set(setting, namespace, level)


def forget(host: object) -> None:
    """Set no more levels of a JVM, which ends."""
    with _lock:
        _hosts.pop(id(host), None)


def _set(setting: SetLevel, namespace: str, level: str) -> None:
    try:
        setting(namespace, level)
    except Exception as error:  # it is ending
        log.debug("plugins.level.failed", logger=namespace, cause=str(error))
