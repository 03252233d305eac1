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


def side_by_side(*calls: Callable[[], object], thread: str) -> None:
    """Make these calls at the same time, and return when the last has; raises the exception of the first that has one."""
    for future in [in_background(call, thread) for call in calls]:
        future.result()
