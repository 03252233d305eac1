"""Reports the states of this worker's connectors and tasks to the status topic, the history, the metrics and the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import structlog

from headrace import errors
from headrace.cluster.event_log import EventLog
from headrace.cluster.state import ClusterState
from headrace.cluster.status import StatusState
from headrace.cluster.status_records import Status
from headrace.config.redaction import redact
from headrace.runtime.metrics import Metrics
from headrace.runtime.states import FAILED, PAUSED, RUNNING, STOPPED, UNASSIGNED
from headrace.runtime.stream_mode import StreamMode
from headrace.topics.active import no_longer_consumed

log = structlog.get_logger(__name__)

DELETED = "DELETED"
"""Used in the history only: in the status topic it is a tombstone."""
_ENDS = (FAILED, UNASSIGNED)
_ASKED = "Asked over REST; the audit says by whom."
_RESTS = "The connector's target state, of an earlier request or of its creation."
"""Causes in the history: the worker that executes what was asked does not know the user."""


class StatusWriter(Protocol):
    """The part of the status store that a reporter uses."""

    def put_connector_status(self, name: str, status: dict) -> None: ...  # noqa: D102
    def put_connector_status_safe(self, name: str, status: dict) -> None: ...  # noqa: D102
    def put_task_status(self, name: str, task: int, status: dict) -> None: ...  # noqa: D102
    def put_task_status_safe(self, name: str, task: int, status: dict) -> None: ...  # noqa: D102
    def delete_connector_status(self, name: str) -> None: ...  # noqa: D102
    def delete_task_status(self, name: str, task: int) -> None: ...  # noqa: D102
    def topics(self, connector: str) -> set[str]: ...  # noqa: D102
    def delete_topics(self, connector: str, topics: Iterable[str] | None = None) -> None: ...  # noqa: D102


class StatusReporter:
    """Writes statuses with this worker's id and generation; every change of state is also logged and counted.

    generation: of the worker's assignment; FAILED and UNASSIGNED do not overwrite a status of a later generation.
    """

    def __init__(
        self,
        store: StatusWriter,
        worker_id: str,
        tracking: bool,
        metrics: Metrics | None = None,
        history: EventLog | None = None,
    ) -> None:
        """metrics, history: also receive every state."""
        self._store, self.worker_id, self._tracking = store, worker_id, tracking
        self._metrics, self._history = metrics or Metrics(), history or EventLog()
        self.generation = 0

    def _status(self, state: str, version: str | None, error: BaseException | None) -> dict:
        return {
            "state": state, "trace": _trace(error) if error else None, "worker_id": self.worker_id,
            "generation": self.generation, "version": version,
        }  # fmt: skip

    def connector(
        self, name: str, state: str, version: str | None, error: BaseException | None = None, *, asked: bool = False
    ) -> None:
        """Report the state of the connector instance; asked: it is new, and by a request over REST."""
        _log_state("connector." + state.lower(), error, connector=name)
        self._add_to_history(name, None, state, error, asked=asked)
        self._metrics.connector_state(name, state)
        put = self._store.put_connector_status_safe if state in _ENDS else self._store.put_connector_status
        put(name, self._status(state, version, error))

    def task(
        self,
        name: str,
        task: int,
        state: str,
        version: str | None,
        error: BaseException | None = None,
        restart: dict[str, Any] | None = None,
        *,
        asked: bool = False,
    ) -> None:
        """Report the state of a task; restart: its automatic restarts (`headrace.cluster.restarts`); asked: as of `connector`."""
        _log_state("task." + state.lower(), error, connector=name, task=task)
        self._add_to_history(name, task, state, error, restart, asked=asked)
        cause, restarts = _trace(error).partition("\n")[0] if error else None, "next" in (restart or {})
        self._metrics.task_state(name, task, state, cause, restarts=restarts)
        put = self._store.put_task_status_safe if state in _ENDS else self._store.put_task_status
        put(name, task, self._status(state, version, error) | ({"restart": restart} if restart else {}))

    def _add_to_history(
        self,
        name: str,
        task: int | None,
        state: str,
        error: BaseException | None,
        restart: dict[str, Any] | None = None,
        *,
        asked: bool = False,
    ) -> None:
        cause = _causes(_trace(error)) if error else _ASKED if asked else _RESTS if state in (PAUSED, STOPPED) else None
        attempts = {key: restart[key] for key in ("attempts", "budget")} if restart else None
        self._history.add(connector=name, task=task, state=state, worker_id=self.worker_id, cause=cause, restart=attempts)

    def task_stream(self, name: str, task: int, version: str | None, mode: StreamMode) -> None:
        """Report the stream mode of a running task."""
        stream = {"mode": mode.name, "reason": mode.reason}
        self._store.put_task_status(name, task, {**self._status(RUNNING, version, None), "stream": stream})

    def remove_task(self, name: str, task: int) -> None:
        """Remove a task that no longer belongs to the connector."""
        self._metrics.remove_task(name, task)
        self._store.delete_task_status(name, task)

    def remove_topics(self, name: str) -> None:
        """Remove the active topics of a deleted connector (KIP-558 §7)."""
        if self._tracking:
            self._store.delete_topics(name)

    def remove_unconsumed_topics(self, name: str, config: Mapping[str, str | None]) -> None:
        """Remove active topics that a reconfigured sink no longer consumes (KIP-558).

        config: the new configuration, with placeholders resolved.
        """
        if self._tracking and (topics := no_longer_consumed(self._store.topics(name), config)):
            log.info("connector.topics.no-longer-consumed", connector=name, topics=sorted(topics))
            self._store.delete_topics(name, topics)

    def remove_connector(self, name: str) -> None:
        """Remove the state of a deleted connector."""
        _log_state("connector.deleted", None, connector=name)
        self._add_to_history(name, None, DELETED, None, asked=True)
        self._metrics.remove_connector(name)
        self._store.delete_connector_status(name)


def remove_stale_statuses(statuses: StatusState, state: ClusterState, reporter: StatusReporter, is_leader: bool) -> None:
    """Remove statuses of connectors and tasks that were removed while their worker was away, which could not remove them.

    statuses: read before `state`, so that a new connector is not taken for a removed one. is_leader: those of all workers, else
    only those of the reporter's own.
    """

    def may_remove(status: Status) -> bool:
        return is_leader or status["worker_id"] == reporter.worker_id

    for name, tasks in statuses.tasks.items():
        count = state.task_counts.get(name, 0) if name in state.connectors else 0
        for task, status in tasks.items():
            if task >= count and may_remove(status):
                reporter.remove_task(name, task)
    for name, status in statuses.connectors.items():
        if name not in state.connectors and may_remove(status):
            reporter.remove_topics(name)
            reporter.remove_connector(name)


def _log_state(event: str, error: BaseException | None, **fields: object) -> None:
    if error is None:
        log.info(event, **fields)
    else:
        log.error(event, cause=_trace(error).strip(), **fields)


def _causes(trace: str) -> str:
    """The first line of a trace, and its causes."""
    first, *lines = trace.split("\n")
    return "\n".join([first, *(line for line in lines if line.startswith(errors.CAUSED_BY))])


def _trace(error: BaseException) -> str:
    """The trace without values of config providers, as statuses and logs may be read by many users."""
    return redact(errors.trace(error))
