"""A client that somebody else wrote drives a worker through all that it can do: `kafka-connect-py`, commands and class."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kafka_connect import KafkaConnect
from kafka_connect.cli import cli
from requests import HTTPError

from tests.support import wait_until

WAIT_S = 180
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"


@pytest.fixture
def kc(worker_url: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs `kc …`; returns the JSON that it prints, None for nothing."""
    printed: list[str] = []
    monkeypatch.setattr("click.echo", printed.append)

    def run(*arguments: str) -> Any:
        printed.clear()
        cli.main(["--url", worker_url, *arguments], standalone_mode=False)
        return json.loads(printed[-1]) if printed else None

    return run


@pytest.fixture
def config(tmp_path: Path, topic_name: Callable[[str], str]) -> dict[str, str]:
    file = tmp_path / "in.txt"
    file.write_text("one\ntwo\n")
    creation = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}
    string = "org.apache.kafka.connect.storage.StringConverter"
    return {"connector.class": SOURCE, "file": str(file), "topic": topic_name("lines"), "value.converter": string, **creation}


def test_every_command_of_kafka_connect_py_works(kc: Callable[..., Any], config: dict[str, str], tmp_path: Path) -> None:
    def states(name: str) -> list[str]:
        status = kc("status", name)
        return [part["state"] for part in (status["connector"], *status["tasks"])]

    def await_states(*wanted: str) -> None:
        wait_until(lambda: states("kc") == list(wanted), WAIT_S, f"kc is {wanted}")

    assert kc("info")["version"] == "4.3.0"
    assert {"class": SOURCE, "type": "source", "version": "4.3.0"} in kc("list-plugins")
    created = kc("create", "--config-data", json.dumps({"name": "kc", "config": config}))
    assert (created["name"], created["type"], created["config"]["file"]) == ("kc", "source", config["file"])
    assert kc("get", "kc")["config"] == kc("config", "kc") == {**config, "name": "kc"}
    wait_until(lambda: kc("list", "--pattern", "k", "--state", "running") == ["kc"], WAIT_S, "a running connector")
    await_states("RUNNING", "RUNNING")
    assert kc("list", "--pattern", "k") == ["kc"]
    assert kc("list", "--expand", "status", "--state", "running")["kc"]["status"]["type"] == "source"
    assert kc("list", "--expand", "info")["kc"]["info"]["name"] == "kc"
    assert [task["id"] for task in kc("list-tasks", "kc")] == [{"connector": "kc", "task": 0}]
    assert kc("task-status", "kc", "0")["state"] == "RUNNING"

    wait_until(lambda: kc("list-topics", "kc")["kc"]["topics"] == [config["topic"]], WAIT_S, "the topic in use")
    assert kc("reset-topics", "kc") is None
    wait_until(lambda: kc("list-topics", "kc") == {"kc": {"topics": []}}, WAIT_S, "no topic in use")

    kc("pause", "kc")
    await_states("PAUSED", "PAUSED")
    kc("resume", "--all", "--pattern", "kc")
    await_states("RUNNING", "RUNNING")
    kc("pause", "--all", "--pattern", "kc")
    await_states("PAUSED", "PAUSED")
    kc("resume", "kc")
    assert kc("restart", "kc", "--include-tasks", "--only-failed")["name"] == "kc"
    assert kc("restart", "kc", "--include-tasks")["name"] == "kc"
    assert set(kc("restart", "--all", "--pattern", "kc")) == {"kc"}
    assert kc("restart-task", "kc", "0") is None
    await_states("RUNNING", "RUNNING")

    file = tmp_path / "update.json"
    file.write_text(json.dumps({**config, "tasks.max": 2}))
    assert kc("update", "kc", "--config-file", str(file))["config"]["tasks.max"] == "2"
    assert kc("update", "kc-2", "--config-file", str(file))["config"]["name"] == "kc-2"

    def deleted() -> bool:  # of all, the client deletes those that have a status by then
        kc("delete", "--all", "--pattern", "kc-2")
        return kc("list", "--pattern", "kc-2") == []

    wait_until(deleted, 180, "kc-2 is deleted")
    kc("delete", "kc")
    assert kc("list", "--pattern", "kc") == []


def test_the_library_stops_validates_and_learns_what_is_wrong(
    worker_url: str, config: dict[str, str], kc: Callable[..., Any]
) -> None:
    client = KafkaConnect(worker_url)
    assert client.validate_connector_config("FileStreamSourceConnector", {**config, "name": "v"})["error_count"] == 0
    with pytest.raises(HTTPError, match="500 Server Error"):  # the command sends JSON in a JSON text, which Kafka refuses as well
        kc("validate-config", "FileStreamSourceConnector", "--config-data", json.dumps(config))
    client.create_connector({"name": "kc-stop", "config": config, "initial_state": "PAUSED"})
    wait_until(lambda: kc("list", "--state", "paused", "--pattern", "kc-stop") == ["kc-stop"], WAIT_S, "a paused connector")
    with pytest.raises(HTTPError, match="409 Client Error: Conflict"):
        client.create_connector({"name": "kc-stop", "config": config})
    client.stop_all_connectors(pattern="kc-stop")
    wait_until(lambda: client.get_connector_status("kc-stop")["connector"]["state"] == "STOPPED", WAIT_S, "a stopped connector")
    client.stop_connector("kc-stop")
    client.delete_all_connectors(pattern="kc-stop")
    for gone in (client.get_connector, client.delete_connector, client.pause_connector, client.restart_connector):
        with pytest.raises(HTTPError):
            gone("kc-stop")
