"""Every command, as a process, against a real worker on a real broker."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.testing.worker import EmbeddedWorker
from tests.cli.command import headrace
from tests.clusters import Cluster, record
from tests.process import worker_properties
from tests.support import wait_until

WAIT_S = 180
NAME = "lines of/50% größe"
Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def url(destination_broker: Broker) -> Iterator[str]:
    props = worker_properties("cli-tests", f"http://127.0.0.1:{free_port()}") | {"offset.flush.interval.ms": "500"}
    with EmbeddedWorker(destination_broker.bootstrap, props) as worker:
        yield worker.url


@pytest.fixture
def cli(url: str) -> Cli:
    """Runs `headrace connectors …`; the worker is named in the environment."""
    return lambda *arguments: headrace("connectors", *arguments, environ={"HEADRACE_URL": url})


def done(cli: Cli, *arguments: str) -> str:
    """Standard output of a command that succeeds."""
    ended = cli(*arguments)
    assert (ended.returncode, ended.stderr) == (0, ""), ended
    return ended.stdout


def refused(cli: Cli, *arguments: str) -> str:
    """Standard error of a command that fails, with nothing on standard output."""
    ended = cli(*arguments)
    assert (ended.returncode, ended.stdout) == (1, ""), ended
    assert "Traceback" not in ended.stderr
    return ended.stderr


def described(cli: Cli) -> dict[str, Any]:
    return json.loads(done(cli, "describe", NAME, "--json"))


def get(url: str, path: str) -> Any:
    """What the worker says itself: whoever waits asks it, not the command, each run of which is a process."""
    answer = httpx.get(f"{url.rstrip('/')}/connectors/{quote(NAME, safe='')}{path}", timeout=100)
    return answer.json() if answer.status_code == 200 else {}


def await_states(url: str, *wanted: str) -> None:
    def states() -> list[str]:
        status = get(url, "/status")
        return [part["state"] for part in (status.get("connector", {}), *status.get("tasks", [])) if "state" in part]

    wait_until(lambda: states() == list(wanted), WAIT_S, f"{NAME} is {wanted}")


def active_topics(url: str) -> list[str] | None:
    return get(url, "/topics").get(NAME, {}).get("topics")


def committed(url: str) -> list[int]:
    return [one["offset"]["offset"] for one in get(url, "/offsets").get("offsets", [])]  # which has the id of the topic, too


def answers(url: str, path: str) -> str:
    return httpx.get(url.rstrip("/") + path, timeout=100).text


def look_around(url: str, source: Cluster, destination: Cluster, topic: str) -> None:
    """The commands that are not of connectors alone, about the one that runs and copies a topic."""

    def run(*arguments: str, status: int = 0) -> str:
        ended = headrace(*arguments, environ={"HEADRACE_URL": url, "COLUMNS": "200"})
        assert (ended.returncode, ended.stderr) == (status, ""), ended
        return ended.stdout

    copy = f"copy.{topic}"
    assert run("topics", "drift", NAME) == "Every topic is as its rule says.\n"
    destination.grow(copy, 2)
    assert json.loads(run("topics", "drift", "--json", status=1)) == {"drift": [
        {"connector": NAME, "topic": copy, "group": "default", "what": "partitions", "wanted": "1", "actual": "2"},
    ]}  # fmt: skip
    flows = json.loads(run("lineage", "--connector", NAME, "--json"))
    read, runs, written = f"topic:{source.bootstrap}/{topic}", f"connector:{NAME}", f"topic:{copy}"
    assert [(edge["source"], edge["target"]) for edge in flows["edges"]] == [(runs, written), (read, runs)]
    assert f"{topic} @ {source.bootstrap}" in run("lineage")
    changes = json.loads(run("audit", "--connector", NAME, "--json"))["entries"]
    assert [(one["method"], one["path"], one["status"]) for one in changes if one["status"] < 400] == [
        ("POST", "/connectors", 201)
    ]
    assert "POST /connectors" in run("audit")
    done_now = json.loads(run("connectors", "figures", NAME, "--json"))
    assert (done_now["connector"], done_now["not_reached"], done_now["lag"]) == (NAME, [], 0)
    assert "records/s, 0 behind" in run("connectors", "figures", NAME)


def test_the_whole_life_of_a_connector(
    cli: Cli, url: str, source_broker: Broker, destination: Cluster, tmp_path: Path, topic_name: Callable[[str], str]
):
    topic, source = topic_name("orders"), Cluster(source_broker.bootstrap)
    source.create(topic, 1)
    source.produce(topic, [record(b"k")] * 3)
    config = {
        "connector.class": "KafkaSourceConnector", "source.bootstrap.servers": source.bootstrap, "source.topic.whitelist": topic,
        "destination.topics.prefix": "copy.", "producer.override.ssl.key.password": "s3cret",
        "topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1",
    }  # fmt: skip
    file = tmp_path / "connector.json"
    file.write_text(json.dumps({"name": NAME, "config": config}))

    assert "is valid" in done(cli, "validate", str(file))
    assert done(cli, "create", str(file)) == f"{NAME} has been created.\n"
    assert refused(cli, "create", str(file)) == f"error: Connector {NAME} already exists\n"
    await_states(url, "RUNNING", "RUNNING")
    wait_until(lambda: committed(url) == [2], WAIT_S, "the offset of the last record")
    wait_until(lambda: active_topics(url) == [f"copy.{topic}"], WAIT_S, "its topic, read back from the status topic")

    listed = done(cli, "list")
    assert all(word in listed for word in (NAME, "source", "RUNNING", "1/1"))
    assert json.loads(done(cli, "list", "--json")) == json.loads(answers(url, "/connectors?expand=info&expand=status"))
    shown = done(cli, "describe", NAME)
    assert all(word in shown for word in (f"{NAME} (source)", "[hidden]", "task 0", f"topics: copy.{topic}", f"{topic}:0"))
    assert "task 0: realtime (the data plane copies record by record)" in shown
    assert done(cli, "topics", NAME) == f"copy.{topic}\n"
    behind = headrace("connectors", "lag", NAME, environ={"HEADRACE_URL": url, "COLUMNS": "160"}).stdout
    assert all(word in behind for word in ("topic", "freshness", "2023-11-14T22:13:20.000+00:00", "0.0 s", "0 records behind"))
    assert json.loads(done(cli, "lag", NAME, "--json"))["partitions"][0]["offset"] == 2
    assert "2023" not in done(cli, "lag", NAME, "--no-freshness")
    assert json.loads(done(cli, "topics", NAME, "--json")) == {NAME: {"topics": [f"copy.{topic}"]}}
    look_around(url, source, destination, topic)

    assert done(cli, "pause", NAME) == f"{NAME} is being paused.\n"
    await_states(url, "PAUSED", "PAUSED")
    assert done(cli, "resume", NAME, "--json") == ""
    await_states(url, "RUNNING", "RUNNING")
    assert done(cli, "restart", NAME) == f"{NAME} is being restarted.\n"
    assert "RESTARTING" in done(cli, "restart", NAME, "--tasks")
    await_states(url, "RUNNING", "RUNNING")
    assert json.loads(done(cli, "restart", NAME, "--tasks", "--only-failed", "--json"))["name"] == NAME

    assert "must be in the STOPPED state" in refused(cli, "offsets", "reset", NAME)
    assert done(cli, "stop", NAME) == f"{NAME} is being stopped.\n"
    await_states(url, "STOPPED")
    partition = json.dumps({"topic:partition": f"{topic}:0"})
    assert "altered successfully" in done(cli, "offsets", "set", NAME, "--partition", partition, "--offset", '{"offset": 1}')
    assert '{"offset": 1}' in done(cli, "offsets", "show", NAME)
    assert "reset successfully" in done(cli, "offsets", "reset", NAME)
    assert done(cli, "offsets", "show", NAME) == "No offsets are committed.\n"
    assert done(cli, "topics", NAME, "--reset") == f"The topics of {NAME} have been reset.\n"
    wait_until(lambda: active_topics(url) == [], WAIT_S, "no topic")
    assert done(cli, "topics", NAME) == ""

    file.write_text(json.dumps({**config, "name": NAME, "tasks.max": "2"}))
    assert "+ tasks.max  2" in done(cli, "apply", str(file), "--dry-run")
    assert f"{NAME} has been changed." in done(cli, "apply", str(file), "--yes")
    assert described(cli)["info"]["config"]["tasks.max"] == "2"
    assert done(cli, "delete", NAME) == f"{NAME} has been deleted.\n"
    assert refused(cli, "describe", NAME) == f"error: Connector {NAME} not found\n"


def test_the_cause_of_a_failure_is_in_the_list_and_whole_in_the_description(cli: Cli, url: str, tmp_path: Path):
    file = tmp_path / "failing.properties"
    file.write_text(
        "name=failing\nconnector.class=KafkaSourceConnector\nsource.bootstrap.servers=127.0.0.1:1\nsource.topic.whitelist=x\n"
        "topic.list.timeout.ms=2000\n"
        "topic.creation.default.partitions=1\ntopic.creation.default.replication.factor=1\n"
    )
    done(cli, "create", str(file))
    try:
        wait_until(lambda: "FAILED" in answers(url, "/connectors/failing/status"), WAIT_S, "the failure")
        assert "FAILED" in done(cli, "list")
        shown = done(cli, "describe", "failing")
        assert "failed:" in shown
    finally:
        done(cli, "delete", "failing")


def test_an_invalid_configuration_is_refused_with_the_workers_words(cli: Cli, tmp_path: Path):
    (tmp_path / "bad.json").write_text('{"name": "bad", "connector.class": "FileStreamSource"}')
    said = refused(cli, "create", str(tmp_path / "bad.json"))
    assert said.startswith("error: Connector configuration is invalid and contains the following ")
    assert 'Missing required configuration "topic" which has no default value.' in said


def test_no_worker_is_one_sentence_and_status_1(cli: Cli):
    said = refused(cli, "list", "--url", "http://127.0.0.1:1")
    assert said.startswith("error: No worker can be reached at http://127.0.0.1:1 (")
    assert said.count("\n") == 1
