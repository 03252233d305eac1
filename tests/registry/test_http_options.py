"""How a registry is called: what each option changes in the requests."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from headrace.registry import http
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


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Those between requests, in seconds, which are noted instead of waited for."""
    noted: list[float] = []
    monkeypatch.setattr(http, "sleep", noted.append)
    return noted


def test_headers_are_sent_along(server: Recorded) -> None:
    token = {"bearer_auth_credentials_source": "STATIC_TOKEN", "bearer_auth_token": "t",
             "bearer_auth_logical_cluster": "lsrc-1", "bearer_auth_identity_pool_id": "pool-1"}  # fmt: skip
    assert client(server.url, request_header_Tenant="shop", **token).register("s", TEXT) == 1
    sent = {name: server.headers[0].get(name) for name in ("Tenant", "target-sr-cluster", "Confluent-Identity-Pool-Id")}
    assert sent == {"Tenant": "shop", "target-sr-cluster": "lsrc-1", "Confluent-Identity-Pool-Id": "pool-1"}


def test_requests_go_through_a_proxy(registry: SchemaRegistry) -> None:
    _, _, port = registry.url.rpartition(":")
    registry_client = client("http://nowhere.invalid", proxy_host="127.0.0.1", proxy_port=port)
    assert registry_client.register("s", TEXT) == 1
    assert registry.requests == ["POST /subjects/s/versions"]
    with pytest.raises(RegistryUnavailableError, match=r"\(http://nowhere.invalid; through the proxy http://127.0.0.1:1\)"):
        client("http://nowhere.invalid", proxy_host="127.0.0.1", proxy_port="1", max_retries="0").register("s", TEXT)


def test_a_request_is_tried_again_as_often_as_is_said(server: Recorded, pauses: list[float]) -> None:
    server.status = 503
    with pytest.raises(RegistryUnavailableError, match="answered 503 Service Unavailable"):
        client(server.url, max_retries="3").register("s", TEXT)
    assert (len(server.headers), len(pauses)) == (4, 3)
    with pytest.raises(RegistryUnavailableError):
        client(server.url, max_retries="0").register("s", TEXT)
    assert (len(server.headers), len(pauses)) == (5, 3)


@pytest.mark.parametrize(("options", "longest_s"), [
    ({"retries_wait_ms": "1000"}, [1.0, 2.0, 4.0, 8.0]),
    ({"retries_wait_ms": "300", "retries_max_wait_ms": "1000"}, [0.3, 0.6, 1.0, 1.0]),
    ({"retries_wait_ms": "60000", "retries_max_wait_ms": "1"}, [0.001] * 4),
])  # fmt: skip
def test_pauses_double_up_to_the_longest(
    server: Recorded, pauses: list[float], options: dict[str, str], longest_s: list[float]
) -> None:
    server.status = 503
    with pytest.raises(RegistryUnavailableError):
        client(server.url, max_retries="4", **options).register("s", TEXT)
    assert len(pauses) == len(longest_s)
    assert all(most / 2 <= pause <= most for pause, most in zip(pauses, longest_s, strict=True))  # they are spread


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


def test_no_limit_is_written_0_as_in_java(server: Recorded) -> None:
    assert client(server.url, max_retries="0", http_read_timeout_ms="0", http_connect_timeout_ms="0").register("s", TEXT) == 1
