"""`/headrace/connectors/{connector}/logs`: the last log entries about a connector, of all workers (of headrace)."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.errors import BadRequestError, NotFoundError
from headrace.rest import responses
from headrace.rest.forwarding import WorkerClient
from headrace.rest.log_levels import parse_level
from headrace.rest.resource import Resource, whole_parameter
from headrace.runtime.logs import LEVELS
from headrace.runtime.recent_logs import PER_CONNECTOR, RECENT

_DEFAULT_LINES = 200


def resource(worker_client: WorkerClient) -> Resource:
    """The resource of a worker; others: asks the other workers."""
    resource = Resource("logs")

    @resource.get("/headrace/connectors/{connector}/logs", gives={200: "ConnectorLogs"}, errors=[400, 404])
    def logs(
        herder: Herder, request: Request, connector: str, lines: str = "", level: str = "", task: str = "", forward: str = ""
    ) -> Response:
        """The last `lines` (200) entries of at least this `level`, of all tasks or of one `task`, oldest first.

        `forward=false`: only those of this worker; otherwise those of all workers that have any connector or task.
        """
        count = min(whole_parameter("lines", lines or str(_DEFAULT_LINES)), PER_CONNECTOR)
        log_entries = RECENT.entries(connector, count, _level(level), whole_parameter("task", task) if task else None)
        entries, silent = [entry | {"worker_id": herder.worker_id} for entry in log_entries], []
        if forward.lower() != "false":
            query = {"lines": str(count), "level": level, "task": task, "forward": "false"}
            path = ["headrace", "connectors", connector, "logs"]
            more, silent = worker_client.entries_from_all(sorted(_workers(herder) - {herder.worker_id}), path, query, request)
            entries = sorted([*entries, *more], key=lambda entry: entry["time"])[-count:] if count else []
            if not entries:
                herder.info(connector)  # raises NotFoundError; entries of a deleted connector are shown
        body = {"connector": connector, "worker_id": herder.worker_id, "entries": entries, "not_reached": silent}
        return responses.ok(body)

    return resource


def _workers(herder: Herder) -> set[str]:
    """The ids of the workers that have, or were the last to have, any connector or task."""

    def of(name: str) -> Iterable[str]:
        try:
            status = herder.status(name)
        except NotFoundError:  # deleted meanwhile, or without a status so far
            return ()
        return (part["worker_id"] for part in (status["connector"], *status["tasks"]))

    return {worker_id for name in herder.connectors() for worker_id in of(name)}


def _level(text: str) -> int:
    try:
        return LEVELS[parse_level(text)] if text else 0
    except NotFoundError:
        raise BadRequestError(f"'level' is '{text}'; it has to be one of {', '.join(LEVELS)}.") from None
