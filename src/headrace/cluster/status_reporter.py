"""What this worker writes about its connectors and tasks to the status topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import structlog

from headrace import errors
from headrace.cluster.event_log import EventLog
from headrace.cluster.state import ClusterState
from headrace.cluster.status_store import StatusStore
from headrace.config.redaction import redact
from headrace.runtime.metrics import Metrics
from headrace.runtime.stream_mode import StreamMode
from headrace.topics.active import no_longer_consumed

log = structlog.get_logger(__name__)

RUNNING, PAUSED, STOPPED, FAILED = "RUNNING", "PAUSED", "STOPPED", "FAILED"
UNASSIGNED, RESTARTING = "UNASSIGNED", "RESTARTING"
DELETED = "DELETED"
"""Of the history alone: in the status topic it is a tombstone."""
_ENDS = (FAILED, UNASSIGNED)


class StatusWriter(Protocol):
    """The part of the status store that is written to here."""

    def put_connector_status(self, name: str, status: dict) -> None: ...  # noqa: D102
    def put_connector_status_safe(self, name: str, status: dict) -> None: ...  # noqa: D102
    def put_task_status(self, name: str, task: int, status: dict) -> None: ...  # noqa: D102
    def put_task_status_safe(self, name: str, task: int, status: dict) -> None: ...  # noqa: D102
    def delete_connector_status(self, name: str) -> None: ...  # noqa: D102
    def delete_task_status(self, name: str, task: int) -> None: ...  # noqa: D102
    def topics(self, connector: str) -> set[str]: ...  # noqa: D102
    def delete_topics(self, connector: str, topics: Iterable[str] | None = None) -> None: ...  # noqa: D102


class StatusReporter:
    """Writes statuses with this worker's id and generation; every change of state is a log line and in the metrics.

    generation: of the worker's share; what ends something (FAILED, UNASSIGNED) is not written over the status of a later one.
    """

    def __init__(
        self,
        store: StatusWriter,
        worker_id: str,
        tracking: bool,
        metrics: Metrics | None = None,
        history: EventLog | None = None,
    ) -> None:
        """metrics, history: every state goes there, too."""
        self._store, self._worker, self._tracking = store, worker_id, tracking
        self._metrics, self._history = metrics or Metrics(), history or EventLog()
        self.generation = 0

    def _status(self, state: str, version: str | None, error: BaseException | None) -> dict:
        return {
            "state": state, "trace": _trace(error) if error else None, "worker_id": self._worker,
            "generation": self.generation, "version": version,
        }  # fmt: skip

    def connector(self, name: str, state: str, version: str | None, error: BaseException | None = None) -> None:
        """The connector instance is in this state now."""
        _say("connector." + state.lower(), error, connector=name)
        self._remember(name, None, state, error)
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
    ) -> None:
        """The task is in this state now; restart: what the status shows of its restarts (`headrace.cluster.restarts`)."""
        _say("task." + state.lower(), error, connector=name, task=task)
        self._remember(name, task, state, error, restart)
        self._metrics.task_state(name, task, state, _trace(error).partition("\n")[0] if error else None)
        put = self._store.put_task_status_safe if state in _ENDS else self._store.put_task_status
        put(name, task, self._status(state, version, error) | ({"restart": restart} if restart else {}))

    def _remember(
        self, name: str, task: int | None, state: str, error: BaseException | None, restart: dict[str, Any] | None = None
    ) -> None:
        cause = _causes(_trace(error)) if error else None
        attempts = {key: restart[key] for key in ("attempts", "budget")} if restart else None
        self._history.add(connector=name, task=task, state=state, worker_id=self._worker, cause=cause, restart=attempts)

    def task_stream(self, name: str, task: int, version: str | None, mode: StreamMode) -> None:
        """The task, which is running, does so in this mode."""
        stream = {"mode": mode.name, "reason": mode.reason}
        self._store.put_task_status(name, task, {**self._status(RUNNING, version, None), "stream": stream})

    def remove_task(self, name: str, task: int) -> None:
        """The task is no longer part of the connector."""
        self._metrics.remove_task(name, task)
        self._store.delete_task_status(name, task)

    def no_topics(self, name: str) -> None:
        """The connector was deleted: its active topics are forgotten (KIP-558 §7)."""
        if self._tracking:
            self._store.delete_topics(name)

    def only_consumed_topics(self, name: str, config: Mapping[str, str | None]) -> None:
        """A sink was reconfigured: active topics that its new configuration does not consume are forgotten (KIP-558).

        config: the new configuration, with placeholders resolved.
        """
        if self._tracking and (topics := no_longer_consumed(self._store.topics(name), config)):
            log.info("connector.topics.no-longer-consumed", connector=name, topics=sorted(topics))
            self._store.delete_topics(name, topics)

    def remove_connector(self, name: str) -> None:
        """The connector was deleted: its state is forgotten."""
        _say("connector.deleted", None, connector=name)
        self._remember(name, None, DELETED, None)
        self._metrics.remove_connector(name)
        self._store.delete_connector_status(name)


def remove_stale_statuses(state: ClusterState, status: StatusStore, reporter: StatusReporter) -> None:
    """As the leader: remove the statuses of connectors and tasks that are no more, which their worker did not live to remove."""
    for name in status.connectors() - state.connectors.keys():
        reporter.no_topics(name)
        for task in status.tasks(name):
            reporter.remove_task(name, task)
        reporter.remove_connector(name)
    for name in state.connectors:
        for task in status.tasks(name):
            if task >= state.task_counts.get(name, 0):
                reporter.remove_task(name, task)


def _say(event: str, error: BaseException | None, **where: object) -> None:
    if error is None:
        log.info(event, **where)
    else:
        log.error(event, cause=_trace(error).strip(), **where)


def _causes(trace: str) -> str:
    """The first line, and each of the causes."""
    first, *others = trace.split("\n")
    return "\n".join([first, *(line for line in others if line.startswith(errors.CAUSED_BY))])


def _trace(error: BaseException) -> str:
    """Without what config providers gave: status records and logs are read by many."""
    return redact(errors.trace(error))
