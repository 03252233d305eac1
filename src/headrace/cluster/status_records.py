"""The records of the status topic, as Connect writes them: states of connectors and tasks, and active topics (KIP-558)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict, cast

import structlog

from headrace.cluster.records import TASK_ID
from headrace.topics import active
from headrace.values import json_text
from headrace.values.json_text import java_class

log = structlog.get_logger(__name__)

HEADRACE_FIELDS = ("restart", "stream")
"""Optional fields of a status that Kafka Connect does not have."""
CONNECTOR_PREFIX, TASK_PREFIX = "status-connector-", "status-task-"
STATES = frozenset(("UNASSIGNED", "RUNNING", "PAUSED", "FAILED", "DESTROYED", "RESTARTING", "STOPPED"))


class Status(TypedDict):
    """A connector's or task's state, as the value of its record: `trace` of a failure, `generation` of the worker's group."""

    state: str
    trace: str | None
    worker_id: str
    generation: int
    version: str | None
    restart: NotRequired[dict[str, Any]]  # headrace's own: of a task with automatic restarts
    stream: NotRequired[dict[str, Any]]  # headrace's own: the stream mode of a running task


@dataclass(frozen=True)
class ConnectorStatusRecord:
    """The state of a connector."""

    connector: str
    status: Status | None
    """None: it was removed."""

    @property
    def key(self) -> str:
        """Key of the record."""
        return f"{CONNECTOR_PREFIX}{self.connector}"


@dataclass(frozen=True)
class TaskStatusRecord:
    """The state of a task."""

    connector: str
    task: int
    status: Status | None
    """None: it was removed."""

    @property
    def key(self) -> str:
        """Key of the record."""
        return f"{TASK_PREFIX}{self.connector}-{self.task}"


@dataclass(frozen=True)
class ActiveTopic:
    """An active topic of a connector."""

    connector: str
    topic: str
    status: active.TopicStatus | None
    """None: it is not active any more."""

    @property
    def key(self) -> str:
        """Key of the record."""
        return active.encode_key(self.topic, self.connector)


StatusRecord = ConnectorStatusRecord | TaskStatusRecord | ActiveTopic


def encode(record: StatusRecord) -> tuple[bytes, bytes | None]:
    """Key and value of a record as bytes; the value is None for a tombstone."""
    if record.status is None:
        return record.key.encode(), None
    if isinstance(record, ActiveTopic):
        topic = cast(active.TopicStatus, record.status)
        value: Any = active.encode_value(topic.topic, topic.connector, topic.task, topic.discover_timestamp_ms)
    else:
        fields = cast(dict[str, Any], record.status)
        value = _fields_of(fields)
    return record.key.encode(), json_text.encode(value)


def decode(key: bytes | None, value: bytes | None) -> StatusRecord | None:
    """Parse a record. None, after a log line in Connect's words, if it is invalid: readers skip it."""
    name = (key or b"").decode("utf-8", "replace")
    if name.startswith(CONNECTOR_PREFIX):
        return _connector(name, value)
    if name.startswith(TASK_PREFIX):
        return _task(name, value)
    if name.startswith(active.KEY_PREFIX):
        return _topic(name, value)
    log.warning("Discarding record with invalid key %s", name)
    return None


def _fields_of(status: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a status in their order; optional ones only if present."""
    return {
        name: status.get(name)
        for name in Status.__annotations__
        if name not in HEADRACE_FIELDS or isinstance(status.get(name), dict)
    }


def _connector(key: str, value: bytes | None) -> ConnectorStatusRecord | None:
    connector = key.removeprefix(CONNECTOR_PREFIX)
    if not connector:
        log.warning("Discarding record with invalid connector status key %s", key)
        return None
    if value is None:
        return ConnectorStatusRecord(connector, None)
    status = _status("connector", value)
    return ConnectorStatusRecord(connector, status) if status else None


def _task(key: str, value: bytes | None) -> TaskStatusRecord | None:
    match = TASK_ID.fullmatch(key.removeprefix(TASK_PREFIX))
    if match is None:
        log.warning("Discarding record with invalid task status key %s", key)
        return None
    if value is None:
        return TaskStatusRecord(match[1], int(match[2]), None)
    status = _status("task", value)
    if status is None:
        log.warning("Failed to parse task status with key %s", key)
        return None
    return TaskStatusRecord(match[1], int(match[2]), status)


def _topic(key: str, value: bytes | None) -> ActiveTopic | None:
    names = active.decode_key(key)
    if names is None:
        return None
    topic, connector = names
    if value is None:
        return ActiveTopic(connector, topic, None)
    status = active.decode_value(value)
    if status is None:
        log.warning("Failed to parse topic status with key %s", key)
        return None
    return ActiveTopic(connector, topic, status)


def _status(kind: str, value: bytes) -> Status | None:
    try:
        content = json_text.decode(value)
    except ValueError as error:
        log.error("Failed to deserialize %s status: %s", kind, error)
        return None
    if not isinstance(content, dict):
        log.error("Invalid %s status type %s", kind, java_class(content))
        return None
    status = _fields_of(content)
    wrong = [f"{name} {value}" for name, value in status.items() if not _is_valid(name, value)]
    if wrong:
        log.error("Failed to deserialize %s status: %s", kind, ", ".join(wrong))
        return None
    return cast(Status, status)


def _is_valid(name: str, value: object) -> bool:
    if name == "state":
        return isinstance(value, str) and value in STATES
    if name == "generation":
        return type(value) is int
    return value is None or isinstance(value, str | dict)
