"""Sees to it that the topics are there while records are written to them.

A producer whose topic is deleted waits for it, with records that are not acknowledged, for as long as it may: for ever, as Kafka
Connect sets it, or until its transaction has expired. So a write that takes its time is accompanied by a look at the topics.
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
"""Makes those of these topics again that are gone, where that is allowed; returns which those were. Raises HeadraceError."""


class TopicWatch:
    """Looks after the topics of one task; `renewed` has those that were made again since it was emptied last."""

    def __init__(self, renew: Renew, check_interval_s: float = CHECK_S) -> None:
        """check_interval_s: how long a write may take before the first look, and from one look to the next."""
        self._renew, self.check_interval_s = renew, check_interval_s
        self.renewed: set[str] = set()

    @contextmanager
    def over(self, topics: Iterable[str]) -> Iterator[None]:
        """Watch over these topics while something is written to them."""
        names, done = sorted(topics), threading.Event()
        if not names:
            yield
            return
        threading.Thread(target=copy_context().run, args=(self._main, names, done), name="target-watch", daemon=True).start()
        try:
            yield
        except RetriableError:
            self._look(names)  # the write is tried again, and may end like this each time before it is looked at
            raise
        finally:
            done.set()  # a look that is under way holds up nobody

    def _main(self, topics: list[str], done: threading.Event) -> None:
        while not done.wait(self.check_interval_s):
            self._look(topics)

    def _look(self, topics: list[str]) -> None:
        try:
            self.renewed.update(self._renew(topics))
        except HeadraceError as error:  # the brokers are away, perhaps: the next look tries again
            log.info("target.look.failed", cause=str(error))
