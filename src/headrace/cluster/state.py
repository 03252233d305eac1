"""The state of the cluster, folded from the config topic. Pure: one function per kind of record, `(state, record) -> state`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import structlog

from headrace.cluster.records import (
    ConfigRecord,
    ConnectorConfigRecord,
    LoggerLevel,
    Properties,
    RestartRequest,
    SessionKey,
    TargetState,
    TargetStateChange,
    TaskConfig,
    TaskCount,
    TasksCommit,
)

log = structlog.get_logger(__name__)

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True)
class ClusterState:
    """A snapshot: it and its mappings are immutable; a new record creates a new one."""

    offset: int = 0
    """Offset of the next record of the config topic."""
    connectors: Mapping[str, Properties] = field(default_factory=dict)
    """Name -> configuration."""
    task_counts: Mapping[str, int] = field(default_factory=dict)
    """Name -> tasks of the last commit."""
    committed: Mapping[str, Mapping[int, Properties]] = field(default_factory=dict)
    """Name -> task -> configuration."""
    known_tasks: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Name -> every task that ever had a committed configuration, which Kafka Connect forgets with the connector only."""
    deferred: Mapping[str, Mapping[int, Properties]] = field(default_factory=dict)
    """Name -> task -> configuration, before its commit."""
    targets: Mapping[str, TargetState] = field(default_factory=dict)
    """Name -> target state."""
    inconsistent: frozenset[str] = frozenset()
    """Connectors whose commit found task configurations missing (compaction)."""
    applied: Mapping[str, Properties] = field(default_factory=dict)
    """Name -> the configuration from which its tasks were created."""
    session_key: SessionKey | None = None
    """The latest session key."""
    restart_requests: Mapping[str, RestartRequest] = field(default_factory=dict)
    """The latest of each connector."""
    loggers: Mapping[str, str] = field(default_factory=dict)
    """The latest level of each namespace."""
    fencing_counts: Mapping[str, int] = field(default_factory=dict)
    """Name -> tasks to fence."""
    pending_fencing: frozenset[str] = frozenset()
    """Connectors with task configurations written after their task count."""

    def target_state(self, connector: str) -> TargetState:
        """The target state of the connector; STARTED if none was written."""
        return self.targets.get(connector, TargetState.STARTED)

    def tasks(self, connector: str) -> list[int]:
        """The numbers of its tasks; none while its task configurations are inconsistent."""
        return [] if connector in self.inconsistent else list(range(self.task_counts.get(connector, 0)))

    def task_configs(self, connector: str) -> list[Properties]:
        """The configurations of its tasks, by number; none while they are inconsistent."""
        configs = self.committed.get(connector, {})
        return [configs[task] for task in self.tasks(connector)]


def fold(state: ClusterState, record: ConfigRecord, offset: int) -> ClusterState:
    """The state after one record.

    offset: of the record. Fields that the record does not change keep their objects.
    """
    return replace(_FOLDS[type(record)](state, record), offset=offset + 1)


def _connector(state: ClusterState, record: ConnectorConfigRecord) -> ClusterState:
    if record.properties is None:
        log.info("Successfully processed removal of connector '%s'", record.connector)
        return _without(state, record.connector)
    log.debug("Updating configuration for connector '%s'", record.connector)
    return replace(state, connectors=_with(state.connectors, record.connector, record.properties))


def _task(state: ClusterState, record: TaskConfig) -> ClusterState:
    waiting = _with(state.deferred.get(record.connector, {}), record.task, record.properties)
    return replace(state, deferred=_with(state.deferred, record.connector, waiting))


def _commit(state: ClusterState, record: TasksCommit) -> ClusterState:
    name = record.connector
    if name not in state.connectors:
        log.debug(
            "Ignoring task configs for connector %s; it appears that the connector was deleted previously and that log "
            "compaction has since removed any trace of its previous configurations from the config topic",
            name,
        )
        return _without(state, name)
    waiting = state.deferred.get(name, {})
    # The deferred configurations are dropped in any case: after a failed commit a completely new set is needed.
    state = replace(
        state,
        deferred=_drop(state.deferred, name),
        task_counts=_with(state.task_counts, name, record.tasks),
        pending_fencing=state.pending_fencing | {name},
    )
    numbers = range(record.tasks)
    if not all(number in waiting for number in numbers):
        log.debug(
            "We have an incomplete set of task configs for connector '%s' probably due to compaction. "
            "So we are not doing anything with the new configuration.",
            name,
        )
        return replace(state, inconsistent=state.inconsistent | {name})
    return replace(
        state,
        committed=_with(state.committed, name, {number: waiting[number] for number in numbers}),
        known_tasks=_with(state.known_tasks, name, state.known_tasks.get(name, frozenset()) | waiting.keys()),
        applied=_with(state.applied, name, state.connectors[name]),
        inconsistent=state.inconsistent - {name},
    )


def _target_state(state: ClusterState, record: TargetStateChange) -> ClusterState:
    if record.state is None:
        log.debug("Removed target state for connector %s due to null value in topic.", record.connector)
        return replace(state, targets=_drop(state.targets, record.connector))
    log.debug("Setting target state for connector '%s' to %s", record.connector, record.state)
    return replace(state, targets=_with(state.targets, record.connector, record.state))


def _session_key(state: ClusterState, record: SessionKey) -> ClusterState:
    return replace(state, session_key=record)


def _restart(state: ClusterState, record: RestartRequest) -> ClusterState:
    return replace(state, restart_requests=_with(state.restart_requests, record.connector, record))


def _logger(state: ClusterState, record: LoggerLevel) -> ClusterState:
    return replace(state, loggers=_with(state.loggers, record.namespace, record.level))


def _fencing(state: ClusterState, record: TaskCount) -> ClusterState:
    log.debug("Setting task count record for connector '%s' to %d", record.connector, record.tasks)
    return replace(
        state,
        fencing_counts=_with(state.fencing_counts, record.connector, record.tasks),
        pending_fencing=state.pending_fencing - {record.connector},
    )


def _without(state: ClusterState, connector: str) -> ClusterState:
    """Remove a connector; its fencing count stays, for a later connector of the same name."""
    return replace(
        state,
        connectors=_drop(state.connectors, connector),
        task_counts=_drop(state.task_counts, connector),
        committed=_drop(state.committed, connector),
        known_tasks=_drop(state.known_tasks, connector),
        deferred=_drop(state.deferred, connector),
        applied=_drop(state.applied, connector),
        inconsistent=state.inconsistent - {connector},
        restart_requests=_drop(state.restart_requests, connector),
    )


def _with(mapping: Mapping[Key, Value], key: Key, value: Value) -> dict[Key, Value]:
    return {**mapping, key: value}


def _drop(mapping: Mapping[Key, Value], key: Key) -> Mapping[Key, Value]:
    return {k: v for k, v in mapping.items() if k != key} if key in mapping else mapping


_FOLDS: Mapping[type, Callable[[ClusterState, Any], ClusterState]] = {
    ConnectorConfigRecord: _connector,
    TaskConfig: _task,
    TasksCommit: _commit,
    TargetStateChange: _target_state,
    SessionKey: _session_key,
    RestartRequest: _restart,
    TaskCount: _fencing,
    LoggerLevel: _logger,
}
