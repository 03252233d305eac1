"""`kill -9` of the worker in the middle of a large mirror: nothing is lost, and nothing begins again from the beginning."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.process import WorkerProcess, is_alive, worker_properties
from tests.support import wait_until

COUNT, PARTITIONS, BATCH = 150_000, 3, 15_000


def test_a_killed_worker_loses_no_record_and_its_successor_goes_on_from_the_stored_offsets(
    source: Cluster, destination: Cluster, destination_broker: Broker, topic_name: Callable[[str], str], tmp_path: Path
) -> None:
    topic, name, group = topic_name("crash"), topic_name("mirror"), topic_name("crash-worker")
    source.create(topic, PARTITIONS)
    source.produce(topic, (record(None, b"%d" % n, partition=n % PARTITIONS) for n in range(COUNT)))
    config = {
        "connector.class": "KafkaSourceConnector", "source.bootstrap.servers": source.bootstrap, "tasks.max": "1",
        "source.topic.whitelist": topic, "destination.topics.prefix": f"{name}.", "batch.max.records": str(BATCH),
        "topic.creation.default.partitions": str(PARTITIONS), "topic.creation.default.replication.factor": "1",
    }  # fmt: skip
    properties = worker_properties(group, f"http://127.0.0.1:{free_port()}") | {"bootstrap.servers": destination_broker.bootstrap}
    copy = f"{name}.{topic}"

    with WorkerProcess(tmp_path, properties) as first:
        first.await_ready().call("POST", "/connectors", {"name": name, "config": config})
        wait_until(lambda: destination.size(copy) > 3 * BATCH, CONNECTOR_S, f"some batches; {first.errors}")
        children = first.children()
        first.kill()
        wait_until(lambda: not any(map(is_alive, children)), 10, "the worker's JVM ends with it")
    written = destination.size(copy)
    assert written < COUNT, "the worker was faster than the test: make COUNT larger"
    stored = {
        json.loads(r.key)[1]["topic:partition"]: json.loads(r.value)["offset"]
        for r in sorted(destination.read(f"{group}-offset"), key=lambda r: r.timestamp)
        if r.key and r.value
    }
    assert stored
    committed = sum(offset + 1 for offset in stored.values())

    with WorkerProcess(tmp_path, properties) as second:
        second.await_ready()
        path = f"/connectors/{name}/offsets"

        def ends() -> list[int]:
            return sorted(o["offset"]["offset"] for o in second.call("GET", path)["offsets"])

        end = COUNT // PARTITIONS - 1
        wait_until(lambda: ends() == [end] * PARTITIONS, 2 * CONNECTOR_S, f"all is copied; {second.errors}")

    copied = destination.read(copy)
    for partition in range(PARTITIONS):
        sent = [b"%d" % n for n in range(partition, COUNT, PARTITIONS)]
        assert list(dict.fromkeys(r.value for r in copied if r.partition == partition)) == sent, "all there, in order"
    assert len(copied) - written <= COUNT - committed, "the second worker copied what was not committed, and no more"
    assert max(Counter(r.value for r in copied).values()) <= 2
