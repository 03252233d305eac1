"""The status topic as a store: states of connectors and tasks, and active topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import Any, cast

import structlog

from headrace.cluster import status_records
from headrace.cluster.status import StatusState, fold, may_overwrite
from headrace.cluster.status_records import ActiveTopic, ConnectorStatusRecord, Status, StatusRecord, TaskStatusRecord
from headrace.errors import HeadraceError
from headrace.kafka.log import START_TIMEOUT_S, LogFactory, LogRecord, WrittenAt
from headrace.topics.active import TopicStatus

log = structlog.get_logger(__name__)

TIMEOUT_S = 30.0
_FAILED = "Failed to write status update: %s"


class StatusStore:
    """Reads return the state in memory, as read back from the topic. Writes do not wait; failures are logged.

    Every method may be called from any thread.
    """

    def __init__(self, make_log: LogFactory) -> None:
        self._state = StatusState()
        self._log = make_log(self._apply)
        self._topics_in_flight: set[tuple[str, str]] = set()

    def start(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Read the topic to its end. Raises ConnectError."""
        self._log.start(timeout_s)

    def stop(self) -> None:
        """Wait a few seconds for records in flight, then close."""
        self._log.stop()

    def flush(self, timeout_s: float = TIMEOUT_S) -> bool:
        """Wait until every state written has been acknowledged or has failed; False if not in time."""
        return self._log.flush(timeout_s)

    # ---------------------------------------------------------------------------------------------- reading
    def snapshot(self) -> StatusState:
        """The state of the topic, as far as it has been read."""
        return self._state

    def connectors(self) -> set[str]:
        """The connectors with a state."""
        return set(self._state.connectors)

    def connector(self, name: str) -> Status | None:
        """The state of a connector."""
        return self._state.connectors.get(name)

    def tasks(self, name: str) -> Mapping[int, Status]:
        """The states of a connector's tasks, by number."""
        return self._state.tasks.get(name, {})

    def topics(self, connector: str) -> set[str]:
        """The connector's active topics (KIP-558)."""
        return set(self._state.topics.get(connector, {}))

    def topics_since(self, connector: str) -> dict[str, int]:
        """The connector's active topics with the time (epoch ms) of their discovery."""
        return {topic: status.discover_timestamp_ms for topic, status in self._state.topics.get(connector, {}).items()}

    def latest_generation(self) -> int:
        """The highest generation among the states, -1 if there are none; known after start()."""
        return self._state.latest_generation()

    def refresh(self, timeout_s: float = TIMEOUT_S) -> None:
        """Read to the current end of the topic. Raises RetriableError after `timeout_s`."""
        self._log.read_to_end(timeout_s)

    # ---------------------------------------------------------------------------------------------- writing
    def put_connector_status(self, name: str, status: Mapping[str, Any]) -> None:
        """Write the state of a connector unconditionally."""
        self._send(ConnectorStatusRecord(name, cast(Status, status)))

    def put_connector_status_safe(self, name: str, status: Mapping[str, Any]) -> None:
        """Write the state unless another worker of a later generation has written one: for failures and shutdown."""
        if may_overwrite(cast(Status, status), self.connector(name)):
            self.put_connector_status(name, status)

    def put_task_status(self, name: str, task: int, status: Mapping[str, Any]) -> None:
        """Write the state of a task unconditionally."""
        self._send(TaskStatusRecord(name, task, cast(Status, status)))

    def put_task_status_safe(self, name: str, task: int, status: Mapping[str, Any]) -> None:
        """Write the state unless another worker of a later generation has written one: for failures and shutdown."""
        if may_overwrite(cast(Status, status), self.tasks(name).get(task)):
            self.put_task_status(name, task, status)

    def delete_connector_status(self, name: str) -> None:
        """Remove the state of a connector."""
        self._send(ConnectorStatusRecord(name, None))

    def delete_task_status(self, name: str, task: int) -> None:
        """Remove the state of a task."""
        self._send(TaskStatusRecord(name, task, None))

    def put_topic(self, connector: str, topic: str, task: int, discovered_ms: int) -> None:
        """Add an active topic of a connector; does not wait and does not raise, as the data flows without the status topic.

        Does nothing until a record of the same topic is read back. After a failure, whoever still uses the topic puts it again.
        """
        key = connector, topic
        if key in self._topics_in_flight:
            return
        self._topics_in_flight.add(key)
        try:
            future = self._send(ActiveTopic(connector, topic, TopicStatus(topic, connector, task, discovered_ms)))
        except HeadraceError as error:  # the queue of the producer stayed full, or the store is closed
            self._topics_in_flight.discard(key)
            log.error(_FAILED, error)
        else:
            future.add_done_callback(lambda sent: self._topics_in_flight.discard(key) if sent.exception() else None)

    def delete_topics(self, connector: str, topics: Iterable[str] | None = None) -> None:
        """Remove these active topics, by default all; does not wait. A running task may add them again."""
        in_flight = {topic for of, topic in self._topics_in_flight.copy() if of == connector}  # their records precede these
        for topic in {*self.topics(connector), *in_flight} if topics is None else topics:
            self._send(ActiveTopic(connector, topic, None))

    # ---------------------------------------------------------------------------------------------- inside
    def _send(self, record: StatusRecord) -> Future[WrittenAt]:
        future = self._log.send(*status_records.encode(record))
        future.add_done_callback(_log_failure)
        return future

    def _apply(self, record: LogRecord) -> None:
        decoded = status_records.decode(record.key, record.value)
        if decoded is not None:
            self._state = fold(self._state, decoded)
        if isinstance(decoded, ActiveTopic):
            self._topics_in_flight.discard((decoded.connector, decoded.topic))


def _log_failure(future: Future[WrittenAt]) -> None:
    if error := future.exception():
        log.error(_FAILED, error)
