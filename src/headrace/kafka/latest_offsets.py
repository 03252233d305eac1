"""The ends of partitions, for many who ask at once: one request to the cluster for all of them, at most once a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from weakref import WeakKeyDictionary

from headrace.errors import HeadraceError
from headrace.kafka.admin import Admin
from headrace.kafka.groups import Partition

_FRESH_S, _FAILED_S, _WANTED_S, _TIMEOUT_S = 1.0, 5.0, 60.0, 5.0


class LatestOffsets:
    """Of one cluster. Thread-safe."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin
        self._lock = threading.Lock()
        self._wanted: dict[Partition, float] = {}  # when each was asked for last
        self._known: dict[Partition, int] = {}
        self._asked_at = self._failed_at = -_WANTED_S

    def of(self, partitions: Collection[Partition]) -> dict[Partition, int]:
        """The offset after the last record of each of these partitions; of those that do not exist, none.

        Raises KafkaFailure if the cluster cannot be asked now, or could not a moment ago.
        """
        with self._lock:
            now = time.monotonic()
            self._wanted |= dict.fromkeys(partitions, now)
            if now - self._asked_at > _FRESH_S or not self._known.keys() >= set(partitions):
                self._ask(partitions, now)
            return {p: self._known[p] for p in partitions if p in self._known}

    def _ask(self, partitions: Collection[Partition], now: float) -> None:
        self._wanted = {p: at for p, at in self._wanted.items() if now - at < _WANTED_S}
        timeout_s = 0.1 if now - self._failed_at < _FAILED_S else _TIMEOUT_S  # nobody waits long for a cluster that is away
        try:
            try:
                self._known = self._admin.partition_offsets(list(self._wanted), "latest", timeout_s)
            except HeadraceError:  # perhaps because of a partition that is gone
                self._known = self._admin.partition_offsets(list(partitions), "latest", timeout_s)
        except HeadraceError:
            self._failed_at = now
            raise
        self._asked_at = now


_OF: WeakKeyDictionary[Admin, LatestOffsets] = WeakKeyDictionary()
_LOCK = threading.Lock()


def latest_offsets(admin: Admin) -> LatestOffsets:
    """The one of this client (`headrace.kafka.admin.shared`)."""
    with _LOCK:
        found = _OF.get(admin)
        if found is None:
            found = _OF[admin] = LatestOffsets(admin)
        return found
