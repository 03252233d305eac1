"""Batches items that many threads send at the same time: those queued during a request are sent in the next one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")

_MAX_ITEMS = 100
"""The most items of a request."""


class BatchedCalls(Generic[Item, Value]):
    """Calls with one item each, sent by one request at a time.

    Thread-safe. A broker handles the requests of a connection one after the other, and takes as long to create one topic as to
    create thirty.
    """

    def __init__(
        self, send: Callable[[Sequence[tuple[str, Item]]], Mapping[str, Future[Value]]], is_shared: Callable[[Exception], bool]
    ) -> None:
        """send: starts one request with items by name, and returns a future for each; is_shared: whether an error may be caused
        by another item: then each item is sent alone.
        """
        self._send, self._is_shared = send, is_shared
        self._lock = threading.Lock()
        self._queued: list[tuple[str, Item, Future[Value]]] = []
        self._is_sending = False

    def call(self, name: str, item: Item) -> Future[Value]:
        """Send an item; a request has only one item of each name."""
        future: Future[Value] = Future()
        with self._lock:
            self._queued.append((name, item, future))
            if self._is_sending:
                return future
            self._is_sending = True
        threading.Thread(target=self._main, name="batched-calls", daemon=True).start()
        return future

    def _main(self) -> None:
        while batch := self._next():
            self._send_batch(batch)

    def _next(self) -> list[tuple[str, Item, Future[Value]]]:
        with self._lock:
            chosen = dict[str, tuple[str, Item, Future[Value]]]()
            for entry in self._queued:
                if len(chosen) < _MAX_ITEMS:
                    chosen.setdefault(entry[0], entry)
            batch = list(chosen.values())
            self._queued = [entry for entry in self._queued if chosen.get(entry[0]) is not entry]
            self._is_sending = bool(batch)
            return batch

    def _send_batch(self, batch: list[tuple[str, Item, Future[Value]]]) -> None:
        try:
            results = self._send([(name, item) for name, item, _ in batch])
        except Exception as error:
            results = {name: _failed(error) for name, _, _ in batch}
        for name, item, future in batch:
            error = results[name].exception()
            if error is None:
                future.set_result(results[name].result())
            elif len(batch) > 1 and isinstance(error, Exception) and self._is_shared(error):
                self._send_batch([(name, item, future)])
            else:
                future.set_exception(error)


def _failed(error: Exception) -> Future:
    future: Future = Future()
    future.set_exception(error)
    return future
