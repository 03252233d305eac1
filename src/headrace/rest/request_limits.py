"""Requests whose line, or whose headers, are longer than Kafka Connect's HTTP server (Jetty) takes: 414 and 431.

Jetty holds 8 KiB of a request before its body. What is longer but has arrived as a whole is refused before it is looked at
(`RequestLimits`); what does not end, by the server's protocol, which then closes the connection (`LimitedProtocol`).
"""

from __future__ import annotations

import h11
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from headrace.rest import responses

MOST_BYTES = 8 << 10
"""Limit of the request line and the headers together."""
_REASONS = {400: "Invalid HTTP request received.", 414: "URI Too Long", 431: "Request Header Fields Too Large"}
_LINE_END = len(" HTTP/1.1\r\n")


class RequestLimits:
    """ASGI middleware that answers what is too long."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        status = _too_long(scope) if scope["type"] == "http" else None
        if status is None:
            return await self.app(scope, receive, send)
        return await responses.error(status, _REASONS[status])(scope, receive, send)


def _too_long(scope: Scope) -> int | None:
    path, query = scope.get("raw_path") or scope["path"].encode(), scope.get("query_string", b"")
    line = len(scope["method"]) + 1 + len(path) + (1 + len(query) if query else 0)
    if line > MOST_BYTES:
        return 414
    headers = sum(len(name) + len(value) + len(": \r\n") for name, value in scope["headers"])
    return 431 if line + _LINE_END + headers > MOST_BYTES else None


class LimitedProtocol(H11Protocol):
    """Says what is wrong with a request that is given up because its head does not end."""

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP request; 414 or 431 if it was only too long, so far."""
        status = _endless(self.conn.trailing_data[0]) if self.conn.their_state is h11.ERROR else 400
        body = _REASONS[status].encode()
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
        ]
        for event in (h11.Response(status_code=status, headers=headers, reason=b""), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def _endless(head: bytes) -> int:
    if len(head) <= MOST_BYTES:
        return 400
    return 414 if len(head.split(b"\r\n", 1)[0]) > MOST_BYTES else 431
