"""The part of JAX-RS that comes before a handler, as ASGI middleware over FastAPI's routes.

In this order: the path is decoded (400), the body's type is read (400), no resource has the path (404), OPTIONS and HEAD are
answered for every resource, the method is not allowed (405, with `Allow`), the body's type is not JSON (415), the client does not
take JSON (406). The parameters of the JSON that it takes come back with the answer's type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headrace.rest import responses
from headrace.rest.media_types import JSON, MediaType, MediaTypeError, acceptable, content_type
from headrace.rest.same_origin import led_to_page, of_page
from headrace.rest.uri import BadUriError, decode_path, first_values

TEXT = "text/plain"
_ANY_REQUEST_TYPE = re.compile(r"[A-Z]+ /(health|openapi\.json)?|POST /connectors/[^/]+/tasks|PUT /connectors/[^/]+/fence")
"""Method and path of what takes every type of body; the last two are for other workers, which Connect reads as bytes."""
_TEXT_RESPONSES = ("/metrics",)


class JaxRs:
    """Answers what no handler has to see, and hands on the rest with the decoded path."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._table: MethodTable | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        try:
            path = decode_path(scope.get("raw_path") or scope["path"].encode())
            scope = {**scope, "path": path, "query_string": first_values(scope.get("query_string", b""))}
        except BadUriError as problem:
            return await _bad_uri(scope["method"], problem)(scope, receive, send)
        table = self._table = self._table or MethodTable(scope["app"].routes)  # all of them are there with the first request
        try:
            refusal = _refuse(scope, table)
        except MediaTypeError:
            refusal = responses.done(400)
        if refusal is not None:
            return await refusal(scope, receive, send)
        send = _typed(scope, send)
        if scope["method"] == "HEAD":
            return await self.app({**scope, "method": "GET"}, receive, _without_body(send))
        return await self.app(scope, receive, send)


class MethodTable:
    """The methods of every resource, by how many segments its path has and the first of them: few patterns are left to try."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._routes: dict[tuple[int, str], list[Route]] = {}
        for route in routes:
            if isinstance(route, Route):
                self._routes.setdefault(_place(route.path), []).append(route)

    def allowed(self, path: str) -> set[str]:
        """The methods of the resource at `path`; empty without one."""
        routes = self._routes.get(_place(path), ())
        methods = {m for route in routes if route.path_regex.match(path) for m in route.methods or ()}
        return methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set()) if methods else set()


def _place(path: str) -> tuple[int, str]:
    return path.count("/"), path[1:].partition("/")[0]


def _refuse(scope: Scope, table: MethodTable) -> Response | None:
    """The answer to a request that no handler has to see. Raises MediaTypeError."""
    methods, headers = table.allowed(scope["path"]), Headers(scope=scope)
    sent = [content_type(header) for header in headers.getlist("content-type")]
    if len(sent) > 1:
        raise MediaTypeError
    if not methods:
        return responses.http_error(404)
    allow = {"Allow": ",".join(sorted(methods))}
    if scope["method"] == "OPTIONS":
        return _options(allow, _accepted(headers))
    if scope["method"] not in methods:
        return responses.http_error(405, allow)
    if of_page(scope["path"]):  # forms in, HTML out
        return None
    if sent and not sent[0].includes(JSON) and not _ANY_REQUEST_TYPE.fullmatch(f"{scope['method']} {scope['path']}"):
        return responses.http_error(415)
    if scope["path"] in _TEXT_RESPONSES or led_to_page(scope) or any(each.includes(JSON) for each in _accepted(headers)):
        return None
    return responses.http_error(406)


def _accepted(headers: Headers) -> tuple[MediaType, ...]:
    sent = headers.getlist("accept")
    return acceptable(", ".join(sent) if sent else None)


def _options(allow: dict[str, str], accepted: tuple[MediaType, ...]) -> Response:
    best = accepted[0]
    as_good = [each for each in accepted if (each.quality, each.wildcards) == (best.quality, best.wildcards)]
    if not any(each.includes(TEXT) for each in as_good):
        return Response(headers={**allow, "Content-Type": str(best)})
    text = allow["Allow"].replace(",", ", ")
    return Response(text, headers={**allow, "Content-Type": TEXT})


def _typed(scope: Scope, send: Send) -> Send:
    """Give JSON answers the parameters of the type that the client prefers."""
    if of_page(scope["path"]) or scope["path"] in _TEXT_RESPONSES or led_to_page(scope):
        return send
    best = next(each for each in _accepted(Headers(scope=scope)) if each.includes(JSON))
    if best.wildcards or best.of_answer() == JSON:
        return send

    async def typed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message["headers"])
            if headers.get("content-type") == JSON:
                headers["content-type"] = best.of_answer()
        await send(message)

    return typed


def _bad_uri(method: str, problem: BadUriError) -> Response:
    # Jetty gives a page for these methods and nothing for others; here the page is Connect's JSON.
    has_page = method in ("GET", "HEAD", "POST")
    response = responses.error(400, str(problem)) if has_page else responses.done(400)
    response.headers["Cache-Control"] = "must-revalidate,no-cache,no-store"
    return response


def _without_body(send: Send) -> Send:
    async def head(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return head
