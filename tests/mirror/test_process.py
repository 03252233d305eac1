"""A worker as a process: how it ends, and what it says when it cannot start."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from tests.mirror.process import WorkerProcess, worker_properties


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_worker_in_good_order(
    number: signal.Signals, destination_broker: Broker, topic_name: Callable[[str], str], tmp_path: Path
) -> None:
    properties = worker_properties(topic_name("signal"), f"http://127.0.0.1:{free_port()}")
    with WorkerProcess(tmp_path, properties | {"bootstrap.servers": destination_broker.bootstrap}) as worker:
        worker.await_ready()
        worker.process.send_signal(number)
        assert worker.process.wait(60) == 0, worker.errors
        assert "worker.stopped" in worker.errors
        assert "Traceback" not in worker.errors


def refused(tmp_path: Path, properties: dict[str, str]) -> str:
    """Start a worker that cannot run; returns the sentence that it ends with."""
    with WorkerProcess(tmp_path, properties) as worker:
        assert worker.process.wait(120) == 1, worker.errors
        assert "Traceback" not in worker.errors
        return worker.errors.strip().splitlines()[-1]


def test_a_rest_port_in_use_is_one_sentence(destination_broker: Broker, topic_name: Callable[[str], str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        properties = worker_properties(topic_name("taken"), f"http://127.0.0.1:{port}")
        sentence = refused(tmp_path, properties | {"bootstrap.servers": destination_broker.bootstrap})
    assert sentence.startswith("error: ")
    assert str(port) in sentence
    assert "in use" in sentence


def test_a_cluster_that_does_not_answer_is_one_sentence(topic_name: Callable[[str], str], tmp_path: Path) -> None:
    nobody = f"127.0.0.1:{free_port()}"
    properties = worker_properties(topic_name("nobody"), f"http://127.0.0.1:{free_port()}")
    sentence = refused(tmp_path, properties | {"bootstrap.servers": nobody})
    assert sentence.startswith("error: ")
    assert f"Could not reach the Kafka cluster at '{nobody}'" in sentence


def test_a_missing_setting_is_one_sentence(destination_broker: Broker, tmp_path: Path) -> None:
    sentence = refused(tmp_path, {"bootstrap.servers": destination_broker.bootstrap})
    assert sentence.startswith('error: Missing required configuration "')
