"""A worker whose tasks run on a Spark cluster: executors in processes of their own, as a standalone master starts them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from tests.clusters import Cluster, Sent, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import offsets_in
from tests.kafka_source.test_transforms import SCHEMALESS, T
from tests.process import WorkerProcess, children, is_alive, parent, worker_properties
from tests.support import QUICK_JVM, seeds, wait_until

PARTITIONS, EACH, MORE = 4, 25, 20_000
CHAIN = {
    "transforms": "cast,from", "transforms.cast.type": T + "Cast$Value", "transforms.cast.spec": "n:int32",
    "transforms.from.type": T + "InsertField$Value", "transforms.from.static.field": "from", "transforms.from.static.value": "x",
}  # fmt: skip
TOLERANT = {
    "errors.tolerance": "all", "errors.deadletterqueue.topic.replication.factor": "1",
    "errors.deadletterqueue.context.headers.enable": "true",
}  # fmt: skip


def executors(pid: int) -> list[int]:
    """The processes of executors below this one."""
    found = []
    for child in children(pid):
        found += executors(child)
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            if "CoarseGrainedExecutorBackend" in Path(f"/proc/{child}/cmdline").read_text():
                found.append(child)
    return found


def numbered(n: int) -> Sent:
    return record(b"k", b'{"n":"%d"}' % n, [("h", b"%d" % n)], 1_700_000_000_000 + n, partition=n % PARTITIONS)


@pytest.mark.parametrize("delivery", seeds("disabled", "enabled"))
def test_executors_read_change_and_write_the_records_also_after_their_driver_was_killed(
    source: Cluster, destination: Cluster, destination_broker: Broker, topic_name: Callable[[str], str], tmp_path: Path,
    delivery: str,
) -> None:  # fmt: skip
    topic, name, group, dead = topic_name("spread"), topic_name("mirror"), topic_name("cluster"), topic_name("dead")
    source.create(topic, PARTITIONS)
    sent = [numbered(n) for n in range(PARTITIONS * EACH)]
    source.produce(topic, [*sent, record(b"bad", b'{"n":"x"}', partition=0)])
    config: dict[str, Any] = {
        "connector.class": "KafkaSourceConnector", "source.bootstrap.servers": source.bootstrap, "tasks.max": "2",
        "source.topic.whitelist": topic, "destination.topics.prefix": f"{name}.", **SCHEMALESS, **CHAIN, **TOLERANT,
        "errors.deadletterqueue.topic.name": dead,
        "topic.creation.default.partitions": str(PARTITIONS), "topic.creation.default.replication.factor": "1",
    }  # fmt: skip
    properties = worker_properties(group, f"http://127.0.0.1:{free_port()}") | {
        "bootstrap.servers": destination_broker.bootstrap, "exactly.once.source.support": delivery,
        "spark.master": "local-cluster[2,1,1024]", "spark.executor.memory": "1024m", "spark.executor.extraJavaOptions": QUICK_JVM,
    }  # fmt: skip
    copy = f"{name}.{topic}"
    with WorkerProcess(tmp_path, properties) as worker:
        worker.await_ready().call("POST", "/connectors", {"name": name, "config": config})
        wait_until(lambda: destination.read(dead), CONNECTOR_S, lambda: f"the bad record is put aside; {worker.errors}")
        ends = {f"{topic}:{p}": EACH - (p > 0) for p in range(PARTITIONS)}
        wait_until(lambda: offsets_in(destination, f"{group}-offset") == ends, CONNECTOR_S, lambda: f"offsets; {worker.errors}")
        found = lambda: pids if len(pids := executors(worker.process.pid)) == 2 else []  # noqa: E731
        workers = wait_until(found, CONNECTOR_S, "both executors")
        status = worker.call("GET", f"/connectors/{name}/status")
        size, more = destination.size(copy), [numbered(n) for n in range(len(sent), len(sent) + MORE)]
        source.produce(topic, more)
        wait_until(lambda: destination.size(copy) > size, CONNECTOR_S, lambda: f"it copies them; {worker.errors}")
        worker.kill()
        wait_until(lambda: not any(map(is_alive, workers)), 180, "executors end with their worker")
    assert [task["state"] for task in status["tasks"]] == ["RUNNING", "RUNNING"], status
    with WorkerProcess(tmp_path, properties) as successor:
        successor.await_ready()
        ends = {partition: end + MORE // PARTITIONS for partition, end in ends.items()}
        wait_until(lambda: offsets_in(destination, f"{group}-offset") == ends, 2 * CONNECTOR_S, lambda: successor.errors)
    copied = destination.read(copy, settled=True)
    for partition in range(PARTITIONS):
        found = [(json.loads(r.value or b""), r.headers, r.timestamp) for r in copied if r.partition == partition]
        wanted = [s for s in [*sent, *more] if s.partition == partition]
        if delivery == "disabled":  # what the killed one had not committed is there again
            found = list({value["n"]: (value, *rest) for value, *rest in found}.values())
        assert found == [({"n": partition + PARTITIONS * at, "from": "x"}, s.headers, s.timestamp) for at, s in enumerate(wanted)]
    (buried,) = destination.read(dead)
    assert (buried.key, buried.value) == (b"bad", b'{"n":"x"}')
    assert ("__connect.errors.offset", str(EACH).encode()) in [(key, value) for key, value in buried.headers]


def test_what_a_killed_executor_has_committed_and_not_told_is_not_copied_again(
    source: Cluster, destination: Cluster, destination_broker: Broker, topic_name: Callable[[str], str], tmp_path: Path
) -> None:
    topic, name, group = topic_name("told"), topic_name("mirror"), topic_name("cluster")
    source.create(topic)
    source.produce(topic, [record(value=b"told")])
    config: dict[str, Any] = {
        "connector.class": "KafkaSourceConnector", "source.bootstrap.servers": source.bootstrap,
        "source.topic.whitelist": topic, "destination.topics.prefix": f"{name}.",
        "topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1",
        "transaction.boundary": "interval", "transaction.boundary.interval.ms": "2000",
    }  # fmt: skip
    properties = worker_properties(group, f"http://127.0.0.1:{free_port()}") | {
        "bootstrap.servers": destination_broker.bootstrap, "exactly.once.source.support": "enabled",
        "spark.master": "local-cluster[1,2,1024]", "spark.executor.memory": "1024m", "spark.executor.extraJavaOptions": QUICK_JVM,
    }  # fmt: skip
    copy, offsets = f"{name}.{topic}", f"{group}-offset"

    def await_offset(offset: int) -> None:
        wait_until(lambda: offsets_in(destination, offsets) == {f"{topic}:0": offset}, CONNECTOR_S, lambda: worker.errors)

    with WorkerProcess(tmp_path, properties) as worker:
        worker.await_ready().call("POST", "/connectors", {"name": name, "config": config})
        await_offset(0)
        (executor,) = executors(worker.process.pid)
        driver = parent(Path(f"/proc/{executor}/stat"))
        assert driver is not None
        os.kill(driver, signal.SIGSTOP)  # nothing that the executor does from here on is told to it
        try:
            source.produce(topic, [record(value=b"%d" % n) for n in range(9)])
            await_offset(9)
            os.kill(executor, signal.SIGKILL)
        finally:
            os.kill(driver, signal.SIGCONT)
        source.produce(topic, [record(value=b"after")])
        await_offset(10)
    values = [r.value for r in destination.read(copy, settled=True)]
    assert values == [b"told", *(b"%d" % n for n in range(9)), b"after"]
