"""What a worker says of a connector whose tasks are on several workers, of which one is a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

import httpx
import pytest
from typer.testing import CliRunner

from headrace.cli.app import app
from headrace.embedded.ports import free_port
from headrace.rest import forwarding
from headrace.rest.cluster_figures import ConnectorFigures
from headrace.runtime.metrics.figures import FigureSample
from tests.rest.conftest import Client
from tests.rest.memory_herder import MemoryHerder
from tests.rest.other_worker import NAME, measure, use
from tests.rest.test_page import KnowingHerder, Page

AWAY = f"127.0.0.1:{free_port()}"


class OneOfThree(KnowingHerder):
    """Task 0 is here, task 1 on another worker, and task 2 on one that does not answer."""

    other = ""

    def workers(self) -> list[str]:
        return [self.worker_id, self.other, AWAY]

    def status(self, name: str, *, own: bool = False) -> dict:
        status = super().status(name, own=own)
        [task] = status["tasks"]
        return status | {"tasks": [{**task, "id": n, "worker_id": at} for n, at in enumerate(self.workers())]}


@pytest.fixture(scope="module")
def other() -> Iterator[str]:
    """The id of a worker."""
    command = [sys.executable, "-m", "tests.rest.other_worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        url = process.stdout.readline().strip()
        assert url.startswith("http://"), "the other worker did not start"
        yield url.removeprefix("http://")
        process.stdin.close()


@pytest.fixture
def herder(other: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryHerder]:
    monkeypatch.setattr(forwarding, "_SHORT", httpx.Timeout(120))  # who is there may be late; who is away refuses at once
    herder = OneOfThree()
    herder.other = other
    herder.create(NAME, {"connector.class": "FileStreamSource", "file": "/x", "topic": "here"})
    herder.topics[NAME] = {"here", "there"}
    measure(herder.metrics, 0, 30, 200.0)
    kept = use(0, "here-value", 1)
    yield herder
    del kept


@pytest.mark.slow
def test_the_figures_of_a_connector_are_those_of_all_its_workers(serve: Callable[..., Client]):
    client = serve()
    found = client("GET", f"/headrace/connectors/{NAME}/figures").json
    assert sum(sample["rate"] for sample in found["samples"]) == 3 + 7
    assert max(sample["age_ms"] for sample in found["samples"] if sample["age_ms"] is not None) == 900
    assert found["not_reached"] == [AWAY]
    charts = Page(client).get(f"/ui/connector/charts?name={NAME}").text
    assert f"Not reached: {AWAY}" in charts
    assert "at most 900 ms" in charts
    assert client("GET", "/headrace/connectors/none/figures").status == 404
    assert client("GET", f"/headrace/connectors/{NAME}/figures?points=0").status == 400


@pytest.mark.slow
def test_the_graph_has_the_schemas_that_tasks_use_on_any_worker(serve: Callable[..., Client]):
    client = serve()
    found = client("GET", f"/headrace/lineage?connector={NAME}").json
    assert {schema["subject"] for node in found["nodes"] for schema in node["schemas"]} == {"here-value", "there-value"}
    assert found["not_reached"] == [AWAY]
    graph = Page(client).get(f"/ui/graph?connector={NAME}").text
    assert "there-value" in graph and f"Not reached: {AWAY}" in graph


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("connectors", "figures", NAME), "900 ms"),
        (("connectors", "schemas", NAME), "there-value"),
        (("lineage", "--connector", NAME), NAME),
    ],
)
def test_commands_name_a_worker_that_does_not_answer_and_show_the_rest(
    serve: Callable[..., Client], command: tuple[str, ...], shown: str
):
    environ = {"HEADRACE_URL": f"http://{serve().address}", "COLUMNS": "200", "TERM": "dumb"}
    ended = CliRunner().invoke(app, list(command), env=environ, catch_exceptions=False)
    assert (ended.exit_code, ended.stderr.startswith(f"Not reached: {AWAY}. ")) == (0, True), ended.stderr
    assert shown in ended.stdout
    told = CliRunner().invoke(app, [*command, "--json"], env=environ, catch_exceptions=False)
    assert (told.stderr, json.loads(told.stdout)["not_reached"]) == ("", [AWAY])


def test_samples_of_two_workers_are_added_from_the_newest_backwards():
    first = ConnectorFigures(samples=[FigureSample(1, None), FigureSample(2, 5)])
    assert first.plus(ConnectorFigures(samples=[FigureSample(3, 4)])).samples == [FigureSample(1, None), FigureSample(5, 5)]
