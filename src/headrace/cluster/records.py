"""The records of the config topic, as Connect writes them: a class for each kind of record, with key and value.

Sources: KIP-26, KIP-415, KIP-507 (session keys), KIP-618 (fencing), KIP-745 (restarts), KIP-875 (`state.v2`), KIP-976 (loggers).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeGuard

import structlog

from headrace.connectors.base import Props
from headrace.values import json_text
from headrace.values.json_text import java_class

log = structlog.get_logger(__name__)

Properties = Props  # text values; None only in requests
TASK_ID = re.compile(r"(.*)-([0-9]{1,9})", re.DOTALL)
"""A task in a key: its connector, and its number."""


class TargetState(StrEnum):
    """The target state of a connector (KIP-52, KIP-875)."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


@dataclass(frozen=True)
class ConnectorConfigRecord:
    """A connector's configuration."""

    connector: str
    properties: Properties | None
    """None: the connector is deleted."""

    @property
    def key(self) -> str:
        """Key of the record."""
        return f"connector-{self.connector}"

    @property
    def value(self) -> object:
        """Value of the record, None for a tombstone."""
        return None if self.properties is None else {"properties": dict(self.properties)}


@dataclass(frozen=True)
class TaskConfig:
    """A task's configuration, which takes effect with the next TasksCommit."""

    connector: str
    task: int
    """Its number, from 0."""
    properties: Properties

    @property
    def key(self) -> str:
        """Key of the record."""
        return f"task-{self.connector}-{self.task}"

    @property
    def value(self) -> object:
        """Value of the record."""
        return {"properties": dict(self.properties)}


@dataclass(frozen=True)
class TasksCommit:
    """The task configurations before it are complete."""

    connector: str
    tasks: int
    """How many there are."""

    @property
    def key(self) -> str:
        """Key of the record."""
        return f"commit-{self.connector}"

    @property
    def value(self) -> object:
        """Value of the record."""
        return {"tasks": self.tasks}


@dataclass(frozen=True)
class TargetStateChange:
    """A connector's target state."""

    connector: str
    state: TargetState | None
    """None: it is removed."""

    @property
    def key(self) -> str:
        """Key of the record."""
        return f"target-state-{self.connector}"

    @property
    def value(self) -> object:
        """Value of the record: `state` is for older workers, which do not know STOPPED."""
        if self.state is None:
            return None
        old = TargetState.PAUSED if self.state is TargetState.STOPPED else self.state
        return {"state": str(old), "state.v2": str(self.state)}


@dataclass(frozen=True)
class SessionKey:
    """The key that signs requests between workers."""

    secret: str
    """In base64."""
    algorithm: str
    """Of HMAC, by Java's name."""
    creation_timestamp_ms: int
    """Epoch ms."""

    key = "session-key"

    @property
    def value(self) -> object:
        """Value of the record."""
        return {"key": self.secret, "algorithm": self.algorithm, "creation-timestamp": self.creation_timestamp_ms}

    def __repr__(self) -> str:
        """Without the secret."""
        return f"SessionKey(algorithm={self.algorithm!r}, creation_timestamp_ms={self.creation_timestamp_ms})"


@dataclass(frozen=True)
class RestartRequest:
    """A request to restart a connector and tasks, executed by every worker for its parts."""

    connector: str
    include_tasks: bool
    """Restarts its tasks too, not the instance of the connector alone."""
    only_failed: bool
    """Leaves out what has not failed."""

    @property
    def key(self) -> str:
        """Key of the record."""
        return f"restart-connector-{self.connector}"

    @property
    def value(self) -> object:
        """Value of the record."""
        return {"include-tasks": self.include_tasks, "only-failed": self.only_failed}


@dataclass(frozen=True)
class TaskCount:
    """The number of tasks whose producers are fenced before the next generation starts (exactly-once sources)."""

    connector: str
    tasks: int
    """Whose producers are fenced."""

    @property
    def key(self) -> str:
        """Key of the record."""
        return f"tasks-fencing-{self.connector}"

    @property
    def value(self) -> object:
        """Value of the record."""
        return {"task-count": self.tasks}


@dataclass(frozen=True)
class LoggerLevel:
    """A log level for a namespace of loggers on every worker."""

    namespace: str
    """The loggers of this name, and all whose names begin with it and a dot."""
    level: str

    @property
    def key(self) -> str:
        """Key of the record."""
        return f"logger-cluster-{self.namespace}"

    @property
    def value(self) -> object:
        """Value of the record."""
        return {"level": self.level}


ConfigRecord = (
    ConnectorConfigRecord | TaskConfig | TasksCommit | TargetStateChange | SessionKey | RestartRequest | TaskCount | LoggerLevel
)


def encode(record: ConfigRecord) -> tuple[bytes, bytes | None]:
    """Key and value of a record as bytes; the value is None for a tombstone."""
    value = record.value
    return record.key.encode(), None if value is None else json_text.encode(value)


def decode(key: bytes | None, value: bytes | None) -> ConfigRecord | None:
    """Parse a record. None, after a log line in Connect's words, if it is invalid: readers skip it."""
    try:
        content = None if value is None else json_text.decode(value)
    except ValueError as error:
        log.error("Failed to convert config data to Kafka Connect format: %s", error)
        return None
    name = (key or b"").decode("utf-8", "replace")
    for prefix, read in _READERS.items():
        if name.startswith(prefix):
            return read(name.removeprefix(prefix), content)
    log.error("Discarding config update record with invalid key: %s", name)
    return None


