"""Real-time mode: records are copied without a pause, and offsets stored meanwhile."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

import pytest

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror, offsets_in
from tests.process import WorkerProcess, is_alive, worker_properties
from tests.sending import Sender
from tests.support import seeds, wait_until

BYTES = {f"{part}.converter": "org.apache.kafka.connect.converters.ByteArrayConverter" for part in ("key", "value", "header")}
PARTITIONS, BACKLOG = 3, 20_000


def test_records_are_copied_as_they_come_and_offsets_follow(
    source: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str], events: list[MutableMapping[str, Any]]
) -> None:
    topic = topic_name("live")
    source.create(topic)
    one = mirror(topic, BYTES)
    sent = [record(b"k%d" % n, b"%d" % n, [("h", b"x")], 1_700_000_000_000 + n) for n in range(100)]
    one.await_states("RUNNING", "RUNNING")
    assert one.destination.admin.describe(one.prefix + topic) is None, "there is no record for it yet"
    source.produce(topic, sent)
    assert one.await_copied(topic, 100) == sent
    wait_until(lambda: one.offsets() == {f"{topic}:0": 99}, CONNECTOR_S, "the last offset")
    one.await_topics(one.prefix + topic)
    line = next(e for e in events if e["event"] == "task.stream-mode")
    assert (line["mode"], line["reason"]) == ("realtime", "the data plane copies record by record")
    assert one.streams() == [{"mode": "realtime", "reason": "the data plane copies record by record"}]
    one.put("stop")
    one.await_states("STOPPED")
    source.produce(topic, [record(b"later", b"x")])
    one.put("resume")
    copied = one.await_copied(topic, 101)
    assert (len(copied), copied[-1].key) == (101, b"later"), "nothing is copied again after a stop"


def kill(worker: WorkerProcess) -> None:
    """`kill -9` of a worker; returns when its JVM has ended, too."""
    children = worker.children()
    worker.kill()
    wait_until(lambda: not any(map(is_alive, children)), 180, "the worker's JVM ends with it")


@pytest.mark.parametrize("kills", seeds(2, 50))
def test_a_worker_killed_with_9_at_any_moment_loses_no_record(
    source: Cluster, destination: Cluster, destination_broker: Broker, topic_name: Callable[[str], str], tmp_path: Path,
    kills: int,
) -> None:  # fmt: skip
    topic, name, group, late = topic_name("crash"), topic_name("mirror"), topic_name("live-worker"), topic_name("late")
    source.create(topic, PARTITIONS)
    source.create(late)
    source.produce(late, [record()] * BACKLOG)
    config = {
        "connector.class": "KafkaSourceConnector", "source.bootstrap.servers": source.bootstrap, "tasks.max": "1",
        "source.topic.whitelist": f"{topic}|{late}", "destination.topics.prefix": f"{name}.", **BYTES,
        "topic.creation.default.partitions": str(PARTITIONS), "topic.creation.default.replication.factor": "1",
    }  # fmt: skip
    properties = worker_properties(group, f"http://127.0.0.1:{free_port()}")
    properties |= {"bootstrap.servers": destination_broker.bootstrap}
    copy = f"{name}.{topic}"

    def stored() -> dict[str, int]:
        return {p: offset for p, offset in offsets_in(destination, f"{group}-offset").items() if p.startswith(f"{topic}:")}

    def await_copied(size: int, worker: WorkerProcess) -> None:
        wait_until(lambda: destination.size(copy) >= size, 2 * CONNECTOR_S, lambda: f"{size} are copied; {worker.errors}")

    chance, written, committed = random.Random(kills), 0, 0
    with Sender(source.bootstrap, topic, PARTITIONS) as sender:
        for number in range(kills):
            with WorkerProcess(tmp_path, properties) as killed:
                killed.await_ready()
                if not number:
                    killed.call("POST", "/connectors", {"name": name, "config": config})
                    wait_until(lambda: len(stored()) == PARTITIONS, CONNECTOR_S, f"offsets are stored; {killed.errors}")
                    wait_until(lambda: destination.size(f"{name}.{late}") >= BACKLOG, CONNECTOR_S, "the other topic is copied")
                await_copied(destination.size(copy) + chance.randrange(2000), killed)  # 0: while it starts
                kill(killed)
            written, committed = destination.size(copy), sum(offset + 1 for offset in stored().values())
            assert 0 < committed <= written
        with WorkerProcess(tmp_path, properties) as last:
            last.await_ready()
            await_copied(written + 300, last)
            sender.stop()
            wait_until(lambda: stored() == sender.ends(), CONNECTOR_S, f"all is copied and stored; {last.errors}")
    copied = destination.read(copy)
    for partition in range(PARTITIONS):
        found = list(dict.fromkeys(r.value for r in copied if r.partition == partition))
        assert found == sender.values(partition), "all there, in order"
    assert len(copied) - sum(sender.counts) <= written - committed, "only what was not committed is there again"
    assert max(Counter((r.partition, r.value) for r in copied).values()) <= 1 + kills
