"""A worker as a process: how it ends, and what it says when it cannot start."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.embedded.ports import free_port
from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S, merged
from tests.process import WorkerProcess, is_alive, worker_properties
from tests.support import wait_until

pytestmark = pytest.mark.slow


def test_ctrl_c_ends_a_worker_in_good_order(destination: Cluster, topic_name: Callable[[str], str], tmp_path: Path) -> None:
    properties = worker_properties(topic_name("signal"), f"http://127.0.0.1:{free_port()}")
    with WorkerProcess(tmp_path, properties | {"bootstrap.servers": destination.bootstrap}) as worker:
        worker.await_ready()
        worker.process.send_signal(signal.SIGINT)
        assert worker.process.wait(180) == 0, worker.errors
        assert "worker.stopped" in worker.errors
        assert "Traceback" not in worker.errors


def test_sigterm_ends_a_worker_in_good_order_in_the_middle_of_a_mirror(
    source: Cluster, destination: Cluster, topic_name: Callable[[str], str], tmp_path: Path
) -> None:
    topic, group = topic_name("terminated"), topic_name("signal")
    source.create(topic)
    source.produce(topic, (record(None, b"%d" % n) for n in range(50_000)))
    config = {
        "connector.class": "KafkaSourceConnector", "source.bootstrap.servers": source.bootstrap, "source.topic.whitelist": topic,
        "destination.topics.prefix": f"{group}.", "batch.max.records": "2000", "topic.creation.default.partitions": "1",
        "topic.creation.default.replication.factor": "1",
    }  # fmt: skip
    properties = worker_properties(group, f"http://127.0.0.1:{free_port()}")
    with WorkerProcess(tmp_path, properties | {"bootstrap.servers": destination.bootstrap}) as worker:
        worker.await_ready().call("POST", "/connectors", {"name": "mirror", "config": config})
        wait_until(lambda: destination.size(f"{group}.{topic}") > 2000, CONNECTOR_S, f"some records; {worker.errors}")
        children = worker.children()
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.wait(180) == 0, worker.errors
        assert "worker.stopped" in worker.errors
        assert "Traceback" not in worker.errors
        wait_until(lambda: not any(map(is_alive, children)), 180, "the JVM has ended with its worker")
    status = {r.key: json.loads(r.value) for r in destination.read(f"{group}-status") if r.value and r.key}
    states = {value["state"] for value in status.values() if "state" in value}
    assert states == {"UNASSIGNED"}  # another worker sees that nobody runs it


def refused(tmp_path: Path, properties: dict[str, str]) -> str:
    """Start a worker that cannot run; returns the sentence that it ends with."""
    with WorkerProcess(tmp_path, properties) as worker:
        assert worker.process.wait(300) == 1, worker.errors
        assert "Traceback" not in worker.errors
        return worker.errors.strip().splitlines()[-1]


def test_a_rest_port_in_use_is_one_sentence(destination: Cluster, topic_name: Callable[[str], str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        properties = worker_properties(topic_name("taken"), f"http://127.0.0.1:{port}")
        sentence = refused(tmp_path, properties | {"bootstrap.servers": destination.bootstrap})
    assert sentence.startswith("error: ")
    assert str(port) in sentence
    assert "in use" in sentence


def test_a_cluster_that_does_not_answer_is_one_sentence(topic_name: Callable[[str], str], tmp_path: Path) -> None:
    nobody = f"127.0.0.1:{free_port()}"
    properties = worker_properties(topic_name("nobody"), f"http://127.0.0.1:{free_port()}")
    sentence = refused(tmp_path, properties | {"bootstrap.servers": nobody, "default.api.timeout.ms": "2000"})
    assert sentence.startswith(f"error: Could not reach the Kafka cluster at '{nobody}' within 2 s")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"key.converter": None}, 'error: Missing required configuration "key.converter" which has no default value.'),
        ({"group.id": ""}, "error: Invalid value  for configuration group.id: String must be non-empty"),
    ],
)
def test_a_bad_setting_is_one_sentence(change: dict[str, str | None], sentence: str, tmp_path: Path) -> None:
    properties = worker_properties("bad", f"http://127.0.0.1:{free_port()}") | {"bootstrap.servers": f"127.0.0.1:{free_port()}"}
    assert refused(tmp_path, merged(properties, change)).startswith(sentence)
