"""`/headrace/connectors/{connector}/logs`: the last log entries about a connector on this worker (of headrace)."""

from __future__ import annotations

from starlette.responses import Response

from headrace.errors import BadRequestError, NotFoundError
from headrace.rest import answers
from headrace.rest.herder import Herder
from headrace.rest.log_levels import LEVELS, parse_level
from headrace.rest.resource import Resource
from headrace.runtime.recent_logs import PER_CONNECTOR, RECENT
from headrace.runtime.worker_config import WorkerConfig

_DEFAULT_LINES = 200


def resource(worker: WorkerConfig) -> Resource:
    """The resource of a worker with these settings."""
    made = Resource("logs")

    @made.get("/headrace/connectors/{connector}/logs", gives={200: "ConnectorLogs"}, errors=[400, 404])
    def logs(herder: Herder, connector: str, lines: str = "", level: str = "", task: str = "") -> Response:
        """The last `lines` (200) entries of at least this `level`, of all tasks or of one `task`, oldest first."""
        wanted = _number("lines", lines, _DEFAULT_LINES)
        entries = RECENT.entries(connector, min(wanted or 0, PER_CONNECTOR), _level(level), _number("task", task, None))
        if not entries:
            herder.info(connector)  # raises NotFoundError; entries of a deleted connector are shown
        return answers.ok({"connector": connector, "worker_id": worker.worker_id(), "entries": entries})

    return made


def _number(name: str, text: str, default: int | None) -> int | None:
    if not text:
        return default
    if not (text.isascii() and text.isdigit()):
        raise BadRequestError(f"'{name}' is '{text}'; it has to be a whole number from 0 on.")
    return int(text)


def _level(text: str) -> int:
    try:
        return LEVELS[parse_level(text)] if text else 0
    except NotFoundError:
        raise BadRequestError(f"'level' is '{text}'; it has to be one of {', '.join(LEVELS)}.") from None
