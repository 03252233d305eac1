"""Answers: JSON bodies, and `{"error_code", "message"}` for everything that goes wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from headrace.config.redaction import redact
from headrace.errors import HeadraceError
from headrace.rest import logs


class JsonResponse(Response):
    """A JSON body; half a surrogate pair, which has no UTF-8 form, becomes a question mark as in Java."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Turn the value into bytes."""
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def ok(content: Any, status: int = 200, location: str | None = None) -> Response:
    """An answer with a body; location: of what was created."""
    return JsonResponse(content, status, headers={"Location": location} if location else None)


def done(status: int) -> Response:
    """An answer without a body."""
    return Response(status_code=status)


def error(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a request that failed."""
    return JsonResponse({"error_code": status, "message": message}, status, headers=dict(headers or {}))


def http_error(status: int, headers: Mapping[str, str] | None = None) -> Response:
    """The answer of the HTTP layer itself, in the words of JAX-RS: `HTTP 404 Not Found`."""
    return error(status, f"HTTP {status} {HTTPStatus(status).phrase}", headers)


def failure(request: Request, problem: Exception) -> Response:
    """The answer to an exception: a HeadraceError says its status, all else is a 500 and logged with its trace."""
    if isinstance(problem, HTTPException):
        return http_error(problem.status_code, problem.headers)
    message = str(problem) or type(problem).__name__
    if isinstance(problem, HeadraceError):
        logs.ERRORS.debug("%s %s: %d %s", request.method, request.url.path, problem.status, message)
        return error(problem.status, message)
    logs.ERRORS.error("Uncaught exception in REST call %s %s", request.method, request.url.path, exc_info=problem)
    return error(500, redact(message))
