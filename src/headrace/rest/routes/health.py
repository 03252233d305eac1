"""`/health` (KIP-1017): 200 healthy, 503 starting, 500 unhealthy."""

from __future__ import annotations

from starlette.responses import Response

from headrace.rest import answers
from headrace.rest.herder import Herder, Monitored
from headrace.rest.resource import Resource

HEALTH_TIMEOUT_S = 10.0

resource = Resource("health")


def _no_answer(herder: Herder) -> Response:
    """What to say about a worker that did not get round to a request in time."""
    if not isinstance(herder, Monitored) or herder.ready():
        status, code = "unhealthy", 500
        message = "Worker was unable to handle this request and may be unable to handle other requests."
    else:
        status, code, message = "starting", 503, "Worker is still starting up."
    stage = herder.stage() if isinstance(herder, Monitored) else None
    return answers.ok({"status": status, "message": f"{message} {stage}" if stage else message}, code)


@resource.get("/health", limit_s=HEALTH_TIMEOUT_S, late=_no_answer)
def health(herder: Herder) -> Response:
    """Whether the worker can handle requests; waits up to 10 s for it to take this one."""
    if isinstance(herder, Monitored):
        if not herder.ready():
            return _no_answer(herder)
        herder.ping()
    message = "Worker has completed startup and is ready to handle requests."
    return answers.ok({"status": "healthy", "message": message})
