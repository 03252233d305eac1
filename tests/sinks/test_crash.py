"""`kill -9` of the worker while a sink delivers: nothing is lost, and nothing begins again from the beginning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.process import WorkerProcess, is_alive, worker_properties
from tests.sinks.sink import lines
from tests.support import wait_until

COUNT, BATCH = 30_000, 2_000


def test_a_killed_worker_loses_no_record_of_a_sink(
    cluster: Cluster, destination_broker: Broker, topic_name: Callable[[str], str], tmp_path: Path, file: Path
) -> None:
    topic, name, group = topic_name("crash"), topic_name("sink"), topic_name("crash-worker")
    cluster.create(topic)
    cluster.produce(topic, (record(None, b"%d" % n) for n in range(COUNT)))
    config = {
        "connector.class": "FileStreamSink", "topics": topic, "file": str(file), "consumer.override.max.poll.records": str(BATCH),
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }  # fmt: skip
    properties = worker_properties(group, f"http://127.0.0.1:{free_port()}") | {"bootstrap.servers": destination_broker.bootstrap}

    def committed() -> int:
        return cluster.admin.committed(f"connect-{name}", partitions=[(topic, 0)]).get((topic, 0), 0)

    with WorkerProcess(tmp_path, properties) as first:
        first.await_ready().call("POST", "/connectors", {"name": name, "config": config})
        wait_until(lambda: committed() >= BATCH, CONNECTOR_S, f"a batch; {first.errors}")
        children = first.children()
        first.kill()
        wait_until(lambda: not any(map(is_alive, children)), 60, "the worker's JVM ends with it")
    before, end = committed(), len(lines(file))
    assert before < COUNT, "the worker was faster than the test: make COUNT larger"
    with EmbeddedWorker(destination_broker.bootstrap, properties):  # whose Spark is there
        wait_until(lambda: committed() == COUNT, 2 * CONNECTOR_S, "all is written")
    written = lines(file)
    assert list(dict.fromkeys(written)) == [str(n) for n in range(COUNT)], "all there, in order"
    assert len(written) - end <= COUNT - before, "the second worker wrote what was not committed, and no more"
