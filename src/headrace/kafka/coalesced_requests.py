"""What many tasks ask of one cluster: one request for all of them, at most once a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Generic, TypeVar

from headrace.errors import HeadraceError
from headrace.kafka.admin import Admin
from headrace.kafka.groups import Partition

_FRESH_S, _FAILED_S, _WANTED_S, _TIMEOUT_S, _SHORT_S = 1.0, 5.0, 60.0, 5.0, 0.1
Key = TypeVar("Key")
Value = TypeVar("Value")


class CoalescedRequest(Generic[Key, Value]):
    """A question about many keys of one cluster. Thread-safe."""

    def __init__(self, ask: Callable[[list[Key], float], dict[Key, Value]]) -> None:
        """ask: gives the values of keys within a time in seconds, raises HeadraceError."""
        self._ask = ask
        self._lock = threading.Lock()
        self._wanted: dict[Key, float] = {}  # when each was asked for last
        self._known: dict[Key, Value] = {}
        self._asked: set[Key] = set()
        self._asked_at = self._failed_at = -_WANTED_S

    def of(self, keys: Collection[Key]) -> dict[Key, Value]:
        """The values of these keys, at most a second old; those that have none are left out.

        Raises HeadraceError if the cluster cannot be asked now.
        """
        with self._lock:
            now = time.monotonic()
            self._wanted |= dict.fromkeys(keys, now)
            if now - self._asked_at > _FRESH_S or not self._asked >= set(keys):
                self._renew(keys, now)
            return {key: self._known[key] for key in keys if key in self._known}

    def _renew(self, keys: Collection[Key], now: float) -> None:
        self._wanted = {key: at for key, at in self._wanted.items() if now - at < _WANTED_S}
        timeout_s = _SHORT_S if now - self._failed_at < _FAILED_S else _TIMEOUT_S  # nobody waits long for a cluster that is away
        wanted = list(self._wanted)
        try:
            try:
                self._known = self._ask(wanted, timeout_s)
            except HeadraceError:  # perhaps because of one that is gone
                wanted = list(keys)
                self._known = self._ask(wanted, timeout_s)
        except HeadraceError:
            self._failed_at = now
            raise
        self._asked, self._asked_at = set(wanted), now


_LOCK = threading.Lock()


def behind(admin: Admin, positions: Mapping[Partition, int]) -> dict[str, int] | None:
    """How many records there are from these offsets on, by `<topic>-<partition>`; None if the cluster cannot be asked now."""
    try:
        ends = latest_offsets(admin).of(positions.keys())
    except HeadraceError:  # whoever reads there will say what is wrong
        return None
    return {f"{t}-{p}": max(0, end - positions[t, p]) for (t, p), end in ends.items()}


def latest_offsets(admin: Admin) -> CoalescedRequest[Partition, int]:
    """The offset after the last record of partitions, asked through this client (`headrace.kafka.admin.shared`)."""

    def ask(partitions: list[Partition], timeout_s: float) -> dict[Partition, int]:
        return admin.partition_offsets(partitions, "latest", timeout_s)

    with _LOCK:
        return admin.questions.setdefault("latest offsets", CoalescedRequest(ask))


def topic_ids(admin: Admin) -> CoalescedRequest[str, str]:
    """The ids of topics, likewise."""
    with _LOCK:
        return admin.questions.setdefault("topic ids", CoalescedRequest(admin.topic_ids))
