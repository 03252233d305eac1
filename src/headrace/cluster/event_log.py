"""Event logs: state changes with their causes, and the audit log of changes.

Each has a topic with retention; the last events are in memory. The topic is optional: if it cannot be created or read, events
are kept in memory only, and a warning is logged. No call blocks.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

import structlog

from headrace.background import side_by_side
from headrace.cluster.recent_events import Event, RecentEvents
from headrace.config.redaction import redacted
from headrace.errors import ConnectError, HeadraceError
from headrace.kafka.admin import Admin
from headrace.kafka.log import LogFactory, LogRecord, RecordLog
from headrace.values.times import iso

log = structlog.get_logger(__name__)

_START_S, _MAX_QUEUED = 30.0, 1000
_ALL = 1 << 30
_STRANGERS = "strangers"
STRANGERS_IN_MEMORY = 200
"""How many refused requests of strangers the audit keeps in memory."""


@dataclass(frozen=True)
class EventTopic:
    """The topic of an event log. It has one partition, so that events have one order."""

    name: str
    replication_factor: int
    """-1: the broker's default."""
    retention_ms: int
    """The topic's `retention.ms`."""


def create_event_topic(admin: Admin, topic: EventTopic, timeout_s: float = _START_S) -> None:
    """Create the topic unless it exists. Raises KafkaFailure."""
    settings = {"cleanup.policy": "delete", "retention.ms": str(topic.retention_ms)}
    admin.create(topic.name, 1, topic.replication_factor, settings, timeout_s, exist_ok=True)


@dataclass(frozen=True)
class EventPage:
    """Some of the events in memory."""

    events: list[Event]
    """Oldest first."""
    before: str | None
    """The time before which there are older ones; None: there are none."""


class EventLog:
    """The events of all workers, newest last. Every method may be called from any thread, and returns at once."""

    def __init__(
        self,
        make_log: LogFactory | None = None,
        prepare: Callable[[], None] = lambda: None,
        recent: Callable[[], RecentEvents] = lambda: RecentEvents(lambda _event: ""),
    ) -> None:
        """make_log: of the topic, None: memory only; prepare: creates the topic; recent: makes the memory."""
        self._events = recent()
        self._queued: deque[Event] = deque(maxlen=_MAX_QUEUED)
        self._log: RecordLog | None = make_log(self._apply) if make_log else None
        self._prepare = prepare
        self._lock = threading.Lock()
        self._ready = self._log is None
        self.durable = False
        """Whether events are written to the topic."""

    def start(self) -> None:
        """Create and read the topic in the background."""
        if self._log is not None:
            threading.Thread(target=self._start, args=(self._log,), name="event-log-start", daemon=True).start()

    def stop(self) -> None:
        """Wait a few seconds for records in flight, then close."""
        if self._log is not None:
            self._log.stop()

    def add(self, **event: Any) -> None:
        """Add an event that happens now; values of config providers are replaced by their placeholders."""
        entry = redacted({"time": iso(datetime.now(UTC)), **{key: value for key, value in event.items() if value is not None}})
        with self._lock:
            if not self._ready:
                self._queued.append(entry)
            elif self.durable:
                self._send(entry)
            else:
                self._events.add(entry)

    def page(self, count: int, before: str | None = None, **fields: str | None) -> EventPage:
        """The last `count` events before a time, as `last`; of one millisecond all or none, so that the next page misses none."""
        # They are kept in the order of arrival, which is not that of their times: workers' clocks differ.
        events = sorted(self.last(_ALL, **fields), key=lambda event: event["time"])
        matching = [event for event in events if before is None or event["time"] < before]
        first = max(0, len(matching) - count)
        while 0 < first < len(matching) and matching[first - 1]["time"] == matching[first]["time"]:
            first -= 1
        return EventPage(matching[first:], matching[first]["time"] if 0 < first < len(matching) else None)

    def last(self, count: int, **fields: str | None) -> list[Event]:
        """The last `count` events with these field values (None: any), oldest first; `connector` also matches in `connectors`."""
        filters = {key: value for key, value in fields.items() if value is not None}

        def matches(event: Event) -> bool:
            return all(_matches(event, key, value) for key, value in filters.items())

        with self._lock:
            queued = [event for event in self._queued if matches(event)]
            matching = [*self._events.matching(matches), *queued]
        return matching[-count:] if count > 0 else []

    def _start(self, topic: RecordLog) -> None:
        try:
            self._prepare()
            topic.start(_START_S)
            durable = True
        except HeadraceError as error:
            log.warning("events.in-memory", cause=str(error), meaning="events are lost when this worker stops")
            durable = False
        with self._lock:
            self._ready, self.durable = True, durable  # at once: what is added next is written, and not queued
            while self._queued:
                entry = self._queued.popleft()
                if self.durable:
                    self._send(entry)
                else:
                    self._events.add(entry)

    def _send(self, event: Event) -> None:
        """Write the event; if the brokers reject it, it is kept in memory."""
        key = _connector(event).encode("utf-8", "replace")

        def written(future: Future[Any]) -> None:
            error = CancelledError() if future.cancelled() else future.exception()
            if error is not None:
                self._keep(event, error)

        try:
            assert self._log is not None
            future = self._log.send(key, json.dumps(event, ensure_ascii=False).encode("utf-8", "replace"))
        except ConnectError as error:
            self._keep(event, error)
        else:
            future.add_done_callback(written)

    def _keep(self, event: Event, error: BaseException) -> None:
        log.warning(
            "events.not-written", cause=str(error), meaning="the event is kept in memory, and lost when this worker stops"
        )
        self._events.add(event)

    def _apply(self, record: LogRecord) -> None:
        try:
            event = json.loads(record.value or b"null")
        except (ValueError, RecursionError):  # somebody else's record
            return
        if isinstance(event, dict) and isinstance(event.get("time"), str):
            self._events.add(event)


