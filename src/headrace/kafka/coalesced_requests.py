"""Coalesces the requests of many tasks to one cluster: one request for all of them, at most once a second."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Generic, TypeVar

from headrace.errors import HeadraceError, RetriableError
from headrace.kafka.admin import Admin, shared
from headrace.kafka.client_settings import connection_settings
from headrace.kafka.delivered_position import DeliveredPosition
from headrace.kafka.groups import Partition
from headrace.kafka.topic_info import TopicInfo
from headrace.values.times import now_ms

_FRESH_S, _DEMAND_S, _TIMEOUT_S = 1.0, 60.0, 5.0
_PATIENCE_S, _PATIENCE_EVERY_S, _SLOW_S = 0.5, 5.0, 2.0
Key = TypeVar("Key")
Value = TypeVar("Value")


class WaitBudget:
    """Limits the total wait for clusters to half a second in five.

    Thread-safe. Otherwise each unavailable cluster would delay the metrics of all tasks by half a second.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waited: deque[tuple[float, float]] = deque()  # (start, duration) of waits

    def left_s(self, now: float) -> float:
        """The seconds that may be waited now; now: of `time.monotonic()`."""
        with self._lock:
            while self._waited and now - self._waited[0][0] > _PATIENCE_EVERY_S:
                self._waited.popleft()
            return max(0.0, _PATIENCE_S - sum(seconds for _, seconds in self._waited))

    def wait(self, response_event: threading.Event, until: float) -> bool:
        """Wait for the event; returns whether it was set in time."""
        begun = time.monotonic()
        done = response_event.wait(max(0.0, min(until - begun, self.left_s(begun))))
        with self._lock:
            self._waited.append((begun, time.monotonic() - begun))
        return done


_BUDGET = WaitBudget()


class CoalescedRequest(Generic[Key, Value]):
    """A request for the values of many keys of one cluster.

    Thread-safe. It runs on a thread of its own, so that an unavailable cluster does not delay the metrics of others.
    """

    def __init__(self, ask: Callable[[list[Key], float], dict[Key, Value]]) -> None:
        """ask: returns the values of keys within a time-out in seconds, or raises HeadraceError."""
        self._ask = ask
        self._lock = threading.Lock()
        self._keys_in_demand: dict[Key, float] = {}  # key -> time of its last use
        self._values: dict[Key, Value] = {}
        self._requested: set[Key] = set()
        self._requested_at = -_DEMAND_S
        self._response_event: threading.Event | None = None  # of the running request
        self._patience_ends = 0.0  # of that request: of successive callers only the first waits
        self._error: HeadraceError | None = None  # of the last request
        self._began_ms: int | None = None  # start of the first request without a response since the last successful one

    def of(self, keys: Collection[Key]) -> dict[Key, Value]:
        """The values of these keys, a second old, or older while the cluster is slow; keys without a value are left out.

        Raises HeadraceError if the cluster does not answer: at once if the last request failed, too.
        """
        while (response_event := self._request(keys)) is not None and _BUDGET.wait(response_event, self._patience_ends):
            pass  # the running request may be for other keys
        with self._lock:
            if not self._requested >= set(keys):
                raise RetriableError("The cluster has not answered yet.")
            return {key: self._values[key] for key in keys if key in self._values}

    def ask(self, keys: Collection[Key]) -> None:
        """Request these keys without waiting: `silent_since_ms` is None if the cluster answers."""
        with suppress(HeadraceError):  # of the last request
            self._request(keys)

    @property
    def silent_since_ms(self) -> int | None:
        """Since when (epoch ms) the cluster has not answered; None: it answers, or there were no requests for a while."""
        with self._lock:
            now = time.monotonic()
            waiting = self._response_event is not None and now > self._patience_ends + _SLOW_S  # else it is a slow one
            in_demand = any(now - at < _DEMAND_S for at in self._keys_in_demand.values())
            return self._began_ms if in_demand and (waiting or self._error is not None) else None

    def _request(self, keys: Collection[Key]) -> threading.Event | None:
        """Start a request unless one is running or the last one is recent; returns an event that is set by its response.

        Raises the error of the last request.
        """
        with self._lock:
            now = time.monotonic()
            self._keys_in_demand |= dict.fromkeys(keys, now)
            if self._response_event is None and (now - self._requested_at > _FRESH_S or not self._requested >= set(keys)):
                self._response_event, self._patience_ends = threading.Event(), now + _PATIENCE_S
                self._began_ms = self._began_ms or now_ms()
                self._keys_in_demand = {key: at for key, at in self._keys_in_demand.items() if now - at < _DEMAND_S}
                request = (list(self._keys_in_demand), self._response_event)
                threading.Thread(target=self._send_request, args=request, name="cluster-request", daemon=True).start()
            if self._error:
                raise self._error
            return self._response_event

    def _send_request(self, keys: list[Key], response_event: threading.Event) -> None:
        values: dict[Key, Value] = {}
        error: HeadraceError | None = None
        try:
            values = self._ask(keys, _TIMEOUT_S)
        except HeadraceError as failure:
            error = failure
        with self._lock:
            self._error, self._response_event, self._requested_at = error, None, time.monotonic()
            if error is None:
                self._began_ms = None
                self._values, self._requested = values, set(keys)
        response_event.set()


