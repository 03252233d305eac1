"""The last events in memory, bounded so that a connector with many of them does not displace those of the others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count
from typing import Any

Event = dict[str, Any]

IN_MEMORY = 5000
"""Events that are kept of each log."""
_SLACK = 500


class RecentEvents:
    """Where there are too many, the oldest of those that have the most go. Every method may be called from any thread."""

    def __init__(self, owner: Callable[[Event], str]) -> None:
        """owner: whose event it is; owners have equal shares, and what one does not need is the others'."""
        self._owner = owner
        self._events: dict[str, list[tuple[int, Event]]] = {}
        self._numbers, self._size = count(), 0
        self._lock = threading.Lock()

    def add(self, event: Event) -> None:
        """Keep it as the newest."""
        with self._lock:
            self._events.setdefault(self._owner(event), []).append((next(self._numbers), event))
            self._size += 1
            if self._size >= IN_MEMORY + _SLACK:  # not at each one: this looks at all owners
                self._trim()

    def chosen(self, wanted: Callable[[Event], bool]) -> list[Event]:
        """Those that are wanted, oldest first."""
        with self._lock:
            found = [entry for events in self._events.values() for entry in events if wanted(entry[1])]
        return [event for _, event in sorted(found, key=lambda entry: entry[0])]

    def _trim(self) -> None:
        room = IN_MEMORY
        by_size = sorted(self._events.items(), key=lambda item: (len(item[1]), item[1][-1][0]))
        for place, (owner, events) in enumerate(by_size):
            kept = min(len(events), room // (len(by_size) - place))
            room -= kept
            del events[: len(events) - kept]
            if not events:
                del self._events[owner]
        self._size = IN_MEMORY - room
