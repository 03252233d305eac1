"""A server that sends given bytes, whatever the request."""

from __future__ import annotations

import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class ScriptedServer:
    """responses: sent in turn, one for each request, the last one again and again."""

    responses: list[bytes]
    url: str = ""
    requests: list[str] = field(default_factory=list)
    """The head of each request."""


def response(status: str = "200 OK", body: bytes | str = b"", **headers: str) -> bytes:
    """The bytes of a response; headers: with `_` for `-`."""
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(content)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


@contextmanager
def scripted_server(*responses: bytes, tls: ssl.SSLContext | None = None) -> Iterator[ScriptedServer]:
    """The server, while it runs. tls: for `https`."""
    script = ScriptedServer(list(responses))

    class Handler(socketserver.StreamRequestHandler):
        def setup(self) -> None:
            if tls is not None:
                self.request = tls.wrap_socket(self.request, server_side=True)
            super().setup()

        def handle(self) -> None:
            head = b""
            while (line := self.rfile.readline()) not in (b"\r\n", b""):
                head += line
            if not head:
                return
            size = next((int(part[15:]) for part in head.lower().split(b"\r\n") if part.startswith(b"content-length:")), 0)
            self.rfile.read(size)
            script.requests.append(head.decode())
            self.wfile.write(script.responses.pop(0) if len(script.responses) > 1 else script.responses[0])

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Nothing: a client may leave before it has read the response."""

    with Server(("127.0.0.1", 0), Handler) as server:
        script.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield script
        server.shutdown()
