"""A REST server on a free port over a herder in memory, and a client that sends requests exactly as they are given."""

from __future__ import annotations

import http.client
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

import pytest

from headrace.cluster.herder import Herder
from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.rest import RestServer, overview
from headrace.rest.page import pending
from headrace.runtime.worker_config import WorkerConfig
from headrace.testing.worker import EmbeddedWorker
from tests.process import worker_properties
from tests.rest.memory_herder import CurrentHerder, MemoryHerder


@dataclass(frozen=True)
class Answer:
    """What came back; headers with names in lower case."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def message(self) -> str:
        return self.json["message"]


class Client:
    """Sends requests to one server."""

    def __init__(self, url: str) -> None:
        self.address = url.removeprefix("http://")

    def __call__(
        self, method: str, target: str, body: Any = None, headers: dict[str, str] | None = None, raw: str | None = None
    ) -> Answer:
        """Send `body` as JSON, or `raw` as it is, by default as application/json."""
        text = raw if raw is not None else None if body is None else json.dumps(body)
        if headers is None:
            headers = {} if text is None else {"Content-Type": "application/json"}
        connection = http.client.HTTPConnection(self.address, timeout=120)
        try:
            connection.putrequest(method, target, skip_accept_encoding=True, skip_host="Host" in headers)
            for name, value in headers.items():
                connection.putheader(name, value)
            data = None if text is None else text.encode()
            if data is not None or method in ("POST", "PUT", "PATCH"):
                connection.putheader("Content-Length", str(len(data or b"")))
            connection.endheaders(data or None)
            response = connection.getresponse()
            received = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, received, response.read().decode())
        finally:
            connection.close()


def worker_config(settings: Mapping[str, str] | None = None) -> WorkerConfig:
    """A worker's settings, listening on a free port."""
    converter = "org.apache.kafka.connect.storage.StringConverter"
    base = {"listeners": "http://localhost:0", "key.converter": converter, "value.converter": converter}
    return WorkerConfig(base | dict(settings or {}))


@pytest.fixture(autouse=True)
def _patient_browsers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is late comes from this machine: browsers wait for every part of the page."""
    monkeypatch.setattr(pending, "PATIENCE_S", 600)
    monkeypatch.setattr(import_module("headrace.rest.page.mount"), "_LIMIT_S", 600)  # `mount` of its package is a function


@pytest.fixture(autouse=True)
def _new_overviews(monkeypatch: pytest.MonkeyPatch) -> None:
    """One server has the herders of many tests, one after the other: a snapshot of two seconds ago may be of another test."""
    monkeypatch.setattr(overview, "_FRESH_S", 0.0)


@pytest.fixture
def log_levels_restored() -> Iterator[None]:
    """For requests that set levels of loggers: they are those of all tests of this process."""

    def loggers() -> list[logging.Logger]:
        known = list(logging.root.manager.loggerDict.values())
        return [logging.getLogger(), *(logger for logger in known if isinstance(logger, logging.Logger))]

    levels = {logger: logger.level for logger in loggers()}
    yield
    for logger in loggers():
        logger.setLevel(levels.get(logger, logging.NOTSET))


@pytest.fixture
def herder() -> MemoryHerder:
    return MemoryHerder()


@pytest.fixture
def serve(herder: MemoryHerder) -> Iterator[Callable[..., Client]]:
    """Starts a server with these worker settings; limit_s: how long the herder may take; herder: of its own."""
    servers, common = [], herder

    def start(settings: Mapping[str, str] | None = None, limit_s: float = 90.0, herder: MemoryHerder | None = None) -> Client:
        server = RestServer(cast(Herder, herder or common), worker_config(settings), limit_s=limit_s)
        servers.append(server)
        server.start()
        return Client(server.urls[0])

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def shared() -> Iterator[tuple[CurrentHerder, Client]]:
    """One server for all tests that need no settings of their own."""
    current = CurrentHerder()
    server = RestServer(cast(Herder, current), worker_config())
    server.start()
    yield current, Client(server.urls[0])
    server.stop()


@pytest.fixture
def call(shared: tuple[CurrentHerder, Client], herder: MemoryHerder) -> Client:
    """A client of a server with the default settings, over this test's herder."""
    current, client = shared
    current.current = herder
    return client


@pytest.fixture(scope="package")
def worker_url(destination_broker: Broker) -> Iterator[str]:
    """The address of a real worker on a real broker, for those tests that need one behind the server."""
    properties = worker_properties("rest-tests", f"http://127.0.0.1:{free_port()}") | {"offset.flush.interval.ms": "500"}
    with EmbeddedWorker(destination_broker.bootstrap, properties) as worker:
        yield worker.url.rstrip("/")
