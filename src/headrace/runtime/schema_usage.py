"""The schemas that the tasks of this process have read and written, and what those wait for that cannot ask for one."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from headrace.converters.registered import RegisteredConverter
from headrace.errors import RetriableError
from headrace.registry.request_wait import WaitLimit, limit_wait

_Task = tuple[str, int]


class SchemaUsage:
    """By connector and task, of those that run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._converters: dict[_Task, weakref.WeakSet[RegisteredConverter]] = {}
        self._waiting: dict[_Task, str] = {}
        self._stopping: dict[_Task, threading.Event] = {}

    @contextmanager
    def running(self, connector: str, task: int, stopping: threading.Event) -> Iterator[None]:
        """A task runs within the context; once `stopping` is set it waits for no registry any more."""
        key = connector, task
        with self._lock:
            self._stopping[key] = stopping
        try:
            yield
        finally:
            with self._lock:
                if self._stopping.get(key) is stopping:
                    del self._stopping[key]

    def watch(self, connector: str, task: int, converters: Iterable[object]) -> None:
        """A task begins to use these converters, whichever it has used before."""
        registered = [converter for converter in converters if isinstance(converter, RegisteredConverter)]
        with self._lock:
            self._converters = {key: known for key, known in self._converters.items() if len(known)}
            self._converters.pop((connector, task), None)
            self._waiting.pop((connector, task), None)
            if registered:
                self._converters[connector, task] = weakref.WeakSet(registered)

    @contextmanager
    def asking(self, connector: str, task: int) -> Iterator[None]:
        """Ask the registry within the context: an answer that takes long, or a RetriableError, is what the task waits for from
        now on.
        """
        key = connector, task
        with self._lock:
            stopping = self._stopping.get(key) or threading.Event()

        def tell(sentence: str | None) -> None:
            with self._lock:
                if sentence is not None:
                    self._waiting[key] = sentence
                else:
                    self._waiting.pop(key, None)

        try:
            with limit_wait(WaitLimit(stopping, tell)):
                yield
        except RetriableError as error:
            tell(None if stopping.is_set() else str(error))
            raise
        tell(None)

    def waiting_for(self, connector: str, task: int) -> str | None:
        """What a task waits for, in a sentence; None if it waits for no schema."""
        with self._lock:
            return self._waiting.get((connector, task))

    def of(self, connector: str) -> list[dict[str, Any]]:
        """What the tasks of a connector have read and written: the attributes of `SchemaUse`, and `task`."""
        return self._of(lambda name: name == connector).get(connector, [])

    def all(self) -> dict[str, list[dict[str, Any]]]:
        """The same of all connectors, by name; none without any."""
        return self._of(lambda _: True)

    def _of(self, wanted: Callable[[str], bool]) -> dict[str, list[dict[str, Any]]]:
        with self._lock:
            known = {key: list(converters) for key, converters in self._converters.items() if wanted(key[0])}
        found: dict[str, list[dict[str, Any]]] = {}
        for (name, task), converters in known.items():
            found.setdefault(name, []).extend(
                {"task": task, **asdict(use)} for converter in converters for use in converter.uses.all()
            )
        return {
            name: sorted(uses, key=lambda use: (use["task"], use["since"], use["id"])) for name, uses in found.items() if uses
        }


USAGE = SchemaUsage()
"""Of this process."""
