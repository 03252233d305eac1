"""How a registry is called: what each option changes in the requests."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from headrace.registry.errors import RegistryUnavailableError
from headrace.testing.registry import SchemaRegistry
from tests.registry.test_client import TEXT, client


@dataclass
class Recorded:
    """A server that gives every schema the id 1, or answers with another status, and keeps the headers of the requests."""

    url: str = ""
    status: int = 200
    headers: list[dict[str, str]] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Recorded]:
    recorded = Recorded()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            recorded.headers.append(dict(self.headers))
            body = json.dumps({"id": 1}).encode()
            self.send_response(recorded.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    recorded.url = f"http://127.0.0.1:{running.server_port}"
    Thread(target=running.serve_forever, args=(0.05,), daemon=True).start()
    yield recorded
    running.shutdown()
    running.server_close()


def test_headers_are_sent_along(server: Recorded) -> None:
    token = {"bearer_auth_credentials_source": "STATIC_TOKEN", "bearer_auth_token": "t",
             "bearer_auth_logical_cluster": "lsrc-1", "bearer_auth_identity_pool_id": "pool-1"}  # fmt: skip
    assert client(server.url, request_header_Tenant="shop", **token).register("s", TEXT) == 1
    sent = {name: server.headers[0].get(name) for name in ("Tenant", "target-sr-cluster", "Confluent-Identity-Pool-Id")}
    assert sent == {"Tenant": "shop", "target-sr-cluster": "lsrc-1", "Confluent-Identity-Pool-Id": "pool-1"}


def test_requests_go_through_a_proxy(registry: SchemaRegistry) -> None:
    _, _, port = registry.url.rpartition(":")
    one = client("http://nowhere.invalid", proxy_host="127.0.0.1", proxy_port=port)
    assert one.register("s", TEXT) == 1
    assert registry.requests == ["POST /subjects/s/versions"]


def test_a_request_is_tried_again_as_often_and_as_soon_as_is_said(server: Recorded) -> None:
    server.status = 503
    began = time.monotonic()
    with pytest.raises(RegistryUnavailableError, match="answered 503 Service Unavailable"):
        client(server.url, max_retries="3", retries_wait_ms="60000", retries_max_wait_ms="1").register("s", TEXT)
    assert len(server.headers) == 4
    assert time.monotonic() - began < 30
    with pytest.raises(RegistryUnavailableError):
        client(server.url, max_retries="0").register("s", TEXT)
    assert len(server.headers) == 5
    began = time.monotonic()
    with pytest.raises(RegistryUnavailableError):
        client(server.url, max_retries="1", retries_wait_ms="300").register("s", TEXT)
    assert time.monotonic() - began >= 0.15  # half of the pause at least: they are spread


def test_an_answer_and_a_connection_may_take_as_long_as_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(RegistryUnavailableError, match=r"(?i)timed out"):
            client(url, max_retries="0", http_read_timeout_ms="100").register("s", TEXT)
        full = [socket.socket() for _ in range(4)]  # nobody accepts them: the next one waits for its turn
        for one in full:
            one.setblocking(False)
            one.connect_ex(silent.getsockname())
        with pytest.raises(RegistryUnavailableError, match=r"(?i)timed out"):
            client(url, max_retries="0", http_connect_timeout_ms="100").register("s", TEXT)
        for one in full:
            one.close()
