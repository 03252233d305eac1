"""How a resource is declared: handlers are plain blocking functions of the herder and the request's parameters.

    resource = Resource("status")

    @resource.get("/connectors/{connector}/status", gives={200: "ConnectorStatus"}, errors=[404])
    def status(herder: Herder, connector: str) -> Response: ...

`mount` makes FastAPI routes of them: each call runs in a thread unless the worker knows the answer, has a time limit, and its
exceptions become answers.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NotRequired, TypedDict, Unpack

import anyio
from anyio.to_thread import run_sync
from fastapi import Depends, FastAPI, Path, Query
from pydantic import BeforeValidator
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.config.whole_number import shortened, whole_number
from headrace.errors import BadRequestError, ConnectError, ElsewhereError, RestError
from headrace.rest import body, responses, uri
from headrace.rest.forwarding import WorkerClient
from headrace.rest.media_types import content_type

REQUEST_TIMEOUT_S = 90.0
MOST_BYTES = 32 << 20
"""The largest body that is read: Kafka Connect has no limit of its own, but the config topic takes far less by default."""
_LARGE = 64 << 10  # a body above this is parsed beside the loop that serves all requests

Handler = Callable[..., Response]
Late = Callable[[Herder], Response]


def _request_timed_out(herder: Herder) -> Response:
    stage = herder.stage()
    return responses.error(500, f"Request timed out. {stage}" if stage else "Request timed out")


@dataclass(frozen=True)
class Route:
    """A handler and what it answers."""

    method: str
    path: str
    """With `{…}` for what varies."""
    handler: Handler
    gives: Mapping[int, str | None]
    """Status → schema of the answer, None for an empty one."""
    errors: Collection[int] = ()
    """The statuses of its own `Error` answers."""
    takes: str | None = None
    """The schema (`headrace.rest.schemas`) of its body, None for no body."""
    limit_s: float | None = None
    """Seconds after which `late(herder)` answers instead."""
    late: Late = _request_timed_out
    """Takes the herder, returns the answer after `limit_s`."""
    known: bool = False
    """The worker knows the answer: the handler waits for nothing, and needs no thread of its own."""

    @property
    def name(self) -> str:
        """The name of the handler."""
        return getattr(self.handler, "__name__", "")


class _Declared(TypedDict):
    gives: Mapping[int, str | None]
    errors: NotRequired[Collection[int]]
    takes: NotRequired[str]
    limit_s: NotRequired[float]
    late: NotRequired[Late]
    known: NotRequired[bool]


class Resource:
    """The routes of one resource.

    tag: groups them in the OpenAPI document; early: they answer while the worker is still starting, the others 503 until then.
    """

    def __init__(self, tag: str, early: bool = False) -> None:
        self.tag, self.early = tag, early
        self.routes: list[Route] = []

    def get(self, path: str, **route: Unpack[_Declared]) -> Callable[[Handler], Handler]:
        """Decorator: answer GET with this handler; route: as of Route."""
        return self._route("GET", path, route)

    def post(self, path: str, **route: Unpack[_Declared]) -> Callable[[Handler], Handler]:
        """Decorator: answer POST."""
        return self._route("POST", path, route)

    def put(self, path: str, **route: Unpack[_Declared]) -> Callable[[Handler], Handler]:
        """Decorator: answer PUT."""
        return self._route("PUT", path, route)

    def patch(self, path: str, **route: Unpack[_Declared]) -> Callable[[Handler], Handler]:
        """Decorator: answer PATCH."""
        return self._route("PATCH", path, route)

    def delete(self, path: str, **route: Unpack[_Declared]) -> Callable[[Handler], Handler]:
        """Decorator: answer DELETE."""
        return self._route("DELETE", path, route)

    def mount(self, app: FastAPI, herder: Herder, worker_client: WorkerClient, limit_s: float = REQUEST_TIMEOUT_S) -> None:
        """Add the routes to an app, working on this herder; others: the workers that requests may be for; limit_s: seconds that
        a call may take.
        """
        for route in self.routes:
            app.add_api_route(
                route.path,
                _endpoint(route, herder, worker_client, route.limit_s or limit_s, self.early),
                methods=[route.method],
                name=route.name,
                description=inspect.getdoc(route.handler),
                tags=[self.tag],
                response_class=responses.JsonResponse,
            )

    def _route(self, method: str, path: str, declared: _Declared) -> Callable[[Handler], Handler]:
        def register(handler: Handler) -> Handler:
            self.routes.append(Route(method, path, handler, **declared))
            return handler

        return register


def _endpoint(
    route: Route, herder: Herder, worker_client: WorkerClient, limit_s: float, early: bool
) -> Callable[..., Awaitable[Response]]:
    declared = list(inspect.signature(route.handler, eval_str=True).parameters.values())[1:]
    names = {parameter.name for parameter in declared}

    async def endpoint(request: Request, **parameters: Any) -> Response:
        if not early and not herder.ready():
            return responses.error(503, "Worker is still starting up.")
        for name in request.path_params.keys() & parameters.keys():
            if isinstance(parameters[name], str):
                parameters[name] = uri.restore(parameters[name])
        if "request" in names:
            parameters["request"] = request
        with nullcontext() if route.known else anyio.move_on_after(limit_s):
            try:
                if route.known:  # a thread would cost more than the answer
                    return route.handler(herder, **parameters)
                # A thread that comes too late continues until the call in it returns; its result is dropped.
                return await run_sync(partial(route.handler, herder, **parameters), abandon_on_cancel=True)
            except ElsewhereError as problem:
                return await _forward(worker_client, request, problem)
            except Exception as problem:
                return responses.failure(request, problem)
        return route.late(herder)

    # FastAPI reads parameters from the signature: the request, and the handler's without the herder.
    first = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
    parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in declared if p.name != "request"]
    endpoint.__signature__ = inspect.Signature([first, *parameters], return_annotation=Response)  # type: ignore[attr-defined]
    return endpoint


async def _forward(worker_client: WorkerClient, request: Request, elsewhere: ElsewhereError) -> Response:
    try:
        return await run_sync(
            partial(worker_client.forward, request, await read_bytes(request), elsewhere), abandon_on_cancel=True
        )
    except Exception as problem:
        return responses.failure(request, problem)


async def _read_body(request: Request) -> body.Tree:
    raw, sent = await read_bytes(request), request.headers.get("content-type")
    if content_type(sent).wildcards if sent is not None else raw:  # nothing reads a body of no type, or of a range of them
        raise RestError(415, "HTTP 415 Unsupported Media Type")
    return await run_sync(body.parse, raw) if len(raw) > _LARGE else body.parse(raw)


async def read_bytes(request: Request) -> bytes:
    """The body, of which no more than MOST_BYTES are ever held; may be asked for again. Raises RestError 413."""
    if not hasattr(request, "_body"):
        parts, length = [], 0
        async for part in request.stream():
            length += len(part)
            if length > MOST_BYTES:
                raise RestError(413, f"The body of the request is larger than {MOST_BYTES >> 20} MiB, the most that is taken.")
            parts.append(part)
        request._body = b"".join(parts)  # where Starlette keeps it
    return request._body


async def _read_own_body(request: Request) -> body.Tree:
    try:
        return await _read_body(request)
    except ConnectError as error:
        raise BadRequestError(error.message) from None


def whole_parameter(name: str, text: str, least: int = 0, most: int | None = None) -> int:
    """The number of a query parameter. Raises BadRequestError for what is none, or is below `least` or above `most`."""
    number = whole_number(text, least) if most is None else whole_number(text, least, most)
    if number is None:
        bounds = f"from {least} on" if most is None else f"from {least} to {most}"
        raise BadRequestError(f"'{name}' is '{shortened(text)}'; it has to be a whole number {bounds}.")
    return number


def _task_number(text: object) -> int:
    """A Java int, else there is no such resource."""
    digits = str(text)
    is_negative = digits.startswith("-")
    number = whole_number(digits[is_negative or digits.startswith("+") :], 0, 2**31 if is_negative else 2**31 - 1)
    if number is None:
        raise HTTPException(404)
    return -number if is_negative else number


def _true_or_false(text: object) -> bool:
    return str(text).lower() == "true"


def _true_if_empty(text: object) -> bool:
    return text == "" or _true_or_false(text)


JsonBody = Annotated[body.Tree, Depends(_read_body)]
OwnJsonBody = Annotated[body.Tree, Depends(_read_own_body)]
"""The same for headrace's own resources: what is not JSON is the client's fault there (400)."""
TaskNumber = Annotated[int, Path(), BeforeValidator(_task_number)]
# Boolean query parameters as JAX-RS reads them: `true` in any case is true, nothing is the default, all else is false.
FalseByDefault = Annotated[bool, Query(), BeforeValidator(_true_or_false)]
TrueByDefault = Annotated[bool, Query(), BeforeValidator(_true_if_empty)]
