from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.cli.command import headrace, running
from tests.support import wait_until

pytestmark = pytest.mark.slow


def bootstrap(line: str) -> dict[str, str | int | float | bool]:
    """The settings of a client, from the line that `headrace broker` prints."""
    name, _, address = line.partition("=")
    assert name == "bootstrap.servers"
    return {name: address}


def partitions(admin: AdminClient, topic: str) -> int:
    """How many partitions a topic is shown with."""
    return len(admin.list_topics(topic, timeout=60).topics[topic].partitions)


def test_topics_of_an_earlier_run_are_there_again(tmp_path: Path):
    data = tmp_path / "data"
    with running("broker", "--port", "0", "--data", str(data)) as broker:
        admin = AdminClient(bootstrap(broker.line()))
        admin.create_topics([NewTopic("lasting", 3, 1)])["lasting"].result(180)
        assert broker.end(signal.SIGINT) == 0
    with running("broker", "--port", "0", "--data", str(data), "--set", "num.partitions=5") as broker:
        admin = AdminClient(bootstrap(broker.line()))
        assert partitions(admin, "lasting") == 3
        admin.create_topics([NewTopic("by-default", -1, 1)])["by-default"].result(180)
        wait_until(lambda: partitions(admin, "by-default") == 5, 120, "the partitions of by-default")
        assert broker.end(signal.SIGTERM) == 0


def test_a_broker_that_ends_by_itself_ends_the_command(tmp_path: Path):
    with running("broker", "--port", "0", "--data", str(tmp_path)) as broker:
        assert broker.line().startswith("bootstrap.servers=127.0.0.1:")
        kafka = [int(pid) for pid in children(broker.process.pid)]
        assert len(kafka) == 1
        os.kill(kafka[0], signal.SIGKILL)
        assert broker.process.wait(120) == 1


def children(pid: int) -> list[str]:
    """The ids of the processes that any thread of a process started."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [child for thread in threads for child in (thread / "children").read_text().split()]


@pytest.mark.parametrize("command", ["broker", "dev"])
def test_a_port_in_use_is_one_sentence_and_status_1(command: str):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = headrace(command, "--port", str(port))
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.splitlines()[-1] == (
        f"error: Kafka (broker) cannot listen on port {port} of 127.0.0.1: it is in use; stop what uses it, or give another port."
    )


def test_a_data_directory_that_cannot_be_made_is_one_sentence_and_status_1(tmp_path: Path):
    (tmp_path / "file").touch()
    answer = headrace("broker", "--port", "0", "--data", str(tmp_path / "file" / "data"))
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr == f"error: The data directory {tmp_path}/file/data cannot be used: Not a directory.\n"


def test_a_setting_that_kafka_refuses_is_one_sentence_and_status_1():
    answer = headrace("broker", "--port", "0", "--set", "log.retention.ms=soon")
    assert answer.returncode == 1
    assert answer.stderr.splitlines()[-1] == (
        "error: Kafka (broker) ended with status 1: "
        "Invalid value soon for configuration log.retention.ms: Not a number of type LONG."
    )
