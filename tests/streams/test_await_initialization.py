"""An application that waits for its internal topics, and a worker that has it create them, with a real broker and no Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from headrace.errors import StreamsError
from headrace.rest.server import RestServer
from headrace.streams import Consumed, KafkaStreams, Serdes, StreamsBuilder, worker_report
from headrace.streams.worker_commands import CommandRunner
from tests.cli.command import headrace
from tests.clusters import Cluster
from tests.rest.conftest import Client, worker_config
from tests.rest.memory_herder import MemoryHerder
from tests.support import wait_until

WAIT_S = 180


@dataclass
class Waiting:
    """An application that waits, and the worker that it reports to."""

    id: str
    streams: KafkaStreams
    worker: Client
    herder: MemoryHerder

    @property
    def url(self) -> str:
        return f"http://{self.worker.address}"

    def ask(self, command: str, **how: bool) -> dict[str, Any]:
        """Ask for it, and return the command when it has ended."""
        response = self.worker("POST", f"/headrace/streams/{self.id}/commands", {"command": command, **how})
        assert response.status == 202, response.text
        command_id = response.json["id"]
        wait_until(lambda: self._command(command_id)["state"] in ("done", "failed"), WAIT_S, "an answer of the application")
        return self._command(command_id)

    def _command(self, command_id: str) -> dict[str, Any]:
        (application,) = self.worker("GET", "/headrace/streams").json["applications"]
        return next(command for command in application["commands"] if command["id"] == command_id)


@pytest.fixture
def waiting(destination: Cluster, topic_name: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Waiting]:
    monkeypatch.setattr(worker_report, "_WAITING_INTERVAL_S", 0.2)  # a command waits for the next report
    herder = MemoryHerder()
    server = RestServer(herder, worker_config())  # type: ignore[arg-type]
    server.start()
    words, name = topic_name("words"), topic_name("app")
    destination.create(words, 2)
    config = {
        "application.id": name, "bootstrap.servers": destination.bootstrap, "internal.topics.setup": "manual",
        "headrace.report.url": server.urls[0], "replication.factor": "1",
    }  # fmt: skip
    builder = StreamsBuilder()
    builder.stream(words, Consumed.with_(Serdes.string(), Serdes.string())).group_by_key().count()
    streams, stopping = KafkaStreams(builder.build(config), config), threading.Event()
    waits = threading.Thread(target=streams.await_initialization, kwargs={"stopping": stopping})
    waits.start()
    client = Client(server.urls[0])
    wait_until(lambda: client("GET", "/headrace/streams").json["applications"], WAIT_S, "a report")
    yield Waiting(name, streams, client, herder)
    stopping.set()
    waits.join(WAIT_S)
    streams.close()
    server.stop()


def test_an_application_that_waits_is_verified_and_initialized_by_its_worker(waiting: Waiting, destination: Cluster):
    verified = waiting.ask("verify")
    assert verified["state"] == "failed" and "Missing internal topics" in verified["message"]
    tried = waiting.ask("init", dry_run=True)
    (topic,) = tried["topics"]
    assert (tried["state"], tried["message"]) == ("done", "1 internal topic would be created.")
    assert destination.admin.describe(topic) is None
    assert waiting.ask("init")["topics"] == [topic]
    info = destination.admin.describe(topic)
    assert info is not None and len(info.partitions) == 2
    assert waiting.streams.await_initialization()
    assert "already exist" in waiting.ask("init")["message"]
    assert headrace("streams", "list", "--url", waiting.url).stdout.count(waiting.id) == 1
    result = headrace("streams", "ask", waiting.id, "verify", "--url", waiting.url, "--timeout", "100")
    assert (result.returncode, result.stdout) == (0, "All is well with 1 internal topics.\n")
    audit = [(entry["path"], entry["detail"], entry["status"]) for entry in waiting.herder.audit.last(10)]
    assert audit[:3] == [  # oldest first
        (f"/headrace/streams/{waiting.id}/commands", detail, 202) for detail in ("verify", "init, dry run", "init")
    ]  # fmt: skip


def test_what_is_no_command_is_refused_in_a_sentence(waiting: Waiting):
    commands = f"/headrace/streams/{waiting.id}/commands"
    response = waiting.worker("POST", commands, {"command": "drop"})
    assert (response.status, "command: " in response.message) == (400, True)
    assert waiting.worker("POST", commands, {"command": "init", "force": True}).status == 400
    missing = waiting.worker("POST", "/headrace/streams/none/commands", {"command": "verify"})
    assert (missing.status, "No application 'none'" in missing.message) == (404, True)


def test_a_command_that_is_handed_over_twice_is_run_once():
    class Refusing:
        """Counts how often it is asked."""

        asked = 0

        def init(self, *given: Any) -> Any:
            self.asked += 1
            raise StreamsError("init is possible only before start().")

        def describe_internal_topics(self) -> Any:
            raise AssertionError

    application, ended = Refusing(), threading.Event()
    runner = CommandRunner(application, ended.set)
    for _ in range(3):
        runner.submit([{"id": "1", "command": "init"}, "nonsense", {"command": "init"}])
    assert ended.wait(120)
    assert application.asked == 1
    (result,) = runner.results()
    assert (result["ok"], result["message"]) == (False, "init is possible only before start().")
