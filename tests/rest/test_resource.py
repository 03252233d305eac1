"""What every route has: time limits, exceptions as answers, parameters read as JAX-RS reads them."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from headrace.errors import ConfigError, HeadraceError, RestError
from headrace.rest import logs
from headrace.rest.schemas import SCHEMAS
from tests.rest.conftest import Client
from tests.rest.memory_herder import MemoryHerder
from tests.support import wait_until


@pytest.fixture
def slow(herder: MemoryHerder) -> Iterator[threading.Event]:
    """Lets `offsets` of the herder wait; set at the end, so that no thread is left."""
    release = threading.Event()
    herder.offsets = lambda name: {"waited": release.wait(600)}  # type: ignore[method-assign]
    yield release
    release.set()


def test_a_late_herder_is_a_500_that_says_what_it_does(
    serve: Callable[..., Client], herder: MemoryHerder, slow: threading.Event
) -> None:
    herder.busy.clear()
    answer = serve(limit_s=0.2)("GET", "/connectors/x/offsets")
    assert (answer.status, answer.json["error_code"]) == (500, 500)
    assert answer.message == "Request timed out. The worker is currently asleep, which began at 2026-01-01T00:00:00Z."


def test_a_late_request_holds_up_no_other(serve: Callable[..., Client], slow: threading.Event) -> None:
    call = serve(limit_s=1.0)
    assert call("GET", "/connectors/x/offsets").message == "Request timed out"
    wait_until(lambda: call("GET", "/connectors").status == 200, 120, "an answer while the other request is late still")


def test_until_the_worker_is_ready_it_says_so_instead_of_showing_no_connectors(call: Client, herder: MemoryHerder) -> None:
    herder.up = False
    answer = call("GET", "/connectors")
    assert (answer.status, answer.message) == (503, "Worker is still starting up.")
    assert [call("GET", path).status for path in ("/", "/health", "/admin/loggers/root")] == [200, 503, 200]


@pytest.mark.parametrize(
    ("problem", "status", "message"),
    [
        (RestError(409, "busy"), 409, "busy"),
        (ConfigError.missing("topic"), 400, 'Missing required configuration "topic" which has no default value.'),
        (HeadraceError("no"), 500, "no"),
        (ValueError("odd"), 500, "odd"),
        (TimeoutError(), 500, "TimeoutError"),
        (RestError(400, "half a pair: \ud800"), 400, "half a pair: ?"),
    ],
)
def test_an_exception_becomes_an_answer(
    herder: MemoryHerder, call: Client, problem: Exception, status: int, message: str
) -> None:
    def fail(name: str) -> Any:
        raise problem

    herder.info = fail  # type: ignore[method-assign]
    answer = call("GET", "/connectors/x")
    assert (answer.status, answer.json) == (status, {"error_code": status, "message": message})
    assert answer.headers["content-type"] == "application/json"


def test_only_what_was_not_foreseen_is_logged(herder: MemoryHerder, call: Client, caplog: pytest.LogCaptureFixture) -> None:
    def warnings() -> list[logging.LogRecord]:
        """Those of REST: what other tests have left running in this process may warn as well."""
        names = (logs.SERVER.name.removesuffix("RestServer"), "uvicorn")
        return [r for r in caplog.records if r.levelno >= logging.WARNING and r.name.startswith(names)]

    call("GET", "/connectors/x")
    assert warnings() == []
    herder.info = lambda name: 1 / 0  # type: ignore[method-assign]
    call("GET", "/connectors/x")
    (record,) = warnings()
    assert record.getMessage() == "Uncaught exception in REST call GET /connectors/x"
    assert record.exc_info and record.exc_info[0] is ZeroDivisionError


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", (False, False)),
        ("?includeTasks=true", (True, False)),
        ("?includeTasks=TRUE&onlyFailed=True", (True, True)),
        ("?includeTasks=foo&onlyFailed=", (False, False)),
        ("?includeTasks", (False, False)),
        ("?includeTasks=1", (False, False)),
        ("?includeTasks=true&includeTasks=false&onlyFailed=false&only%46ailed=true", (True, False)),
    ],
)
def test_flags_are_true_only_if_they_say_so(herder: MemoryHerder, call: Client, query: str, expected: tuple[bool, bool]) -> None:
    herder.create("x", {"connector.class": "c"})
    call("POST", "/connectors/x/restart" + query)
    assert herder.restarts == [("x", *expected)]


@pytest.mark.parametrize("task", ["abc", "99999999999", "1.0", "--1", "-+5", "+-5", "+", "%D9%A1"])
def test_a_task_that_is_no_java_int_is_not_found(call: Client, task: str) -> None:
    assert call("GET", f"/connectors/x/tasks/{task}/status").message == "HTTP 404 Not Found"


@pytest.mark.parametrize(("task", "number"), [("-1", "-1"), ("+7", "7"), ("007", "7")])
def test_a_task_number_is_read_like_a_java_int(call: Client, task: str, number: str) -> None:
    assert call("GET", f"/connectors/x/tasks/{task}/status").message == f"No status found for task x-{number}"


def test_the_openapi_document_describes_every_route(serve: Callable[..., Client]) -> None:
    document = serve()("GET", "/openapi.json").json
    paths, schemas = document["paths"], document["components"]["schemas"]
    assert set(paths["/connectors/{connector}/config"]) == {"get", "put", "patch"}
    assert "initial_state" in schemas["NewConnector"]["properties"]
    parameters = {p["name"] for p in paths["/connectors/{connector}/restart"]["post"]["parameters"]}
    assert parameters == {"connector", "includeTasks", "onlyFailed"}
    assert "/admin/loggers" not in serve({"admin.listeners": ""})("GET", "/openapi.json").json["paths"]


def test_a_parameter_is_described_as_it_is_on_its_path(serve: Callable[..., Client]) -> None:
    paths = serve()("GET", "/openapi.json").json["paths"]

    def text(path: str, name: str) -> str | None:
        (parameter,) = (p for p in paths[f"/headrace{path}"]["get"]["parameters"] if p["name"] == name)
        return parameter.get("description")

    of_connector = "/connectors/{connector}"
    assert [str(text(path, "lines"))[-13:] for path in (f"{of_connector}/history", "/audit")] == ["at most 5000."] * 2
    assert "at most 1000" in str(text(f"{of_connector}/logs", "lines"))
    assert text("/audit", "connector") != text("/lineage", "connector")
    assert text(f"{of_connector}/history", "connector") is None, "a part of the path"


def test_every_schema_is_used_and_every_one_used_is_there(serve: Callable[..., Client]) -> None:
    document = serve()("GET", "/openapi.json").text
    used = set(re.findall(r'"#/components/schemas/(\w+)"', document))
    assert used == set(SCHEMAS)


def test_a_body_above_the_limit_is_refused_with_one_sentence_and_what_follows_is_served(call: Client) -> None:
    call("GET", "/connectors")
    large = '{"name": "' + "x" * (33 << 20) + '"}'
    answer = call("POST", "/connectors", raw=large)
    assert (answer.status, answer.message) == (413, "The body of the request is larger than 32 MiB, the most that is taken.")
    assert call("GET", "/connectors").status == 200


def test_a_large_body_is_read(call: Client, herder: MemoryHerder) -> None:
    config = {"connector.class": "c", "long": "x" * (20 << 20)}
    assert call("POST", "/connectors", {"name": "x", "config": config}).status == 201
    assert len(herder.configs["x"]["long"] or "") == 20 << 20


def test_broken_json_is_the_clients_fault_where_kafka_connect_has_no_such_resource(call: Client) -> None:
    answer = call("POST", "/headrace/preview", raw="{")
    assert (answer.status, answer.message.startswith("The body of the request is not JSON: ")) == (400, True)
