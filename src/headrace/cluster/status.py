"""States of connectors and tasks, and active topics, folded from the status topic. Pure: `(state, record) -> state`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import structlog

from headrace.cluster.status_records import ActiveTopic, ConnectorStatusRecord, Status, StatusRecord, TaskStatusRecord
from headrace.runtime.states import RUNNING, UNASSIGNED
from headrace.topics import active

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class StatusState:
    """An immutable snapshot."""

    connectors: Mapping[str, Status] = field(default_factory=dict)
    tasks: Mapping[str, Mapping[int, Status]] = field(default_factory=dict)
    """By connector and number."""
    topics: active.ActiveTopics = field(default_factory=dict)
    """By connector and topic."""

    def latest_generation(self) -> int:
        """The highest generation of all statuses, -1 if there is none."""
        tasks = (status for of_one in self.tasks.values() for status in of_one.values())
        return max((status["generation"] for status in (*self.connectors.values(), *tasks)), default=-1)


def fold(state: StatusState, record: StatusRecord) -> StatusState:
    """The state after one record."""
    match record:
        case ConnectorStatusRecord():
            return _connector(state, record)
        case TaskStatusRecord():
            return _task(state, record)
        case ActiveTopic():
            return _topic(state, record)


def may_overwrite(new: Status, old: Status | None) -> bool:
    """Whether a "safe" write is allowed: not over the status of another worker of a later generation."""
    return old is None or old["worker_id"] == new["worker_id"] or old["generation"] <= new["generation"]


def _connector(state: StatusState, record: ConnectorStatusRecord) -> StatusState:
    other_connectors = {name: status for name, status in state.connectors.items() if name != record.connector}
    if record.status is None:
        log.debug("Removing status for connector %s", record.connector)
        tasks = {name: tasks_of for name, tasks_of in state.tasks.items() if name != record.connector}
        return replace(state, connectors=other_connectors, tasks=tasks)
    return replace(state, connectors={**other_connectors, record.connector: record.status})


def _task(state: StatusState, record: TaskStatusRecord) -> StatusState:
    current = state.tasks.get(record.connector, {})
    if record.status is None:
        log.debug("Removing task status for %s-%d", record.connector, record.task)
        remaining = {task: status for task, status in current.items() if task != record.task}
        other_connectors = {name: tasks_of for name, tasks_of in state.tasks.items() if name != record.connector}
        return replace(state, tasks={**other_connectors, record.connector: remaining} if remaining else other_connectors)
    if _is_stale(record.status, current.get(record.task)):
        log.debug("Ignoring stale status %s in favour of more upto date status %s", record.status, current[record.task])
        return state
    return replace(state, tasks={**state.tasks, record.connector: {**current, record.task: record.status}})


def _is_stale(new: Status, current: Status | None) -> bool:
    """Whether this is the UNASSIGNED of a task's previous worker, written after RUNNING of its new worker."""
    return (
        current is not None
        and new["state"] == UNASSIGNED
        and current["state"] == RUNNING
        and new["generation"] <= current["generation"]
    )


def _topic(state: StatusState, record: ActiveTopic) -> StatusState:
    if record.status is None:
        return replace(state, topics=active.remove(state.topics, record.connector, record.topic))
    # The names in the key are authoritative; the value has the details.
    status = replace(record.status, connector=record.connector, topic=record.topic)
    return replace(state, topics=active.add(state.topics, status))
