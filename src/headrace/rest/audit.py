"""ASGI middleware that remembers every change: who, what, when, from where, with which result.

It stands before the authentication and before what refuses other sites, so that refusals are remembered as well. What the page
changes, passes it as requests to the REST API; of the page's own requests those that are refused are remembered. Not remembered:
what changes nothing (validation, preview), and what workers sign for each other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headrace.errors import HeadraceError
from headrace.rest.caller import caller_of
from headrace.rest.herder import RestHerder
from headrace.rest.roles import open_to_all
from headrace.rest.same_origin import of_page
from headrace.rest.uri import restore

_SAFE = ("GET", "HEAD", "OPTIONS")
_TRIED = (
    ("POST", "/headrace/.*preview"), ("PUT", "/connector-plugins/.*/validate"), ("PUT", "/headrace/streams/.*"),
)  # fmt: skip
"""Requests that change nothing; what streams applications report comes every 10 s."""
_LONGEST, _LARGEST = 500, 1 << 20


class Audit:
    """Adds an event to the herder's audit for each request that changes something."""

    def __init__(self, app: ASGIApp, herder: RestHerder) -> None:
        self.app, self._herder = app, herder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not _changes(scope["method"], scope["path"]):
            return await self.app(scope, receive, send)
        status, failure, taken = 500, bytearray(), bytearray()
        name = _connector(scope["path"])
        before = self._config(name)

        async def listen() -> Message:
            message = await receive()
            if len(taken) <= _LARGEST:
                taken.extend(message.get("body", b""))
            return message

        async def remember(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            elif status >= 400 and len(failure) < 8 * _LONGEST:
                failure.extend(message.get("body", b""))
            await send(message)

        try:
            return await self.app(scope, listen, remember)
        finally:
            if not of_page(scope["path"]) or status == HTTPStatus.FORBIDDEN:
                self._add(_event(scope, status, bytes(failure)), name, before, bytes(taken), whole=scope["method"] == "PUT")

    def _add(self, event: dict[str, Any], name: str | None, before: Mapping[str, Any], body: bytes, *, whole: bool) -> None:
        """name: of the connector, if the path has it; before: its configuration; whole: whether the body replaces it."""
        content = _object(body)
        one, detail = asked_for(content, before, whole=whole)
        several = list(map(str, names)) if isinstance(names := content.get("connectors"), list) else None
        about = {"connector": name or one, "detail": detail, "connectors": several or None}
        self._herder.audit.add(**event, **about, worker_id=self._herder.worker_id)

    def _config(self, name: str | None) -> Mapping[str, Any]:
        try:
            return self._herder.info(name).config if name else {}
        except HeadraceError:
            return {}


def _changes(method: str, path: str) -> bool:
    if method in _SAFE or open_to_all(method, path):
        return False
    return not any(method == tried and re.fullmatch(pattern, path, re.DOTALL) for tried, pattern in _TRIED)


def _connector(path: str) -> str | None:
    """The connector that a path is of."""
    segments = path.split("/")[1:]
    return restore(segments[1]) if len(segments) > 1 and segments[0] == "connectors" else None


def _object(body: bytes) -> dict[str, Any]:
    """A body that is a JSON object; an empty one for any other."""
    try:
        content = json.loads(body) if body else None
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def asked_for(content: Mapping[str, Any], before: Mapping[str, Any], *, whole: bool) -> tuple[str | None, str | None]:
    """The connector that a body names, if it does, and in a few words what it asks for: never a value, which may be secret.

    before: the connector's configuration so far; whole: whether the body takes its place, so that what is not in it is removed.
    """
    if "offsets" in content:
        return None, None
    if (command := content.get("command")) in ("init", "verify"):
        how = "".join(f", {name.replace('_', ' ')}" for name in ("dry_run", "setup_if_incomplete") if content.get(name) is True)
        return None, f"{command}{how}"[:_LONGEST]
    if isinstance(names := content.get("connectors"), list):
        return None, f"{content.get('action')}: {', '.join(map(str, names))}"[:_LONGEST]
    if isinstance(letters := content.get("letters"), list):
        how = "dry run, " if content.get("dry_run") else "again, " if content.get("again") else ""
        return None, f"{how}letters: {', '.join(map(str, letters))}"[:_LONGEST]
    name = content["name"] if isinstance(content.get("name"), str) else None
    keys = content.keys() | (before.keys() if whole and content else ())
    changed = sorted(key for key in keys if content.get(key) != before.get(key)) if before else []
    return name, ("settings: " + ", ".join(changed))[:_LONGEST] if changed else None


def _event(scope: Scope, status: int, failure: bytes) -> dict[str, Any]:
    forwarded = b"forward=" in scope.get("query_string", b"")
    return {
        "user": caller_of(scope).name,
        "address": (scope.get("client") or ("?",))[0],
        "via": "page" if scope.get("headrace.page") or of_page(scope["path"]) else "worker" if forwarded else "rest",
        "method": scope["method"],
        "path": restore(scope["path"]),
        "query": scope.get("query_string", b"").decode("latin-1")[:_LONGEST] or None,
        "status": status,
        "message": _sentence(failure),
    }


def _sentence(failure: bytes) -> str | None:
    """The message of an error response; None for others."""
    try:
        return str(json.loads(failure)["message"])[:_LONGEST]
    except (ValueError, KeyError, TypeError):
        return failure.decode("utf-8", "replace")[:_LONGEST] or None
