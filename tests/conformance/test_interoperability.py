"""Kafka Connect and headrace on the same three internal topics: each takes over from the other what it left."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.jvm.jars import classpath, wheel_jar
from headrace.jvm.java import find_java
from headrace.kafka.log import CompactedLog, LogRecord
from tests.clusters import Cluster
from tests.process import WorkerProcess, worker_properties
from tests.support import quick_java, wait_until

STRING = "org.apache.kafka.connect.storage.StringConverter"


class KafkaConnect:
    """A worker of Apache Kafka Connect 4.3 with these properties, as a process of its own."""

    def __init__(self, directory: Path, properties: dict[str, str]) -> None:
        self.url = properties["listeners"]
        file = directory / "connect.properties"
        own = {"plugin.discovery": "service_load", "offset.flush.interval.ms": "500"}
        file.write_text("".join(f"{key}={value}\n" for key, value in (properties | own).items()))
        log4j = [str(wheel_jar(name)) for name in ("log4j-api", "log4j-core", "log4j-1.2-api")]  # as in Kafka's distribution
        class_path = os.pathsep.join([classpath("peers"), *log4j])
        options = ["-Xmx512M", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", class_path]
        command = [str(find_java().program), *options, "org.apache.kafka.connect.cli.ConnectDistributed", str(file)]
        self.log = directory / "connect.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=quick_java())

    def call(self, method: str, path: str, body: object = None) -> Any:
        answer = httpx.request(method, self.url + path, json=body, timeout=100)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def ready(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            return httpx.get(self.url + "/health", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(180)


@pytest.fixture
def properties(source_broker: Broker, topic_name: Callable[[str], str]) -> dict[str, str]:
    own = {"bootstrap.servers": source_broker.bootstrap, "session.timeout.ms": "6000", "heartbeat.interval.ms": "1000"}
    converters = {"key.converter": STRING, "value.converter": STRING}
    return worker_properties(topic_name("both"), f"http://localhost:{free_port()}") | own | converters


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[KafkaConnect]]:
    """The workers of Kafka Connect that a test starts; they are ended after it."""
    found: list[KafkaConnect] = []
    yield found
    for one in found:
        one.process.kill()


def state(worker: Any, name: str) -> str:
    return worker.call("GET", f"/connectors/{name}/status")["connector"]["state"]


def running(worker: Any, name: str) -> bool:
    try:
        status = worker.call("GET", f"/connectors/{name}/status")
    except httpx.HTTPStatusError:
        return False
    states = [status["connector"]["state"], *(task["state"] for task in status["tasks"])]
    return states == ["RUNNING", "RUNNING"]


@pytest.fixture
def read_values(source_broker: Broker) -> Callable[[str, int], list[str]]:
    """Read the values of a topic of one partition; as many as there should be at least."""

    def read(topic: str, count: int) -> list[str]:
        seen: list[LogRecord] = []
        props = {"bootstrap.servers": source_broker.bootstrap}
        log = CompactedLog(topic, props, props, seen.append)
        log.start()
        wait_until(lambda: len(seen) >= count, 120, f"{count} records in {topic}")
        log.stop()
        return [(record.value or b"").decode() for record in seen]

    return read


def test_kafka_connect_takes_over_from_headrace_and_headrace_from_kafka_connect(
    properties: dict[str, str],
    tmp_path: Path,
    topic_name: Callable[[str], str],
    read_values: Callable[[str, int], list[str]],
    started: list[KafkaConnect],
    source: Cluster,
) -> None:
    topic, file = topic_name("lines"), tmp_path / "lines.txt"
    file.write_text("one\n")
    config = {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector", "file": str(file), "topic": topic,
        "topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1",
    }  # fmt: skip
    with WorkerProcess(tmp_path, properties) as ours:
        ours.await_ready()
        ours.call("POST", "/connectors", {"name": "lines", "config": config})
        ours.call("POST", "/connectors", {"name": "resting", "config": config, "initial_state": "STOPPED"})
        wait_until(lambda: ours.call("GET", "/connectors/lines/offsets")["offsets"], 180, "an offset is stored")
        ours.process.send_signal(signal.SIGTERM)
        ours.process.wait(180)
        assert read_values(topic, 1) == ["one"]
    source.await_empty_group(properties["group.id"])

    started.append(KafkaConnect(tmp_path, properties))
    theirs = started[-1]
    wait_until(theirs.ready, 180, "Kafka Connect answers")
    assert sorted(theirs.call("GET", "/connectors")) == ["lines", "resting"]
    assert theirs.call("GET", "/connectors/lines")["config"] == config | {"name": "lines"}
    # It was UNASSIGNED when the last worker ended, and Kafka Connect is healthy before it has read back its own status.
    wait_until(lambda: state(theirs, "resting") == "STOPPED", 180, "Kafka Connect has the other one stopped")
    assert theirs.call("GET", "/connectors/lines/topics") == {"lines": {"topics": [topic]}}
    assert theirs.call("GET", "/connectors/lines/offsets")["offsets"] == [
        {"partition": {"filename": str(file)}, "offset": {"position": 4}}
    ]
    wait_until(lambda: running(theirs, "lines"), 180, "Kafka Connect runs the connector")
    with file.open("a") as lines:
        lines.write("two\n")
    position = [{"partition": {"filename": str(file)}, "offset": {"position": 8}}]
    wait_until(lambda: theirs.call("GET", "/connectors/lines/offsets")["offsets"] == position, 180, "its offset is stored")
    theirs.call("PUT", "/connectors/resting/pause")
    theirs.stop()
    assert read_values(topic, 2) == ["one", "two"]

    with WorkerProcess(tmp_path, properties) as ours:
        ours.await_ready()
        assert ours.call("GET", "/connectors/lines/offsets")["offsets"] == position
        with file.open("a") as lines:
            lines.write("three\n")
        wait_until(lambda: ours.call("GET", "/connectors/lines/offsets")["offsets"] != position, 180, "headrace goes on")
        wait_until(lambda: state(ours, "resting") == "PAUSED", 180, "headrace has the other one paused")
    assert read_values(topic, 3) == ["one", "two", "three"]
