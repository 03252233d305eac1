"""What many tasks ask of one cluster: one request for all of them, at most once a second."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Generic, TypeVar

from headrace.errors import HeadraceError, RetriableError
from headrace.kafka.admin import Admin, TopicInfo, shared
from headrace.kafka.client_settings import connection_settings
from headrace.kafka.groups import Partition

_FRESH_S, _WANTED_S, _TIMEOUT_S = 1.0, 60.0, 5.0
_PATIENCE_S, _PATIENCE_EVERY_S, _SLOW_S = 0.5, 5.0, 2.0
Key = TypeVar("Key")
Value = TypeVar("Value")


class WaitBudget:
    """How long clusters may be waited for, all together: half a second in five. Thread-safe.

    Of a few clusters that are away each would hold up the figures of all tasks for its half second.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waited: deque[tuple[float, float]] = deque()  # when, and for how long

    def left_s(self, now: float) -> float:
        """What may be waited now, of `time.monotonic()`."""
        with self._lock:
            while self._waited and now - self._waited[0][0] > _PATIENCE_EVERY_S:
                self._waited.popleft()
            return max(0.0, _PATIENCE_S - sum(seconds for _, seconds in self._waited))

    def wait(self, answered: threading.Event, until: float) -> bool:
        """Whether it is set by then."""
        begun = time.monotonic()
        done = answered.wait(max(0.0, min(until - begun, self.left_s(begun))))
        with self._lock:
            self._waited.append((begun, time.monotonic() - begun))
        return done


_BUDGET = WaitBudget()


class CoalescedRequest(Generic[Key, Value]):
    """A question about many keys of one cluster. Thread-safe.

    A thread of its own asks it, so that a cluster that is away holds up none of the metrics of the others.
    """

    def __init__(self, ask: Callable[[list[Key], float], dict[Key, Value]]) -> None:
        """ask: gives the values of keys within a time in seconds, raises HeadraceError."""
        self._ask = ask
        self._lock = threading.Lock()
        self._wanted: dict[Key, float] = {}  # when each was asked for last
        self._known: dict[Key, Value] = {}
        self._asked: set[Key] = set()
        self._asked_at = -_WANTED_S
        self._answered: threading.Event | None = None  # of the request that is under way
        self._patience_ends = 0.0  # of that request: of many who ask one after the other only the first waits
        self._error: HeadraceError | None = None  # of the last request
        self._began_ms: int | None = None  # the first of the requests without an answer since the last one that had one

    def of(self, keys: Collection[Key]) -> dict[Key, Value]:
        """The values of these keys, a second old, or older while the cluster is slow; those that have none are left out.

        Raises HeadraceError if the cluster cannot be asked now: at once if that was so the last time, too.
        """
        while (answered := self._request(keys)) is not None and _BUDGET.wait(answered, self._patience_ends):
            pass  # it may have been asked for other keys
        with self._lock:
            if not self._asked >= set(keys):
                raise RetriableError("The cluster has not answered yet.")
            return {key: self._known[key] for key in keys if key in self._known}

    def ask(self, keys: Collection[Key]) -> None:
        """Have these keys asked for, and wait for nobody: `silent_since_ms` tells whether the cluster answers."""
        with suppress(HeadraceError):  # of the last request
            self._request(keys)

    @property
    def silent_since_ms(self) -> int | None:
        """Since when (epoch ms) the cluster has given no answer; None: it answers, or nobody has asked it for a while."""
        with self._lock:
            now = time.monotonic()
            waiting = self._answered is not None and now > self._patience_ends + _SLOW_S  # else it is a slow one
            asked = any(now - at < _WANTED_S for at in self._wanted.values())
            return self._began_ms if asked and (waiting or self._error is not None) else None

    def _request(self, keys: Collection[Key]) -> threading.Event | None:
        """Start a request unless one is under way or the last one will do; returns what is set when it is answered.

        Raises the error of the last one.
        """
        with self._lock:
            now = time.monotonic()
            self._wanted |= dict.fromkeys(keys, now)
            if self._answered is None and (now - self._asked_at > _FRESH_S or not self._asked >= set(keys)):
                self._answered, self._patience_ends = threading.Event(), now + _PATIENCE_S
                self._began_ms = self._began_ms or time.time_ns() // 1_000_000
                self._wanted = {key: at for key, at in self._wanted.items() if now - at < _WANTED_S}
                asked = (list(self._wanted), self._answered)
                threading.Thread(target=self._renew, args=asked, name="cluster-request", daemon=True).start()
            if self._error:
                raise self._error
            return self._answered

    def _renew(self, wanted: list[Key], answered: threading.Event) -> None:
        known: dict[Key, Value] = {}
        error: HeadraceError | None = None
        try:
            known = self._ask(wanted, _TIMEOUT_S)
        except HeadraceError as failure:
            error = failure
        with self._lock:
            self._error, self._answered, self._asked_at = error, None, time.monotonic()
            if error is None:
                self._began_ms = None
                self._known, self._asked = known, set(wanted)
        answered.set()


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
        try:
            return admin.partition_offsets(partitions, "latest", timeout_s)
        except HeadraceError:  # perhaps because of one that is gone, or has no leader now
            leaders = {topic: info.partitions for topic, info in admin.find({t for t, _ in partitions}, timeout_s).items()}
            led = [(t, p) for t, p in partitions if leaders.get(t, {}).get(p) is not None]
            return admin.partition_offsets(led, "latest", timeout_s)

    with _LOCK:
        return admin.questions.setdefault("latest offsets", CoalescedRequest(ask))


def topics(admin: Admin) -> CoalescedRequest[str, TopicInfo]:
    """Topics with their ids and leaders, likewise."""
    with _LOCK:
        return admin.questions.setdefault("topics", CoalescedRequest(admin.find))


def silent_since(admin: Admin) -> int | None:
    """Since when (epoch ms) a cluster has given no answer; None: it answers, or has not been asked before.

    It is asked, too, but not waited for.
    """
    with _LOCK:
        cluster = admin.questions.setdefault(
            "cluster", CoalescedRequest(lambda _, timeout_s: {"id": admin.cluster_id(timeout_s)})
        )
    cluster.ask(["id"])
    return cluster.silent_since_ms


def follow_silence(producer: Mapping[str, str], admin: Mapping[str, str]) -> Callable[[], int | None]:
    """A function that asks the cluster of a producer, and says since when (epoch ms) it has given no answer; None: it answers.

    producer, admin: Java settings; with those of the admin client it is asked if they lead to the same cluster.
    """
    connection = connection_settings(producer)
    return partial(silent_since, shared(admin if connection_settings(admin) == connection else connection))
