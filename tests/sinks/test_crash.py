"""`kill -9` of the worker while a sink delivers: nothing is lost, and nothing begins again from the beginning."""

from __future__ import annotations

import itertools
import threading
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

BATCH = 2_000


def test_a_killed_worker_loses_no_record_of_a_sink(
    cluster: Cluster, destination_broker: Broker, topic_name: Callable[[str], str], tmp_path: Path, file: Path
) -> None:
    topic, name, group = topic_name("crash"), topic_name("sink"), topic_name("crash-worker")
    cluster.create(topic)
    config = {
        "connector.class": "FileStreamSink", "topics": topic, "file": str(file),
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }  # fmt: skip
    sent, is_dead = itertools.count(), threading.Event()

    def produce() -> None:
        last = False
        while not last:
            last = is_dead.is_set()  # a batch that the first worker cannot have seen
            cluster.produce(topic, [record(None, b"%d" % n) for n in itertools.islice(sent, BATCH)])

    properties = worker_properties(group, f"http://127.0.0.1:{free_port()}") | {"bootstrap.servers": destination_broker.bootstrap}

    def committed() -> int:
        return cluster.admin.committed(f"connect-{name}", partitions=[(topic, 0)]).get((topic, 0), 0)

    producing = threading.Thread(target=produce)
    with WorkerProcess(tmp_path, properties) as first:
        producing.start()
        first.await_ready().call("POST", "/connectors", {"name": name, "config": config})
        wait_until(lambda: committed() >= BATCH, CONNECTOR_S, f"a batch; {first.errors}")
        children = first.children()
        first.kill()
        wait_until(lambda: not any(map(is_alive, children)), 180, "the worker's JVM ends with it")
    is_dead.set()
    producing.join()
    before, end, count = committed(), len(lines(file)), next(sent)
    with EmbeddedWorker(destination_broker.bootstrap, properties):  # whose Spark is there
        wait_until(lambda: committed() == count, 2 * CONNECTOR_S, "all is written")
    written = lines(file)
    assert list(dict.fromkeys(written)) == [str(n) for n in range(count)], "all there, in order"
    assert len(written) - end <= count - before, "the second worker wrote what was not committed, and no more"
