"""The routes of the page: each handler runs in a thread, as those of the REST API do, and answers HTML."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from mimetypes import guess_type
from urllib.parse import parse_qs

import anyio
from anyio.to_thread import run_sync
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.errors import HeadraceError
from headrace.rest import logs
from headrace.rest.overview import Overview
from headrace.rest.page import actions, connector, dead_letters, edit, events, graph, offsets, overview, streams, workers
from headrace.rest.page.call import Call, PageContext, sentence_of
from headrace.rest.page.pending import PATIENCE_S, PendingOfListeners
from headrace.rest.page.render import STATIC
from headrace.rest.resource import read_bytes
from headrace.rest.same_origin import PAGE
from headrace.runtime.worker_config import WorkerConfig

_LIMIT_S = 30.0
_TOO_LONG = (
    f"This took longer than {_LIMIT_S:g} s: a cluster that has to be asked for it may be away. "
    "The screens of connectors and workers show what is known without it."
)
_POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_CLUSTER, _WORKERS = "The cluster", "A worker, or the cluster of the workers,"
_SOURCE = "The cluster that it reads from, or that of the workers,"
_WAITS_FOR = {
    "/connector/lag": _SOURCE, "/connector/topics": _CLUSTER, "/connector/offsets": _CLUSTER,
    "/dead-letters/topics": "A cluster", "/dead-letters/page": _CLUSTER, "/connector/log": _WORKERS,
    "/connector/log/entries": _WORKERS, "/connector/charts": _WORKERS,
    "/workers/rows": _WORKERS, "/streams/rows": _WORKERS, "/streams/application": _WORKERS,
}  # fmt: skip
"""The parts that a page loads after itself, as they ask somebody who may be away, and whom."""
_MODULES = (overview, connector, actions, edit, offsets, dead_letters, streams, workers, events, graph)


@dataclass(frozen=True)
class _Route:
    """A screen, or a part of one."""

    handler: Callable[[Call], Response]
    context: PageContext
    pending: PendingOfListeners
    waits_for: str | None
    """Who is asked for it, if this is a part for which somebody is."""

    async def __call__(self, request: Request) -> Response:
        form = parse_qs((await read_bytes(request)).decode("utf-8", "replace"), keep_blank_values=True)
        call = Call(self.context, request, form)
        if self.waits_for is None:
            try:
                return await self._answer(call, self.pending.here().screens)
            finally:
                if request.method != "GET":  # what was asked meanwhile may be from before the change
                    self.pending.forget()
        key, pending = (str(request.url), call.caller, request.headers.get("x-seen")), self.pending.here()
        response = await pending.answer(key, lambda: self._answer(call, pending.limiter))
        return response or await run_sync(lambda: call.page("part_late.html", who=self.waits_for, seconds=PATIENCE_S))

    async def _answer(self, call: Call, limiter: anyio.CapacityLimiter) -> Response:
        # A change ends with the limits of its requests to the REST API: what is done must not be shown as failed.
        with anyio.move_on_after(_LIMIT_S if call.request.method == "GET" else None):
            return await run_sync(partial(_handle, self.handler, call), abandon_on_cancel=True, limiter=limiter)
        return await run_sync(lambda: _problem(call, 503, _TOO_LONG))


def _handle(handler: Callable[[Call], Response], call: Call) -> Response:
    try:
        return handler(call) if call.herder.ready() else _starting(call)
    except HTTPException:
        raise
    except HeadraceError as problem:
        return _problem(call, problem.status, sentence_of(problem))
    except Exception as problem:
        logs.ERRORS.error("Uncaught exception in page %s", call.request.url.path, exc_info=problem)
        return _problem(call, 500, "This page could not be rendered; the worker's log has the cause.")


def _starting(call: Call) -> Response:
    if _is_part(call):
        return call.page("part_starting.html")
    if call.request.method != "GET":
        return _problem(call, 503, "The worker is starting.")
    return call.page("starting.html", 503, {"Retry-After": "2"})


def _problem(call: Call, status: int, sentence: str) -> Response:
    if call.request.method != "GET":
        return call.message(sentence, ok=False, status=status)
    if _is_part(call):
        return call.page("part_problem.html", sentence=sentence)
    return call.page("problem.html", status, sentence=sentence, trace="")


def _is_part(call: Call) -> bool:
    """Whether the page's script asks for a part of a page, into which no whole page must be put."""
    return call.request.method == "GET" and call.request.headers.get("hx-request") == "true"


def mount(app: FastAPI, herder: Herder, config: WorkerConfig, snapshots: Overview) -> None:
    """Add the page to the app of the main listeners."""
    app.state.has_page = True
    context, pending = PageContext(herder, config, snapshots), PendingOfListeners()
    for module in _MODULES:
        for (method, path), handler in module.ROUTES.items():
            _add(app, method, PAGE + path, _Route(handler, context, pending, _WAITS_FOR.get(path)))
    _add(app, "GET", PAGE + "/static/{name}", _static, "public, max-age=31536000, immutable")


def _add(
    app: FastAPI, method: str, path: str, endpoint: Callable[[Request], Awaitable[Response]], cache: str = "no-store"
) -> None:
    async def with_headers(request: Request) -> Response:
        response = await endpoint(request)
        for name, value in (_HEADERS | {"Cache-Control": cache}).items():
            response.headers[name] = value
        return response

    app.add_route(path, with_headers, methods=[method], include_in_schema=False)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    return Response(STATIC[name], media_type=guess_type(name)[0])
