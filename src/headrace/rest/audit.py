"""ASGI middleware that remembers every change: who, what, when, from where, with which result.

It stands before the authentication and before what refuses other sites, so that refusals are remembered as well. What the page
changes, passes it as requests to the REST API; of the page's own requests those that are refused are remembered. Not remembered:
what changes nothing (validation, preview), and what workers sign for each other. Of the requests that are refused before anybody
knows whose they are, 20 a minute are remembered and the others counted: a stranger could fill the audit with them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headrace.cluster.event_log import is_of_stranger
from headrace.cluster.herder import Herder
from headrace.dead_letters.letter import topic_of
from headrace.errors import ConnectError, HeadraceError
from headrace.rest import body
from headrace.rest.caller import caller_of
from headrace.rest.period_limit import PeriodLimit
from headrace.rest.roles import AUDIT, open_to_all
from headrace.rest.same_origin import of_page
from headrace.rest.uri import restore

_SAFE = ("GET", "HEAD", "OPTIONS")
_TRIED = (
    ("POST", "/headrace/.*preview"), ("PUT", "/connector-plugins/.*/validate"), ("PUT", "/headrace/streams/.*"),
)  # fmt: skip
"""Requests that change nothing; what streams applications report comes every 10 s."""
_LONGEST, _LARGEST = 500, 1 << 20
_NO_ANSWER = b"It was not answered; it may have been done."
_STRANGERS_REMEMBERED, _MINUTE_S = 20, 60.0


class Audit:
    """Adds an event to the herder's audit for each request that changes something."""

    def __init__(self, app: ASGIApp, herder: Herder) -> None:
        self.app, self._herder = app, herder
        self._strangers = PeriodLimit(_STRANGERS_REMEMBERED, _MINUTE_S)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["path"] == AUDIT:
            self._add_count()
        if scope["type"] != "http" or not _changes(scope["method"], scope["path"]):
            return await self.app(scope, receive, send)
        status: int | None = None
        failure, taken = bytearray(), bytearray()
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
            elif status is not None and status >= 400 and len(failure) < 8 * _LONGEST:
                failure.extend(message.get("body", b""))
            await send(message)

        try:
            return await self.app(scope, listen, remember)
        finally:
            if not of_page(scope["path"]) or status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                event = _event(scope, 500, _NO_ANSWER) if status is None else _event(scope, status, bytes(failure))
                self._add(event, name, before, bytes(taken), whole=scope["method"] == "PUT")

    def _add(self, event: dict[str, Any], name: str | None, before: Mapping[str, Any], taken: bytes, *, whole: bool) -> None:
        """name: of the connector, if the path has it; before: its configuration; taken: the body; whole: it replaces that."""
        self._add_count()
        if is_of_stranger({key: value for key, value in event.items() if value is not None}) and not self._strangers.take():
            return
        content = _object(taken)
        body_name, detail = asked_for(content, before, whole=whole)
        several = list(map(str, names)) if isinstance(names := content.get("connectors"), list) else None
        name = name or body_name
        about = {"connector": name, "detail": detail, "connectors": several or (None if name else self._using(event["path"]))}
        self._herder.audit.add(**event, **about, worker_id=self._herder.worker_id)

    def _using(self, path: str) -> list[str] | None:
        """The connectors whose dead letter topic a path names; None without any."""
        segments = path.split("/")[1:]
        if segments[:2] != ["headrace", "dead-letters"] or len(segments) < 3:
            return None
        return [name for name in self._herder.connectors() if topic_of(self._config(name)) == segments[2]] or None

    def _add_count(self) -> None:
        """Remember how many requests of strangers were not, once their minute is over."""
        if missed := self._strangers.missed():
            sentence = f"{missed} more requests of strangers were refused, and are not listed."
            self._herder.audit.add(
                address="several",
                via="rest",
                method="*",
                path="*",
                status=401,
                message=sentence,
                worker_id=self._herder.worker_id,
            )

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


def _object(raw: bytes) -> dict[str, Any]:
    """A body that is a JSON object; an empty one for any other."""
    try:
        content = body.parse(raw)
    except ConnectError:
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
        return _text(content, "connector"), f"{how}letters: {', '.join(map(str, letters))}"[:_LONGEST]
    name = _text(content, "name")
    keys = content.keys() | (before.keys() if whole and content else ())
    changed = sorted(key for key in keys if content.get(key) != before.get(key)) if before else []
    return name, ("settings: " + ", ".join(changed))[:_LONGEST] if changed else None


def _text(content: Mapping[str, Any], field: str) -> str | None:
    return content[field] if isinstance(content.get(field), str) else None


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