def _target_state(connector: str, content: Any) -> TargetStateChange | None:
    if content is None:
        return TargetStateChange(connector, None)
    if not isinstance(content, dict):
        log.error(
            "Ignoring target state for connector '%s' because it is in the wrong format: %s", connector, java_class(content)
        )
        return None
    message = "Invalid data for target state for connector '%s': '%s' field should be a String but is %s"
    state = content.get("state.v2")
    if state is not None and not isinstance(state, str):
        log.error(message, connector, "state.v2", java_class(state))
        state = None  # the older field may still tell the state
    if state is None:
        state = content.get("state")
        if not isinstance(state, str):
            log.error(message, connector, "state", java_class(state))
            return None
    if state not in TargetState.__members__:
        log.error("Invalid target state for connector '%s': %s", connector, state)
        return None
    return TargetStateChange(connector, TargetState(state))


def _connector(connector: str, content: Any) -> ConnectorConfigRecord | None:
    if content is None:
        return ConnectorConfigRecord(connector, None)
    if not isinstance(content, dict):
        log.error(
            "Ignoring configuration for connector '%s' because it is in the wrong format: %s", connector, java_class(content)
        )
        return None
    properties = content.get("properties")
    if not _is_string_map(properties):
        message = "Invalid data for config for connector '%s': 'properties' field should be a Map but is %s"
        log.error(message, connector, _actual_type(properties))
        return None
    return ConnectorConfigRecord(connector, properties)


def _is_string_map(properties: Any) -> TypeGuard[Properties]:
    return isinstance(properties, dict) and all(value is None or isinstance(value, str) for value in properties.values())


def _actual_type(properties: Any) -> str:
    return java_class(properties) + (" with values that are no Strings" if isinstance(properties, dict) else "")


def _task(task_id: str, content: Any) -> TaskConfig | None:
    match = TASK_ID.fullmatch(task_id)
    if match is None:
        log.error("Ignoring task configuration because task-%s couldn't be parsed as a task config key", task_id)
        return None
    if content is None:
        log.error("Ignoring task configuration for task %s because it is unexpectedly null", task_id)
        return None
    if not isinstance(content, dict):
        log.error(
            "Ignoring task configuration for task %s because the value is not a Map but is %s", task_id, java_class(content)
        )
        return None
    properties = content.get("properties")
    if not _is_string_map(properties):
        message = "Invalid data for config of task %s 'properties' field should be a Map but is %s"
        log.error(message, task_id, _actual_type(properties))
        return None
    return TaskConfig(match[1], int(match[2]), properties)


def _commit(connector: str, content: Any) -> TasksCommit | None:
    tasks = content.get("tasks") if isinstance(content, dict) else None
    if type(tasks) is not int:
        message = "Ignoring connector tasks configuration commit for connector '%s' because it is in the wrong format: %s"
        log.error(message, connector, java_class(content))
        return None
    return TasksCommit(connector, tasks)


def _restart(connector: str, content: Any) -> RestartRequest | None:
    if not isinstance(content, dict):
        log.error("Ignoring restart request because the value is not a Map but is %s", java_class(content))
        return None

    def flag(name: str) -> bool:
        value = content.get(name)
        if isinstance(value, bool):
            return value
        message = "Invalid data for restart request '%s' field should be a Boolean but is %s, defaulting to false"
        log.warning(message, name, java_class(value))
        return False

    return RestartRequest(connector, flag("include-tasks"), flag("only-failed"))


def _task_count(connector: str, content: Any) -> TaskCount | None:
    tasks = content.get("task-count") if isinstance(content, dict) else None
    if type(tasks) is not int:
        message = "Ignoring task count record for connector '%s' because it is in the wrong format: %s"
        log.error(message, connector, java_class(content))
        return None
    return TaskCount(connector, tasks)


def _session_key(_rest: str, content: Any) -> SessionKey | None:
    if content is None:
        log.error("Ignoring session key because it is unexpectedly null")
        return None
    if not isinstance(content, dict):
        log.error("Ignoring session key because the value is not a Map but is %s", java_class(content))
        return None
    fields = (("key", str, "should be a String but is"), ("algorithm", str, "should be a String but it is"))
    for field, kind, words in (*fields, ("creation-timestamp", int, "should be a long but it is")):
        if type(content.get(field)) is not kind:
            log.error("Invalid data for session key '%s' field %s %s", field, words, java_class(content.get(field)))
            return None
    return SessionKey(content["key"], content["algorithm"], content["creation-timestamp"])


def _logger(namespace: str, content: Any) -> LoggerLevel | None:
    if content is None:
        log.error("Ignoring logging level for namespace %s because it is unexpectedly null", namespace)
        return None
    if not isinstance(content, dict):
        message = "Ignoring logging level for namespace %s because the value is not a Map but is %s"
        log.error(message, namespace, java_class(content))
        return None
    level = content.get("level")
    if not isinstance(level, str):
        message = "Invalid data for logging level key 'level' field with namespace %s; should be a String but it is %s"
        log.error(message, namespace, java_class(level))
        return None
    return LoggerLevel(namespace, level)


_READERS: Mapping[str, Callable[[str, Any], ConfigRecord | None]] = {
    "target-state-": _target_state,
    "connector-": _connector,
    "task-": _task,
    "commit-": _commit,
    "restart-connector-": _restart,
    "tasks-fencing-": _task_count,
    "session-key": _session_key,
    "logger-cluster-": _logger,
}
