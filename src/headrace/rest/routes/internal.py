"""What workers ask of each other; every request is signed with the group's session key (KIP-507)."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.errors import BadRequestError, ConnectError
from headrace.rest import body, responses
from headrace.rest.resource import Resource, read_bytes

_SIGNATURE = "x-connect-authorization"


RawBody = Annotated[bytes, Depends(read_bytes)]

resource = Resource("internal")


@resource.post("/connectors/{connector}/tasks", gives={204: None}, errors=[400, 403, 409])
def put_task_configs(herder: Herder, request: Request, connector: str, raw: RawBody) -> Response:
    """Task configurations that the connector made on another worker."""
    if not raw.strip():
        raise ConnectError("The request has no body; expected an array of task configurations.")
    configs = [body.texts(config, "a task configuration") or {} for config in body.items(body.parse(raw), "the request") or []]
    _signed(request)
    herder.leader.verify(raw, request.headers)
    herder.leader.put_task_configs(connector, [{k: v for k, v in config.items() if v is not None} for config in configs])
    return responses.done(204)


@resource.put("/connectors/{connector}/fence", gives={204: None}, errors=[400, 403, 404, 409])
def fence_zombies(herder: Herder, request: Request, connector: str, raw: RawBody) -> Response:
    """Another worker is about to start tasks that deliver exactly once: their predecessors are fenced off (KIP-618)."""
    _signed(request)
    herder.leader.verify(raw, request.headers)
    herder.leader.fence_zombies(connector)
    return responses.done(204)


def _signed(request: Request) -> None:
    if _SIGNATURE not in request.headers:
        raise BadRequestError("Internal request missing required signature")
