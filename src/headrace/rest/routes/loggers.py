"""`/admin/loggers`: log levels of this worker, or of all in the cluster (KIP-495, KIP-976)."""

from __future__ import annotations

from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.errors import BadRequestError, ConnectError
from headrace.rest import body, logs, responses
from headrace.rest.log_levels import LogLevels, parse_level
from headrace.rest.resource import JsonBody, Resource
from headrace.runtime.logs import LEVELS
from headrace.spark import plugin_log_levels

resource = Resource("admin", early=True)
_LEVELS = LogLevels()  # a process has one set of loggers


def apply(namespace: str, level: str) -> None:
    """Set a level that was read from the config topic; one that no worker could have written is left out."""
    _set(namespace, parse_level(level))


def _set(namespace: str, level: str) -> list[str]:
    """Set a level of this worker's loggers, and of its plugins'; returns the names of the former that had another one."""
    changed = _LEVELS.set(namespace, level)
    plugin_log_levels.set_level(namespace, level, LEVELS[level])
    return changed


@resource.get("/admin/loggers", gives={200: "Loggers"})
def list_loggers(_herder: Herder) -> Response:
    """All loggers with their levels, and when these were changed."""
    return responses.ok(_LEVELS.all())


@resource.get("/admin/loggers/{logger}", gives={200: "Logger"}, errors=[404])
def show_logger(_herder: Herder, logger: str) -> Response:
    """The level of one logger."""
    return responses.ok(_LEVELS.get(logger))


@resource.put("/admin/loggers/{logger}", takes="NewLevel", gives={200: "LoggerNames", 204: None}, errors=[400, 404])
def set_level(herder: Herder, logger: str, entity: JsonBody, scope: str = "worker") -> Response:
    """Set a logger's level and those below it; `scope=cluster` does it on every worker."""
    levels = body.texts(entity, "the request")
    if levels is None:
        raise ConnectError('The request has no body; expected {"level": …}.')
    if levels.get("level") is None:
        raise BadRequestError("Desired 'level' parameter was not specified in request.")
    level = parse_level(levels["level"] or "")
    if scope.lower() == "cluster":
        herder.set_cluster_log_level(logger, levels["level"] or "")  # as it was sent: so it stands in Kafka's config topic
        return responses.done(204)
    if scope.lower() != "worker":
        logs.LOGGERS.warning("Received invalid scope '%s' in request to adjust logging level; will default to worker", scope)
    return responses.ok(_set(logger, level))