def _connector(event: Event) -> str:
    return str(event.get("connector") or "")


def _history_events() -> RecentEvents:
    return RecentEvents(_connector)


def _audit_events() -> RecentEvents:
    """Requests of strangers have a room of their own: they displace no change of a user."""
    return RecentEvents(lambda event: _STRANGERS if is_of_stranger(event) else "", {_STRANGERS: STRANGERS_IN_MEMORY})


def is_of_stranger(event: Mapping[str, Any]) -> bool:
    """Whether an audit event is a request that was refused before anybody knew whose it was."""
    return "user" not in event and event.get("status") in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


def _matches(event: Event, key: str, value: str) -> bool:
    return event.get(key) == value or (key == "connector" and value in event.get("connectors", ()))


@dataclass(frozen=True)
class EventLogs:
    """The event logs of a worker."""

    history: EventLog = field(default_factory=lambda: EventLog(recent=_history_events))
    """States of connectors and tasks, with their causes."""
    audit: EventLog = field(default_factory=lambda: EventLog(recent=_audit_events))
    """Changes, with their users."""

    def start(self) -> None:
        """Start both logs."""
        self.history.start()
        self.audit.start()

    def stop(self) -> None:
        """Close both logs."""
        side_by_side(self.history.stop, self.audit.stop, thread="stop-events")


def _require_event_topic(admin: Admin, topic: EventTopic, timeout_s: float = _START_S) -> None:
    if admin.describe(topic.name, timeout_s) is None:
        raise ConnectError(f"The topic '{topic.name}' does not exist, and internal.topics.automatic.creation.enable is false.")


def kafka_event_logs(
    topics: Mapping[str, EventTopic | None], admin: Admin, make: Callable[[str], LogFactory], *, create: bool = True
) -> EventLogs:
    """Logs on these topics, by `history` and `audit` (None: memory only).

    make: returns the log factory of a topic; create: whether missing topics are created, else such a log is kept in memory.
    """
    prepare = create_event_topic if create else _require_event_topic

    def of(topic: EventTopic | None, recent: Callable[[], RecentEvents]) -> EventLog:
        if topic is None:
            return EventLog(recent=recent)
        return EventLog(make(topic.name), lambda: prepare(admin, topic), recent)

    return EventLogs(of(topics["history"], _history_events), of(topics["audit"], _audit_events))
