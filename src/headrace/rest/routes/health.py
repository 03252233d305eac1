"""`/health` (KIP-1017): 200 healthy, 503 starting, 500 unhealthy."""

from __future__ import annotations

from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.errors import HeadraceError
from headrace.rest import responses
from headrace.rest.resource import Resource

HEALTH_TIMEOUT_S = 10.0

resource = Resource("health", early=True)


def _unhealthy(herder: Herder, why: str | None = None) -> Response:
    """What to say about a worker that did not get round to a request in time, or failed at it."""
    if herder.ready():
        status, code = "unhealthy", 500
        message = "Worker was unable to handle this request and may be unable to handle other requests."
    else:
        status, code, message = "starting", 503, "Worker is still starting up."
    details = why or herder.stage()
    return responses.ok({"status": status, "message": f"{message} {details}" if details else message}, code)


@resource.get("/health", gives={200: "Health", 500: "Health", 503: "Health"}, limit_s=HEALTH_TIMEOUT_S, late=_unhealthy)
def health(herder: Herder) -> Response:
    """Whether the worker can handle requests; waits up to 10 s for it to take this one."""
    if not herder.ready():
        return _unhealthy(herder)
    try:
        herder.ping()
    except HeadraceError as error:
        return _unhealthy(herder, error.message)
    message = "Worker has completed startup and is ready to handle requests."
    return responses.ok({"status": "healthy", "message": message})
