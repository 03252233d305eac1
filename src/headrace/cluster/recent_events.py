"""The last events in memory, bounded by owner so that a connector with many events does not displace those of others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

Event = dict[str, Any]

IN_MEMORY = 5000
"""Events kept in memory for each log."""
_SLACK = 500


class RecentEvents:
    """The last events; above the limit, the oldest events of the largest owners are dropped. Thread-safe."""

    def __init__(self, owner: Callable[[Event], str], most: Mapping[str, int] | None = None) -> None:
        """owner: returns the owner of an event; owners have equal shares, and unused shares are divided among the others;
        most: the number of events that certain owners keep.
        """
        self._owner, self._most = owner, most or {}
        self._events: dict[str, list[tuple[int, Event]]] = {}
        self._numbers, self._size = count(), 0
        self._lock = threading.Lock()

    def add(self, event: Event) -> None:
        """Add the newest event."""
        with self._lock:
            events = self._events.setdefault(owner := self._owner(event), [])
            events.append((next(self._numbers), event))
            if len(events) > self._most.get(owner, IN_MEMORY + _SLACK):
                del events[0]
            else:
                self._size += 1
            if self._size >= IN_MEMORY + _SLACK:  # not for each event: trimming visits all owners
                self._trim()

    def matching(self, matches: Callable[[Event], bool]) -> list[Event]:
        """The matching events, oldest first."""
        with self._lock:
            numbered = [entry for events in self._events.values() for entry in events if matches(entry[1])]
        return [event for _, event in sorted(numbered, key=lambda entry: entry[0])]

    def _trim(self) -> None:
        room = IN_MEMORY
        by_size = sorted(self._events.items(), key=lambda item: (len(item[1]), item[1][-1][0]))
        for place, (owner, events) in enumerate(by_size):
            share = min(len(events), room // (len(by_size) - place))
            room -= share
            del events[: len(events) - share]
            if not events:
                del self._events[owner]
        self._size = IN_MEMORY - room
