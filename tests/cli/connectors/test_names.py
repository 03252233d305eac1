"""A connector with any name that Kafka Connect allows is reached over REST and from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from headrace.config.types import trim
from tests.cli.connectors.conftest import SOURCE, Ended
from tests.rest.conftest import Client

CHARACTERS = st.characters(exclude_categories=("Cs", "Cc"))
NAMES = st.text(CHARACTERS, min_size=1, max_size=30).filter(lambda name: trim(name) == name)
ODD = (
    "a b", "a/b", "/", "//", "a%2Fb", "%", "50%", "a;b=c", "a?b#c", "..", ".", "../..", "a+b", "&=", "{x}", "\\", "ü", "日本",
    "😀", "-x", "\u00a0", "\u2028", "\ufeff", "a\"b'c", "<b>", "[red]", "config", "a:b", "n" * 249,
)  # fmt: skip
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def with_examples(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        for name in names:
            test = example(name)(test)
        return test

    return decorate


@contextmanager
def made(call: Client, name: str) -> Iterator[str]:
    """The path of a new connector, as its Location gives it."""
    answer = call("POST", "/connectors", {"name": name, "config": SOURCE, "initial_state": "STOPPED"})
    assert (answer.status, answer.json["name"]) == (201, name)
    path = answer.headers["location"].removeprefix(f"http://{call.address}")
    try:
        yield path
    finally:
        call("DELETE", path)


@pytest.mark.slow
@with_examples(*ODD)
@given(NAMES)
@FEW
def test_over_rest(url: str, name: str) -> None:
    call = Client(url)
    with made(call, name) as path:
        assert call("GET", path).json["name"] == name
        assert path.isascii()
        assert call("GET", path + "/config").json["name"] == name
        assert call("PUT", path + "/config", {**SOURCE, "topic": "u"}).json["config"] == {**SOURCE, "topic": "u", "name": name}
        assert call("PATCH", path + "/config", {"topic": "v"}).json["config"]["topic"] == "v"
        requests = [
            "PUT /pause",
            "PUT /stop",
            "GET /tasks",
            "GET /topics",
            "PUT /topics/reset",
            "GET /offsets",
            "DELETE /offsets",
        ]
        requests += ["POST /tasks/0/restart", "GET /tasks/0/status"]
        statuses = [call(method, path + part).status for method, part in map(str.split, requests)]
        assert statuses == [202, 204, 200, 200, 202, 200, 200, 404, 404]
        assert call("GET", path + "/topics").json == {name: {"topics": []}}
        assert call("DELETE", path).status == 204
        assert call("GET", path).message == f"Connector {name} not found"


@pytest.mark.slow
@with_examples("..", ".", "//", "a%2Fb c", "😀", "[red]", "-x", "a?b#c;d")
@given(NAMES)
@settings(FEW, max_examples=4)
def test_from_the_command_line(cli: Callable[..., Ended], url: str, tmp_path: Path, name: str) -> None:
    file = tmp_path / "connector.json"
    file.write_text(json.dumps({"name": name, "config": SOURCE, "initial_state": "STOPPED"}))

    def done(*arguments: str) -> Ended:
        ended = cli(*arguments, "--json", "--", name)
        assert (ended.status, ended.err) == (0, ""), ended
        return ended

    assert cli("apply", str(file), "--yes").status == 0
    try:
        assert done("describe").json["info"]["config"]["name"] == name
        done("pause")
    finally:
        done("delete")
    assert Client(url)("GET", "/connectors").json == []


@pytest.mark.parametrize("name", ["", " ", "\t", "a\nb", "a\x00b", "\x7f", "a\x1bb", "\x85"])
def test_a_name_that_is_none_is_refused(url: str, name: str) -> None:
    answer = Client(url)("POST", "/connectors", {"name": name, "config": SOURCE})
    assert answer.status == 400
    assert "for configuration name: String may not" in answer.message
