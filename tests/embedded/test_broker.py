from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.errors import SetupError
from tests.process import is_alive
from tests.support import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker on a directory that outlives it."""
    with Broker(data=tmp_path_factory.mktemp("kept") / "data", name="kept") as broker:
        yield broker


def create_topic(broker: Broker, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(name, 1, 1)])[name].result(180)


def topics(broker: Broker) -> set[str]:
    return set(AdminClient({"bootstrap.servers": broker.bootstrap}).list_topics(timeout=60).topics)


def write(broker: Broker, topic: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "acks": "all"})
    producer.produce(topic, value)
    assert producer.flush(60) == 0


def read(broker: Broker, topic: str, count: int) -> list[bytes | None]:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "reader"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    values = [message.value() for message in consumer.consume(count, timeout=60)]
    consumer.close()
    return values


def test_it_listens_on_loopback_only(kept: Broker):
    assert kept.pid
    inodes = set()
    for file in Path(f"/proc/{kept.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            inodes.add(str(file.readlink()))
    rows = [row.split() for table in ("tcp", "tcp6") for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]]
    listening = {row[1].rpartition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in inodes}
    # 127.0.0.1 as IPv4, and as the IPv6-mapped address that Java listens on
    assert listening <= {"0100007F", "0000000000000000FFFF00000100007F"}
    assert listening


def test_topics_are_not_created_by_asking_for_them(kept: Broker):
    AdminClient({"bootstrap.servers": kept.bootstrap}).list_topics("mistyped", timeout=60)
    assert "mistyped" not in topics(kept)


def test_a_scratch_broker_takes_settings_and_leaves_nothing():
    with Broker(settings={"message.max.bytes": "2000000", "sasl.kerberos.kinit.cmd": "C:\\a b=ü"}) as broker:
        data, node = broker.data, ConfigResource(ResourceType.BROKER, "1")
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        config = admin.describe_configs([node])[node].result(180)
        assert config["message.max.bytes"].value == "2000000"
        assert config["sasl.kerberos.kinit.cmd"].value == "C:\\a b=ü"
        assert data.is_dir()
    assert not data.exists()


def test_records_survive_kill_and_restart(kept: Broker):
    create_topic(kept, "lasting")
    write(kept, "lasting", b"before the kill")
    before, cluster = kept.pid, kept.cluster_id
    kept.kill()
    kept.start()
    write(kept, "lasting", b"after the kill")
    kept.restart()
    assert read(kept, "lasting", 2) == [b"before the kill", b"after the kill"]
    assert kept.pid != before
    assert kept.cluster_id == cluster


def test_a_second_broker_on_the_same_data_takes_it_up(kept: Broker):
    create_topic(kept, "inherited")
    kept.stop()
    try:
        with Broker(data=kept.data) as heir:
            assert "inherited" in topics(heir)
            assert heir.cluster_id == kept.cluster_id
    finally:
        kept.start()


def test_start_of_a_running_broker_changes_nothing(kept: Broker):
    before = kept.pid
    kept.start()
    assert kept.pid == before


def test_a_port_in_use_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SetupError) as caught:
            Broker(port).start()
    assert str(caught.value) == (
        f"Kafka (broker) cannot listen on port {port} of 127.0.0.1: it is in use; stop what uses it, or give another port."
    )


def test_a_port_taken_at_the_last_moment_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port, controller = taken.getsockname()[1], free_port()
        listeners = {"listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}"}
        listeners["controller.quorum.voters"] = f"1@127.0.0.1:{controller}"
        with pytest.raises(SetupError) as caught:
            Broker(settings=listeners).start()
    assert str(caught.value) == (
        f"Kafka (broker) ended with status 1: it cannot listen on 127.0.0.1:{port}: Address already in use."
    )


def test_a_directory_below_a_file_is_named(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(SetupError) as caught:
        Broker(data=tmp_path / "file" / "data").start()
    assert str(caught.value) == f"The data directory {tmp_path}/file/data cannot be used: Not a directory."


def test_a_file_in_the_place_of_its_own_is_named(tmp_path: Path):
    (tmp_path / "server.properties").mkdir()
    with pytest.raises(SetupError) as caught:
        Broker(data=tmp_path).start()
    assert str(caught.value) == f"The data directory {tmp_path} cannot be used: Is a directory."


def test_a_directory_with_other_things_is_left_alone(tmp_path: Path):
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(SetupError) as caught:
        Broker(data=tmp_path).start()
    assert str(caught.value) == (
        f"The data directory {tmp_path} has other files, such as thesis.txt; "
        "give an empty one, or one that an embedded broker has created."
    )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_log_directory_of_another_cluster_is_left_alone(tmp_path: Path):
    (tmp_path / "meta.properties").write_text("#\nnode.id=7\nversion=1\ncluster.id=abc\n")
    with pytest.raises(SetupError) as caught:
        Broker(data=tmp_path).start()
    assert str(caught.value) == (
        f"The data directory {tmp_path} belongs to another cluster: "
        "node 7 of cluster abc keeps its log there; give another directory."
    )


def test_data_of_another_node_is_left_alone(tmp_path: Path):
    (tmp_path / "kafka").mkdir()
    (tmp_path / "kafka" / "meta.properties").write_text("node.id=7\nversion=1\ncluster.id=abc\n")
    with pytest.raises(SetupError) as caught:
        Broker(data=tmp_path).start()
    assert str(caught.value) == (
        f"The data directory {tmp_path} belongs to another cluster: it holds the data of node 7 of cluster abc, "
        "and this is node 1; give another directory."
    )


def test_data_that_a_running_broker_uses_is_left_alone(kept: Broker):
    with pytest.raises(SetupError) as caught:
        Broker(data=kept.data).start()
    assert str(caught.value) == (
        f"The data directory {kept.data} is in use by another broker; stop it, or give another directory."
    )
    assert kept.pid


def test_a_setting_that_kafka_refuses_is_named():
    broker = Broker(settings={"num.partitions": "many"})
    with pytest.raises(SetupError) as caught:
        broker.start()
    assert str(caught.value) == (
        "Kafka (broker) ended with status 1: Invalid value many for configuration num.partitions: Not a number of type INT."
    )


def test_an_end_of_its_own_is_noticed(kept: Broker):
    kept.check()
    assert kept.pid
    os.kill(kept.pid, signal.SIGKILL)
    wait_until(lambda: kept.pid is None, 180, "the end of the process")
    try:
        with pytest.raises(SetupError, match=r"^Kafka \(kept\) ended with status -9: "):
            kept.check()
    finally:
        kept.start()


def test_it_outlives_the_thread_that_started_it(kept: Broker):
    starter = threading.Thread(target=kept.restart)
    starter.start()
    starter.join(240)
    assert not starter.is_alive()
    kept.check()
    create_topic(kept, "still-there")


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_it_dies_with_the_process_that_started_it(tmp_path: Path, end: signal.Signals):
    program = "import sys, pathlib, headrace.embedded as e; b = e.Broker(data=pathlib.Path(sys.argv[1])).start(); " + (
        "print(b.pid, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        assert is_alive(child)
        parent.send_signal(end)
        parent.wait(120)
    wait_until(lambda: not is_alive(child), 180, "the end of the broker")
