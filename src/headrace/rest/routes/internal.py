"""What Kafka Connect's workers ask of each other; headrace's speak through Kafka, so these only refuse.

They are there so that a client sees the same answers as from Kafka Connect.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from headrace.errors import BadRequestError, RestError
from headrace.rest.herder import Herder
from headrace.rest.resource import Resource

_SIGNATURE = "x-connect-authorization"

resource = Resource("internal")


@resource.post("/connectors/{connector}/tasks")
def put_task_configs(_herder: Herder, request: Request) -> Response:
    """Task configurations from another worker: refused."""
    return _refuse(request)


@resource.put("/connectors/{connector}/fence")
def fence_zombies(_herder: Herder, request: Request) -> Response:
    """Fencing of a connector's earlier producers, from another worker: refused."""
    return _refuse(request)


def _refuse(request: Request) -> Response:
    if _SIGNATURE not in request.headers:
        raise BadRequestError("Internal request missing required signature")
    raise RestError(403, "Internal request contained invalid signature.")
