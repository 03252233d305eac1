"""Recreates deleted topics while records are written to them.

A producer whose topic is deleted waits for it: without limit, as Kafka Connect sets it, or until its transaction has expired. So
the topics are checked during a long write.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import copy_context

import structlog

from headrace.errors import HeadraceError, RetriableError

log = structlog.get_logger(__name__)

CHECK_S = 5.0

Renew = Callable[[Iterable[str]], set[str]]
"""Recreates the deleted ones of these topics, if allowed, and returns their names. Raises HeadraceError."""


class TopicWatch:
    """Watches the topics of one task; `renewed` has the topics recreated since it was last emptied."""

    def __init__(self, renew: Renew, check_interval_s: float = CHECK_S) -> None:
        """check_interval_s: between checks, and before the first check of a write."""
        self._renew, self.check_interval_s = renew, check_interval_s
        self.renewed: set[str] = set()

    @contextmanager
    def over(self, topics: Iterable[str]) -> Iterator[None]:
        """Context of a write to these topics, during which they are watched."""
        names, done = sorted(topics), threading.Event()
        if not names:
            yield
            return
        threading.Thread(target=copy_context().run, args=(self._main, names, done), name="target-watch", daemon=True).start()
        try:
            yield
        except RetriableError:
            self._check(names)  # the retried write might otherwise fail each time before the first check
            raise
        finally:
            done.set()  # a running check is not waited for

    def _main(self, topics: list[str], done: threading.Event) -> None:
        while not done.wait(self.check_interval_s):
            self._check(topics)

    def _check(self, topics: list[str]) -> None:
        try:
            self.renewed.update(self._renew(topics))
        except HeadraceError as error:  # brokers may be unavailable: the next check retries
            log.info("target.look.failed", cause=str(error))
