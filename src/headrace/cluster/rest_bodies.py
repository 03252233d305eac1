"""The response bodies of the REST API for connectors and tasks, from folded state: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.connect_config.validation import connector_class
from headrace.errors import HeadraceError
from headrace.plugins import NO_VERSION
from headrace.runtime.states import FAILED, RESTARTING

Status = Mapping[str, Any]


@dataclass(frozen=True)
class ConnectorInfo:
    """A connector as `POST /connectors` and `GET /connectors/{name}` show it."""

    name: str
    config: Mapping[str, Any]
    tasks: Sequence[tuple[str, int]]
    """Connector and number of each."""
    type: str
    """`source`, `sink` or `unknown`."""


UNKNOWN = "unknown"
"""The type of a connector whose class cannot be found."""


def connector_type(config: Mapping[str, Any]) -> str:
    """`source` or `sink`; `unknown` if the class cannot be found. A failed import is not retried."""
    try:
        return str(connector_class(config, again=False).plugin_kind)
    except HeadraceError:
        return UNKNOWN


def status_body(name: str, connector: Status, tasks: Mapping[int, Status], kind: str, more: Sequence[str] = ()) -> dict[str, Any]:
    """The body of `GET /connectors/{name}/status`. more: fields of tasks beyond those of Kafka Connect."""
    numbered = [
        {"id": number, **_state(status), **{field: status[field] for field in more if field in status}}
        for number, status in sorted(tasks.items())
    ]
    return {"name": name, "connector": _state(connector), "tasks": numbered, "type": kind}


def task_status_body(task: int, status: Status) -> dict[str, Any]:
    """The body of `GET /connectors/{name}/tasks/{task}/status`."""
    return {"id": task, **_state(status)}


def _state(status: Status) -> dict[str, Any]:
    version = status.get("version")
    body = {"state": status["state"], "worker_id": status["worker_id"]}
    body |= {"version": version} if version != NO_VERSION else {}  # as Kafka Connect does
    return body | {key: status[key] for key in ("trace", "restart") if status.get(key)}


@dataclass(frozen=True)
class RequestedRestart:
    """The parts affected by a restart request with `includeTasks` or `onlyFailed` (KIP-745)."""

    connector: bool
    """Whether the instance of the connector is."""
    tasks: frozenset[int]


def restart_plan(connector: Status, tasks: Mapping[int, Status], include_tasks: bool, only_failed: bool) -> RequestedRestart:
    """The parts to restart: all, or the FAILED ones."""

    def affected(status: Status) -> bool:
        return not only_failed or status["state"] == FAILED

    return RequestedRestart(
        connector=affected(connector),
        tasks=frozenset(n for n, status in tasks.items() if include_tasks and affected(status)),
    )


def restarting_body(body: dict[str, Any], plan: RequestedRestart) -> dict[str, Any]:
    """The status body with the affected parts shown as RESTARTING."""
    connector = body["connector"] | ({"state": RESTARTING} if plan.connector else {})
    tasks = [t | ({"state": RESTARTING} if t["id"] in plan.tasks else {}) for t in body["tasks"]]
    return body | {"connector": connector, "tasks": tasks}
