"""The schemas that the tasks of this process have read and written, and the registry requests they wait for."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from headrace.converters.registered import RegisteredConverter
from headrace.errors import RetriableError
from headrace.registry.request_wait import WaitLimit, limit_wait

_Task = tuple[str, int]


class SchemaUsage:
    """Schema usage by connector and task, of running tasks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._converters: dict[_Task, weakref.WeakSet[RegisteredConverter]] = {}
        self._first_uses: dict[_Task, OrderedDict[Any, int]] = {}  # stays when a task is restarted
        self._waiting: dict[_Task, str] = {}
        self._stopping: dict[_Task, threading.Event] = {}

    @contextmanager
    def running(self, connector: str, task: int, stopping: threading.Event) -> Iterator[None]:
        """Context in which a task runs; `stopping` cancels its waits for a registry."""
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
        """Set the converters of a task, in place of earlier ones."""
        registered = [converter for converter in converters if isinstance(converter, RegisteredConverter)]
        with self._lock:
            self._converters = {key: tracked for key, tracked in self._converters.items() if len(tracked)}
            self._converters.pop((connector, task), None)
            self._waiting.pop((connector, task), None)
            if registered:
                self._converters[connector, task] = weakref.WeakSet(registered)
                first_uses = self._first_uses.setdefault((connector, task), OrderedDict())
                for converter in registered:
                    converter.uses.first_uses = first_uses

    def forget(self, connector: str) -> None:
        """Forget the tasks of a deleted connector, so that another one of its name has nothing of them."""
        by_task: tuple[dict[_Task, Any], ...] = (self._converters, self._first_uses, self._waiting)
        with self._lock:
            for entries in by_task:
                for key in [key for key in entries if key[0] == connector]:
                    del entries[key]

    @contextmanager
    def asking(self, connector: str, task: int) -> Iterator[None]:
        """Context of requests to the registry: a slow response, or a RetriableError, is shown as what the task waits for."""
        key = connector, task
        with self._lock:
            stopping = self._stopping.get(key) or threading.Event()

        def set_waiting(sentence: str | None) -> None:
            with self._lock:
                if sentence is not None:
                    self._waiting[key] = sentence
                else:
                    self._waiting.pop(key, None)

        try:
            with limit_wait(WaitLimit(stopping, set_waiting)):
                yield
        except RetriableError as error:
            set_waiting(None if stopping.is_set() else str(error))
            raise
        set_waiting(None)

    def waiting_for(self, connector: str, task: int) -> str | None:
        """What a task waits for, in a sentence; None if it waits for no schema."""
        with self._lock:
            return self._waiting.get((connector, task))

    def of(self, connector: str) -> list[dict[str, Any]]:
        """The schemas used by the tasks of a connector: the attributes of `SchemaUse`, and `task`."""
        return self._uses(lambda name: name == connector).get(connector, [])

    def all(self) -> dict[str, list[dict[str, Any]]]:
        """The schemas used by all connectors, by name; connectors without schemas are left out."""
        return self._uses(lambda _: True)

    def _uses(self, selects: Callable[[str], bool]) -> dict[str, list[dict[str, Any]]]:
        with self._lock:
            by_task = {key: list(converters) for key, converters in self._converters.items() if selects(key[0])}
        by_connector: dict[str, list[dict[str, Any]]] = {}
        for (name, task), converters in by_task.items():
            by_connector.setdefault(name, []).extend(
                {"task": task, **asdict(use)} for converter in converters for use in converter.uses.all()
            )
        return {
            name: sorted(uses, key=lambda use: (use["task"], use["since"], use["id"]))
            for name, uses in by_connector.items()
            if uses
        }


USAGE = SchemaUsage()
"""The schema usage of this process."""
