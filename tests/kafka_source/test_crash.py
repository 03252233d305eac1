"""`kill -9` of a worker in the middle of a mirror: nothing is lost, and nothing begins again from the beginning."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headrace.embedded.ports import free_port
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, Sent, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import offsets_in
from tests.process import WorkerProcess, is_alive, worker_properties
from tests.support import wait_until

PARTITIONS = 3
CHUNK, PAUSE_S = 1000 * PARTITIONS, 0.1


def write(source: Cluster, topic: str, stopping: threading.Event) -> int:
    """Write numbers to a topic until told to stop, so that its mirror is always in the middle; returns how many."""
    count = 0
    while not stopping.wait(PAUSE_S):
        source.produce(topic, (record(None, b"%d" % n, partition=n % PARTITIONS) for n in range(count, count + CHUNK)))
        count += CHUNK
    return count


@dataclass(frozen=True)
class Crash:
    """Of a dead worker: records of the source, those that it had copied, those that were stored as such; the copy in the end."""

    count: int
    written: int
    committed: int
    copied: list[Sent]

    def values(self, partition: int) -> list[bytes | None]:
        return [r.value for r in self.copied if r.partition == partition]

    def sent(self, partition: int) -> list[bytes]:
        """The values of a partition of the source."""
        return [b"%d" % n for n in range(partition, self.count, PARTITIONS)]


@pytest.fixture
def crash(
    source: Cluster, destination: Cluster, topic_name: Callable[[str], str], tmp_path: Path, spark: SparkSession
) -> Callable[[dict[str, str], dict[str, str]], Crash]:
    """Kills a worker with these settings, and a connector with these, while it copies, and has another one go on."""

    def crashed(worker: dict[str, str], connector: dict[str, str]) -> Crash:
        topic, name, group = topic_name("crash"), topic_name("mirror"), topic_name("crash-worker")
        source.create(topic, PARTITIONS)
        config = {
            "connector.class": "KafkaSourceConnector", "source.bootstrap.servers": source.bootstrap, "tasks.max": "1",
            "source.topic.whitelist": topic, "destination.topics.prefix": f"{name}.",
            "topic.creation.default.partitions": str(PARTITIONS), "topic.creation.default.replication.factor": "1", **connector,
        }  # fmt: skip
        properties = worker_properties(group, f"http://127.0.0.1:{free_port()}") | worker
        copy = f"{name}.{topic}"

        def stored() -> int:
            return sum(offset + 1 for offset in offsets_in(destination, f"{group}-offset").values())

        stopping = threading.Event()
        with (
            ThreadPoolExecutor(1) as pool,
            WorkerProcess(tmp_path, properties | {"bootstrap.servers": destination.bootstrap}) as first,
        ):
            first.await_ready().call("POST", "/connectors", {"name": name, "config": config})
            writing = pool.submit(write, source, topic, stopping)
            try:
                wait_until(lambda: stored() > CHUNK, CONNECTOR_S, f"offsets are stored; {first.errors}")
                children = first.children()
                first.kill()
            finally:
                stopping.set()
            count = writing.result()
            wait_until(lambda: not any(map(is_alive, children)), 180, "the worker's JVM ends with it")
        written, committed = destination.size(copy), stored()
        with EmbeddedWorker(destination.bootstrap, properties) as second:  # whose Spark is there

            def ends() -> list[int]:
                return sorted(o["offset"]["offset"] for o in second.call("GET", f"/connectors/{name}/offsets")["offsets"])

            wait_until(lambda: ends() == [count // PARTITIONS - 1] * PARTITIONS, 2 * CONNECTOR_S, "all is copied")
        return Crash(count, written, committed, destination.read(copy, settled=True))

    return crashed


def test_a_killed_worker_loses_no_record_and_its_successor_goes_on_from_the_stored_offsets(
    crash: Callable[[dict[str, str], dict[str, str]], Crash],
) -> None:
    after = crash({}, {})
    for partition in range(PARTITIONS):
        assert list(dict.fromkeys(after.values(partition))) == after.sent(partition), "all there, in order"
    assert after.committed, "the successor had something to continue from"
    assert len(after.copied) - after.written <= after.count - after.committed, "what was not committed is copied, and no more"
    assert max(Counter(r.value for r in after.copied).values()) <= 2


def test_a_killed_worker_that_delivers_exactly_once_leaves_nothing_twice_and_nothing_out(
    crash: Callable[[dict[str, str], dict[str, str]], Crash],
) -> None:
    after = crash({"exactly.once.source.support": "enabled"}, {"exactly.once.support": "required"})
    for partition in range(PARTITIONS):  # committed records only, as Kafka's consumers read them if they are told to
        assert after.values(partition) == after.sent(partition), "each once, in order"
