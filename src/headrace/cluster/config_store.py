"""The config topic as a store: the connectors, their configurations and target states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import structlog

from headrace.cluster import records
from headrace.cluster.records import (
    ConfigRecord,
    ConnectorConfigRecord,
    LoggerLevel,
    RestartRequest,
    SessionKey,
    TargetState,
    TargetStateChange,
    TaskConfig,
    TaskCount,
    TasksCommit,
)
from headrace.cluster.state import ClusterState, fold
from headrace.errors import ConnectError
from headrace.kafka.confirmed_transactions import write_confirmed
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.internal_topics import require_single_partition
from headrace.kafka.log import START_TIMEOUT_S, LogFactory, LogRecord
from headrace.kafka.transactional_writer import PrivilegedWriteError, TransactionalWriter

log = structlog.get_logger(__name__)

TIMEOUT_S = 30.0  # Connect's READ_WRITE_TOTAL_TIMEOUT_MS
FAILED_WRITE = "Failed to write to config topic; this may be due to a transient error and the request can be safely retried"

Listener = Callable[[str, str], None]
"""(kind, name): `connector`, `tasks`, `target-state`, `restart`, `fencing` of a connector; `logger` of a namespace."""

_CHANGES: Mapping[type, tuple[str, str]] = {  # class of record -> (kind of change, the attribute with the name)
    ConnectorConfigRecord: ("connector", "connector"),
    TasksCommit: ("tasks", "connector"),
    TargetStateChange: ("target-state", "connector"),
    RestartRequest: ("restart", "connector"),
    TaskCount: ("fencing", "connector"),
    LoggerLevel: ("logger", "namespace"),
    SessionKey: ("session-key", "key"),
}


class ConfigStore:
    """Reads return the state in memory, as read back from the topic. Writes return when they have been read back.

    Every method may be called from any thread, but a listener must not write: it would wait for itself. A write that fails or
    takes more than 30 s raises ConnectError in Connect's words; its records may be in the topic nevertheless.
    """

    def __init__(
        self,
        make_log: LogFactory,
        fenced: TransactionalWriter | None = None,
        topic: str = "",
        *,
        transactional_leader: bool = False,
    ) -> None:
        """fenced: transactional writer of the leader's records; without it there are no transactions. transactional_leader:
        whether Kafka Connect's leader would have one, too, which decides over the words for a write that fails.
        """
        self._state = ClusterState()
        self._fenced = fenced
        self._topic = topic
        self._transactional_leader = transactional_leader
        self._listeners: list[Listener] = []
        self._started = False
        self._log = make_log(self._apply)

    # ---------------------------------------------------------------------------------------------- life
    def start(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Read the topic to its end. Raises ConnectError, ConfigError if the topic has more than one partition."""
        self._log.start(timeout_s)
        require_single_partition(self._topic, self._log.partition_count)
        self._started = True

    def stop(self) -> None:
        """Close the log and the writer."""
        if self._fenced:
            self._fenced.stop()
        self._log.stop()

    def listen(self, listener: Listener) -> None:
        """Call `listener(kind, name)` after each record that is applied from now on, on the log's thread, in order."""
        self._listeners.append(listener)

    def claim_write_privileges(self, timeout_s: float = TIMEOUT_S) -> None:
        """Become the leader's writer, and fence the previous one; does nothing without `fenced`."""
        if self._fenced:
            self._fenced.claim(timeout_s)

    def may_write(self) -> bool:
        """Whether this worker may write the leader's records: a failed write ends that right."""
        return self._fenced is None or self._fenced.may_write()

    # ---------------------------------------------------------------------------------------------- reading
    def snapshot(self) -> ClusterState:
        """The state of the topic, as far as it has been read."""
        return self._state

    def refresh(self, timeout_s: float = TIMEOUT_S) -> None:
        """Read to the current end of the topic. Raises RetriableError after `timeout_s`."""
        self._log.read_to_end(timeout_s)

    # ---------------------------------------------------------------------------------------------- writing
    def put_connector(self, name: str, properties: Mapping[str, Any], target_state: str | None = None) -> None:
        """Write a connector's configuration; `target_state`, if given, before it (KIP-980)."""
        log.debug("Writing connector configuration for connector '%s'", name)
        first = [TargetStateChange(name, TargetState(target_state))] if target_state else []
        self._write("connector configuration", [*first, ConnectorConfigRecord(name, properties)])

    def remove_connector(self, name: str) -> None:
        """Delete a connector: its configuration and its target state."""
        log.debug("Removing connector configuration for connector '%s'", name)
        tombstones = [ConnectorConfigRecord(name, None), TargetStateChange(name, None)]
        self._write("connector configuration", tombstones, failed="Error removing connector configuration from Kafka")

    def put_task_configs(self, *connectors: tuple[str, Sequence[Mapping[str, Any]]]) -> None:
        """Write the complete sets of task configurations of connectors: each one, then the commit that makes a set valid.

        In one transaction, where Kafka Connect uses two for each connector; they are read in the order of writing.
        """
        entries: list[ConfigRecord] = []
        for name, configs in connectors:
            log.debug("Writing %d task configurations and their commit for connector '%s'", len(configs), name)
            entries += [TaskConfig(name, number, config) for number, config in enumerate(configs)]
            entries.append(TasksCommit(name, len(configs)))
        self._write("task configurations", entries)

    def put_target_state(self, state: str, *names: str) -> None:
        """Write the target state of connectors: STARTED, PAUSED or STOPPED. Any worker may do so."""
        for name in names:
            log.debug("Writing target state %s for connector %s", state, name)
        self._write("target state", [TargetStateChange(name, TargetState(state)) for name in names], privileged=False)

    def put_restart_request(self, name: str, include_tasks: bool, only_failed: bool) -> None:
        """Write a request to all workers to restart their parts of a connector (KIP-745)."""
        self._write("restart request", [RestartRequest(name, include_tasks, only_failed)])

    def put_session_key(self, key: SessionKey) -> None:
        """Distribute a new session key (KIP-507)."""
        self._write("session key", [key])

    def put_task_count(self, name: str, tasks: int) -> None:
        """Write the number of tasks to fence before the next generation starts (KIP-618)."""
        self._write("task count record", [TaskCount(name, tasks)])

    def put_logger_level(self, namespace: str, level: str) -> None:
        """Set a log level on all workers (KIP-976)."""
        self._write("logger level", [LoggerLevel(namespace, level)], privileged=False)

    # ---------------------------------------------------------------------------------------------- inside
    def _write(self, content: str, entries: Iterable[ConfigRecord], *, privileged: bool = True, failed: str = "") -> None:
        """failed: Kafka Connect's sentence where it is not that `content` could not be written."""
        encoded = [records.encode(record) for record in entries]
        try:
            if self._fenced and privileged:
                write_confirmed(partial(self._fenced.write, encoded), self._log, TIMEOUT_S)
            else:
                self._log.write(encoded, TIMEOUT_S)
        except PrivilegedWriteError as error:
            raise ConnectError(FAILED_WRITE) from error
        except KafkaFailure as error:
            log.error("Failed to write %s to Kafka: %s", content, error)
            sentence = failed or f"Error writing {content} to Kafka"
            if self._transactional_leader and privileged:
                raise ConnectError(FAILED_WRITE) from _connect_error(sentence, error)
            raise ConnectError(sentence) from error

    def _apply(self, record: LogRecord) -> None:
        decoded = records.decode(record.key, record.value)
        if decoded is None:
            return
        self._state = fold(self._state, decoded, record.offset)
        if not self._started or type(decoded) not in _CHANGES:
            return
        kind, attribute = _CHANGES[type(decoded)]
        for listener in tuple(self._listeners):
            listener(kind, getattr(decoded, attribute))


def _connect_error(sentence: str, cause: KafkaFailure) -> ConnectError:
    error = ConnectError(sentence)
    error.__cause__ = cause
    return error
