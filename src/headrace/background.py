"""Calls that somebody may stop waiting for: each runs on a thread of its own, which ends with the process at the latest."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


def in_background(call: Callable[[], T], thread: str) -> Future[T]:
    """Call it, in the caller's context, on a thread of this name; returns what it will return or raise."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            result = call()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=copy_context().run, args=(run,), name=thread, daemon=True).start()
    return future
