"""Requests of the page to the REST API of the same process: they pass all of its middleware, as the user who uses the page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.types import Message, Scope

from headrace.config.rest_requests import json_bytes, path_of

_PASSED_ON = ("authorization", "host")


@dataclass(frozen=True)
class Reply:
    """A response of the REST API."""

    status: int
    text: str
    """The body, in JSON."""

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return 200 <= self.status < 300

    @property
    def json(self) -> Any:
        """The body, None if it is empty."""
        return json.loads(self.text) if self.text else None

    @property
    def message(self) -> str:
        """The sentence of an error."""
        try:
            return str(json.loads(self.text)["message"])
        except (ValueError, KeyError, TypeError):
            return self.text or f"The answer was {self.status}."


async def ask(
    request: Request, method: str, segments: Sequence[str], query: Mapping[str, str] | None = None, body: object = None
) -> Reply:
    """Send a request to the REST API. segments: of the path, as they are meant; body: is sent as JSON, None: none."""
    content = b"" if body is None else json_bytes(body)
    sent, parts = [{"type": "http.request", "body": content, "more_body": False}], list[Message]()

    async def receive() -> Message:
        return sent.pop() if sent else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        parts.append(message)

    await request.app(_scope(request, method, segments, query, bool(content)), receive, send)
    status = next(part["status"] for part in parts if part["type"] == "http.response.start")
    answered = b"".join(part.get("body", b"") for part in parts if part["type"] == "http.response.body")
    return Reply(status, answered.decode("utf-8", "replace"))


def _scope(request: Request, method: str, segments: Sequence[str], query: Mapping[str, str] | None, json_body: bool) -> Scope:
    raw = path_of(segments)
    headers = [(name, value) for name, value in request.scope["headers"] if name.decode("latin-1") in _PASSED_ON]
    headers += [(b"content-type", b"application/json")] if json_body else []
    return {
        "type": "http", "asgi": request.scope["asgi"], "http_version": "1.1", "method": method,
        "scheme": request.scope["scheme"], "path": raw, "raw_path": raw.encode("ascii"),
        "query_string": urlencode(query or {}).encode("ascii"), "root_path": "", "headers": headers,
        "client": request.scope.get("client"), "server": request.scope.get("server"), "headrace.page": True,
    }  # fmt: skip