_LOCK = threading.Lock()


def delivered_positions(admin: Admin, positions: Mapping[Partition, int]) -> dict[str, DeliveredPosition] | None:
    """How far each partition is delivered, by `<topic>-<partition>`; None if the cluster does not answer now.

    positions: the next offset to deliver of each.
    """
    try:
        ends = latest_offsets(admin).of(positions.keys())
    except HeadraceError:  # readers of that cluster report the error
        return None
    return {f"{t}-{p}": DeliveredPosition(positions[t, p], end) for (t, p), end in ends.items()}


def latest_offsets(admin: Admin) -> CoalescedRequest[Partition, int]:
    """The end offsets of partitions, requested by this client (`headrace.kafka.admin.shared`)."""

    def ask(partitions: list[Partition], timeout_s: float) -> dict[Partition, int]:
        try:
            return admin.partition_offsets(partitions, "latest", timeout_s)
        except HeadraceError:  # a partition may have been deleted, or have no leader now
            leaders = {topic: info.partitions for topic, info in admin.find({t for t, _ in partitions}, timeout_s).items()}
            led = [(t, p) for t, p in partitions if leaders.get(t, {}).get(p) is not None]
            return admin.partition_offsets(led, "latest", timeout_s)

    with _LOCK:
        return admin.coalesced_requests.setdefault("latest offsets", CoalescedRequest(ask))


def topics(admin: Admin) -> CoalescedRequest[str, TopicInfo]:
    """Topics with their ids and leaders, requested by this client."""
    with _LOCK:
        return admin.coalesced_requests.setdefault("topics", CoalescedRequest(admin.find))


def silent_since(admin: Admin) -> int | None:
    """Since when (epoch ms) a cluster has not answered; None: it answers, or there was no request before.

    It sends a request, and does not wait for the response.
    """
    with _LOCK:
        cluster = admin.coalesced_requests.setdefault(
            "cluster", CoalescedRequest(lambda _, timeout_s: {"id": admin.cluster_id(timeout_s)})
        )
    cluster.ask(["id"])
    return cluster.silent_since_ms


def follow_silence(producer: Mapping[str, str], admin: Mapping[str, str]) -> Callable[[], int | None]:
    """Return a function that sends a request to the cluster of a producer: `silent_since`.

    producer, admin: Java settings; those of the admin client are used if they lead to the same cluster.
    """
    connection = connection_settings(producer)
    return partial(silent_since, shared(admin if connection_settings(admin) == connection else connection))
