"""Responses of HTTP servers: read up to a limit, and described in one line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import httpx

RETRIABLE_STATUSES = (408, 429, 500, 502, 503, 504)
_MAX_SIZE = 64 << 20  # bytes; a schema is far smaller
_MAX_SHOWN = 2000  # characters of a text in a message
_MAX_REDIRECTS = 5


@dataclass(frozen=True)
class Response:
    """A response that has been read."""

    status: int
    reason: str
    content: bytes
    location: str = ""
    """Where a redirect leads, without login."""

    @property
    def is_success(self) -> bool:
        """Whether the request was done."""
        return 200 <= self.status < 300

    def json(self) -> Any:
        """The content. Raises ValueError if it is no JSON."""
        try:
            return json.loads(self.content)
        except RecursionError:
            raise ValueError("nested too deep") from None

    def json_object(self) -> dict[str, Any]:
        """The content if it is an object in JSON, else an empty one."""
        try:
            content = self.json()
        except ValueError:
            content = None
        return content if isinstance(content, dict) else {}


def read_response(client: httpx.Client, request: httpx.Request) -> Response:
    """Send a request and read its response. Redirects of GET are followed within the host, so that no login leaves it.

    Raises httpx.RequestError, also for a response that is too large; OSError.
    """
    for _ in range(_MAX_REDIRECTS):
        response = client.send(request, stream=True)
        try:
            redirected = response.next_request
            is_followed = redirected is not None and request.method == "GET" and _is_same_server(request.url, redirected.url)
            if redirected is None or not is_followed:
                location = "" if redirected is None else str(redirected.url.copy_with(username=None, password=None, query=None))
                return Response(response.status_code, response.reason_phrase, _content(response), location)
        finally:
            response.close()
        request = redirected
    raise httpx.TooManyRedirects(f"it redirects more than {_MAX_REDIRECTS} times")


def one_line(text: object) -> str:
    """A text of a server as part of a sentence: in one line, and not longer than a page."""
    line = " ".join(str(text).split())
    return line if len(line) <= _MAX_SHOWN else line[:_MAX_SHOWN] + " …"


def _is_same_server(url: httpx.URL, other: httpx.URL) -> bool:
    return url.host == other.host and (url.scheme == other.scheme or other.scheme == "https")


def _content(response: httpx.Response) -> bytes:
    content = bytearray()
    for part in response.iter_bytes():
        content += part
        if len(content) > _MAX_SIZE:
            raise httpx.DecodingError(f"its response has more than {_MAX_SIZE >> 20} MiB")
    return bytes(content)
