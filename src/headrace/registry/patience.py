"""How long somebody waits for a registry: until they give up, however long its answer may take."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from headrace.background import in_background
from headrace.registry.errors import RegistryUnavailableError

T = TypeVar("T")

_POLL_INTERVAL_S = 0.1
_SILENT_S = 5.0


@dataclass(frozen=True)
class Patience:
    """Of one who asks."""

    given_up: threading.Event
    """Once it is set, an answer is not waited for any more."""
    tell: Callable[[str | None], None] = lambda _: None
    """Told, in a sentence, what is waited for if that takes long; None once it is there."""
    answer_s: float = math.inf
    """So long, in s, the answer to one request is waited for, with all its retries."""


_PRESENT: ContextVar[tuple[Patience, ...]] = ContextVar("patience", default=())


@contextmanager
def patience(one: Patience) -> Iterator[None]:
    """What is asked within the context is waited for with this patience, and with that of the contexts around it."""
    token = _PRESENT.set((*_PRESENT.get(), one))
    try:
        yield
    finally:
        _PRESENT.reset(token)


def given_up() -> bool:
    """Whether somebody in whose context this is waits no more."""
    return any(one.given_up.is_set() for one in _PRESENT.get())


def awaited(ask: Callable[[float], T], where: str) -> T:
    """What `ask` returns or raises; it is called on a thread of its own, where there is a patience that may end before.

    ask: gets the time, of time.monotonic, when its answer is waited for no more. Raises RegistryUnavailableError then, or once
    somebody has given up; where: what is asked.
    """
    waiting = _PRESENT.get()
    if not waiting:
        return ask(math.inf)
    if given_up():
        raise _unanswered(where)
    limit_s = min(one.answer_s for one in waiting)
    began, told = time.monotonic(), False
    answer = in_background(lambda: ask(began + limit_s), "schema-registry-request")
    while not wait([answer], min(_POLL_INTERVAL_S, limit_s)).done:
        waited_s = time.monotonic() - began
        if given_up():
            raise _unanswered(where)
        if waited_s > limit_s:
            raise RegistryUnavailableError(f"The schema registry has not answered ({where}) in {limit_s:g} s.")
        if not told and waited_s > _SILENT_S:
            told = True
            _tell(waiting, f"The schema registry does not answer ({where}): it was asked more than {_SILENT_S:.0f} s ago.")
    if told:
        _tell(waiting, None)
    return answer.result()


def _unanswered(where: str) -> RegistryUnavailableError:
    return RegistryUnavailableError(f"The schema registry has not answered ({where}), and is waited for no more.")


def _tell(waiting: tuple[Patience, ...], sentence: str | None) -> None:
    for one in waiting:
        one.tell(sentence)
