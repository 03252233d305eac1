"""How a resource is declared: handlers are plain blocking functions of the herder and the request's parameters.

    resource = Resource("status")

    @resource.get("/connectors/{connector}/status")
    def status(herder: Herder, connector: str) -> Response: ...

`mount` makes FastAPI routes of them: each call runs in a thread, has a time limit, and its exceptions become answers.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import anyio
from anyio.to_thread import run_sync
from fastapi import Depends, FastAPI, Path, Query
from pydantic import BeforeValidator
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from headrace.errors import ElsewhereError, RestError
from headrace.rest import answers, body, uri
from headrace.rest.forwarding import WorkerClient
from headrace.rest.herder import Herder

REQUEST_TIMEOUT_S = 90.0

Handler = Callable[..., Response]
Late = Callable[[Herder], Response]


def _request_timed_out(herder: Herder) -> Response:
    stage = herder.stage()
    return answers.error(500, f"Request timed out. {stage}" if stage else "Request timed out")


@dataclass(frozen=True)
class _Route:
    method: str
    path: str
    handler: Handler
    takes: str | None
    limit_s: float | None
    late: Late


class Resource:
    """The routes of one resource.

    tag: groups them in the OpenAPI document; early: they answer while the worker is still starting, the others 503 until then.
    """

    def __init__(self, tag: str, early: bool = False) -> None:
        self.tag, self.early = tag, early
        self._routes: list[_Route] = []

    def get(self, path: str, limit_s: float | None = None, late: Late = _request_timed_out) -> Callable[[Handler], Handler]:
        """Decorator: answer GET with this handler; limit_s: seconds after which `late(herder)` answers instead."""
        return self._route("GET", path, None, limit_s, late)

    def post(self, path: str, takes: str | None = None) -> Callable[[Handler], Handler]:
        """Decorator: answer POST; takes: in words, what the JSON body is, for the OpenAPI document."""
        return self._route("POST", path, takes)

    def put(self, path: str, takes: str | None = None) -> Callable[[Handler], Handler]:
        """Decorator: answer PUT."""
        return self._route("PUT", path, takes)

    def patch(self, path: str, takes: str | None = None) -> Callable[[Handler], Handler]:
        """Decorator: answer PATCH."""
        return self._route("PATCH", path, takes)

    def delete(self, path: str) -> Callable[[Handler], Handler]:
        """Decorator: answer DELETE."""
        return self._route("DELETE", path, None)

    def mount(self, app: FastAPI, herder: Herder, others: WorkerClient, limit_s: float = REQUEST_TIMEOUT_S) -> None:
        """Add the routes to an app, working on this herder; others: the workers that requests may be for; limit_s: seconds that
        a call may take.
        """
        for route in self._routes:
            app.add_api_route(
                route.path,
                _endpoint(route, herder, others, route.limit_s or limit_s, self.early),
                methods=[route.method],
                name=getattr(route.handler, "__name__", None),
                description=inspect.getdoc(route.handler),
                tags=[self.tag],
                response_class=answers.JsonResponse,
                openapi_extra=_request_body(route.takes) if route.takes else None,
            )

    def _route(
        self, method: str, path: str, takes: str | None, limit_s: float | None = None, late: Late = _request_timed_out
    ) -> Callable[[Handler], Handler]:
        def register(handler: Handler) -> Handler:
            self._routes.append(_Route(method, path, handler, takes, limit_s, late))
            return handler

        return register


def _endpoint(
    route: _Route, herder: Herder, others: WorkerClient, limit_s: float, early: bool
) -> Callable[..., Awaitable[Response]]:
    wanted = list(inspect.signature(route.handler, eval_str=True).parameters.values())[1:]
    names = {parameter.name for parameter in wanted}

    async def endpoint(request: Request, **parameters: Any) -> Response:
        if not early and not herder.ready():
            return answers.error(503, "Worker is still starting up.")
        for name in request.path_params.keys() & parameters.keys():
            if isinstance(parameters[name], str):
                parameters[name] = uri.restore(parameters[name])
        if "request" in names:
            parameters["request"] = request
        with anyio.move_on_after(limit_s):
            try:
                # A thread that comes too late goes on until the call in it returns; its result is dropped.
                return await run_sync(partial(route.handler, herder, **parameters), abandon_on_cancel=True)
            except ElsewhereError as problem:
                return await _forward(others, request, problem)
            except Exception as problem:
                return answers.failure(request, problem)
        return route.late(herder)

    # FastAPI reads parameters from the signature: the request, and the handler's without the herder.
    first = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
    rest = [p.replace(kind=p.KEYWORD_ONLY) for p in wanted if p.name != "request"]
    endpoint.__signature__ = inspect.Signature([first, *rest], return_annotation=Response)  # type: ignore[attr-defined]
    return endpoint


async def _forward(others: WorkerClient, request: Request, elsewhere: ElsewhereError) -> Response:
    try:
        return await run_sync(partial(others.forward, request, await request.body(), elsewhere), abandon_on_cancel=True)
    except Exception as problem:
        return answers.failure(request, problem)


def _request_body(takes: str) -> dict[str, Any]:
    return {"requestBody": {"description": takes, "content": {"application/json": {"schema": {}}}}}


async def _read_body(request: Request) -> body.Tree:
    raw = await request.body()
    if raw and "content-type" not in request.headers:
        raise RestError(415, "HTTP 415 Unsupported Media Type")
    return body.parse(raw)


def _task_number(text: object) -> int:
    """A Java int, else there is no such resource."""
    digits = str(text)
    if digits.lstrip("+-").isascii() and digits.removeprefix("-").removeprefix("+").isdigit():
        number = int(digits)
        if -(2**31) <= number < 2**31:
            return number
    raise HTTPException(404)


def _true_or_false(text: object) -> bool:
    return str(text).lower() == "true"


def _true_if_empty(text: object) -> bool:
    return text == "" or _true_or_false(text)


JsonBody = Annotated[body.Tree, Depends(_read_body)]
TaskNumber = Annotated[int, Path(), BeforeValidator(_task_number)]
# Boolean query parameters as JAX-RS reads them: `true` in any case is true, nothing is the default, all else is false.
FalseByDefault = Annotated[bool, Query(), BeforeValidator(_true_or_false)]
TrueByDefault = Annotated[bool, Query(), BeforeValidator(_true_if_empty)]
