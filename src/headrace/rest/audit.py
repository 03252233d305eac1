"""ASGI middleware that remembers every change: who, what, when, from where, with which result.

It stands before the authentication, so that refusals are remembered as well. What the page changes, passes it as
requests to the REST API. Not remembered: what changes nothing (validation, preview), and what workers sign for each other.
"""

from __future__ import annotations

import json
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headrace.rest.caller import caller_of
from headrace.rest.herder import Herder
from headrace.rest.roles import open_to_all
from headrace.rest.same_origin import of_page
from headrace.rest.uri import restore

_SAFE = ("GET", "HEAD", "OPTIONS")
_LONGEST = 500


class Audit:
    """Adds an event to the herder's audit for each request that changes something."""

    def __init__(self, app: ASGIApp, herder: Herder) -> None:
        self.app, self._herder = app, herder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not _changes(scope["method"], scope["path"]):
            return await self.app(scope, receive, send)
        status, failure = 500, bytearray()

        async def remember(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            elif status >= 400 and len(failure) < 8 * _LONGEST:
                failure.extend(message.get("body", b""))
            await send(message)

        try:
            return await self.app(scope, receive, remember)
        finally:
            self._herder.audit.add(**_event(scope, status, bytes(failure)), worker_id=self._herder.worker_id)


def _changes(method: str, path: str) -> bool:
    if method in _SAFE or of_page(path) or open_to_all(method, path):
        return False
    return not (path == "/headrace/preview" or (path.startswith("/connector-plugins/") and path.endswith("/validate")))


def _event(scope: Scope, status: int, failure: bytes) -> dict[str, Any]:
    segments = [restore(segment) for segment in scope["path"].split("/")[1:]]
    forwarded = b"forward=" in scope.get("query_string", b"")
    return {
        "user": caller_of(scope).name,
        "address": (scope.get("client") or ("?",))[0],
        "via": "page" if scope.get("headrace.page") else "worker" if forwarded else "rest",
        "method": scope["method"],
        "path": "/" + "/".join(segments),
        "query": scope.get("query_string", b"").decode("latin-1")[:_LONGEST] or None,
        "connector": segments[1] if len(segments) > 1 and segments[0] == "connectors" else None,
        "status": status,
        "message": _sentence(failure),
    }


def _sentence(failure: bytes) -> str | None:
    """Of an answer that is an error; None of any other."""
    try:
        return str(json.loads(failure)["message"])[:_LONGEST]
    except (ValueError, KeyError, TypeError):
        return failure.decode("utf-8", "replace")[:_LONGEST] or None
