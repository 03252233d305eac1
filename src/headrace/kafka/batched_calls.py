"""Items that many threads send at the same time: those that come while a request is under way go together in the next one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")

_MOST = 100
"""Items of a request."""


class BatchedCalls(Generic[Item, Value]):
    """Calls with an item each, of which one request at a time is under way. Thread-safe.

    A broker takes the requests of a connection one after the other, and to create a topic takes it as long as to create thirty.
    """

    def __init__(
        self, send: Callable[[Sequence[tuple[str, Item]]], Mapping[str, Future[Value]]], is_shared: Callable[[Exception], bool]
    ) -> None:
        """send: starts one request with items by name, and gives the answer to each; is_shared: whether an error may be another
        item's fault: then each item is sent alone.
        """
        self._send, self._is_shared = send, is_shared
        self._lock = threading.Lock()
        self._waiting: list[tuple[str, Item, Future[Value]]] = []
        self._is_sending = False

    def call(self, name: str, item: Item) -> Future[Value]:
        """Send an item; of those with the same name a request has only one."""
        answer: Future[Value] = Future()
        with self._lock:
            self._waiting.append((name, item, answer))
            if self._is_sending:
                return answer
            self._is_sending = True
        threading.Thread(target=self._main, name="batched-calls", daemon=True).start()
        return answer

    def _main(self) -> None:
        while batch := self._next():
            self._answer(batch)

    def _next(self) -> list[tuple[str, Item, Future[Value]]]:
        with self._lock:
            chosen = dict[str, tuple[str, Item, Future[Value]]]()
            for entry in self._waiting:
                if len(chosen) < _MOST:
                    chosen.setdefault(entry[0], entry)
            batch = list(chosen.values())
            self._waiting = [entry for entry in self._waiting if chosen.get(entry[0]) is not entry]
            self._is_sending = bool(batch)
            return batch

    def _answer(self, batch: list[tuple[str, Item, Future[Value]]]) -> None:
        try:
            answers = self._send([(name, item) for name, item, _ in batch])
        except Exception as error:
            answers = {name: _failed(error) for name, _, _ in batch}
        for name, item, answer in batch:
            error = answers[name].exception()
            if error is None:
                answer.set_result(answers[name].result())
            elif len(batch) > 1 and isinstance(error, Exception) and self._is_shared(error):
                self._answer([(name, item, answer)])
            else:
                answer.set_exception(error)


def _failed(error: Exception) -> Future:
    future: Future = Future()
    future.set_exception(error)
    return future
