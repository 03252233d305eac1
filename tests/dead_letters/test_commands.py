"""Dead letters over the command line, of a connector of a real worker."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from typer.testing import CliRunner

from headrace.cli.app import app
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.dead_letters.test_replay import told


@pytest.fixture
def stopped(worker: EmbeddedWorker, destination: Cluster, topic_name: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """The dead letter topic, and the topic, of a sink that does not run."""
    name, origin, topic = topic_name("sink"), topic_name("orders"), topic_name("letters")
    config = {
        "connector.class": "FileStreamSink", "topics": origin, "file": "/dev/null", "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": topic, "errors.deadletterqueue.topic.replication.factor": "1",
    }  # fmt: skip
    destination.create(origin)
    destination.create(topic)
    destination.produce(topic, [told(b"<b>one", origin, 4, name), told(b"two", origin, 5, name)])
    worker.call("POST", "/connectors", {"name": name, "config": config, "initial_state": "STOPPED"})
    yield topic, origin
    worker.call("DELETE", f"/connectors/{name}")


def test_letters_are_listed_shown_tried_and_replayed_once(worker: EmbeddedWorker, stopped: tuple[str, str], destination: Cluster):
    topic, origin = stopped

    def run(*arguments: str) -> Any:
        environ = {"HEADRACE_URL": worker.url, "COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}
        return CliRunner().invoke(app, ["dead-letters", *arguments], env=environ, catch_exceptions=False)

    listed = json.loads(run("list", "--json").stdout)["topics"]
    assert [(one["records"], one["problem"]) for one in listed if one["topic"] == topic] == [(2, None)]
    answered = json.loads(run("show", topic, "--json").stdout)
    assert [letter["id"] for letter in answered["letters"]] == ["0:1", "0:0"]
    shown = run("show", topic).stdout
    assert "bad" in shown and "<b>one" in shown and f"{origin}-0 offset 4" in shown and "not counted" not in shown
    assert "There are older ones: --before" in run("show", topic, "-n", "1").stdout
    assert f"{topic} has no older dead letters." in run("show", topic, "--before", "0:0").stdout
    assert "→ the sink" in run("preview", topic, "0:0").stdout
    assert "ready" in run("replay", topic, "0:0", "--dry-run").stdout
    assert destination.read(origin, settled=True) == []
    assert "replayed" in run("replay", topic, "0:0").stdout
    assert json.loads(run("replay", topic, "0:0", "--json").stdout)["letters"][0]["outcome"] == "already-replayed"
    assert [outcome.value for outcome in destination.read(origin, settled=True)] == [b"<b>one"]
