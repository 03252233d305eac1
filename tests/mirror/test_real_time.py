"""`stream.mode=realtime`: records are copied without a pause, and offsets stored meanwhile."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from pyspark.sql import SparkSession

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.mirror.mirror import Mirror
from tests.process import WorkerProcess, is_alive, worker_properties
from tests.support import wait_until

BYTES = {f"{part}.converter": "org.apache.kafka.connect.converters.ByteArrayConverter" for part in ("key", "value", "header")}
REAL_TIME = {"stream.mode": "realtime", **BYTES}
PARTITIONS = 3


def test_records_are_copied_as_they_come_and_offsets_follow(
    source: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str], events: list[MutableMapping[str, Any]]
) -> None:
    topic = topic_name("live")
    source.create(topic)
    one = mirror(topic, REAL_TIME)
    sent = [record(b"k%d" % n, b"%d" % n, [("h", b"x")], 1_700_000_000_000 + n) for n in range(100)]
    wait_until(lambda: one.destination.admin.describe(one.prefix + topic), CONNECTOR_S, "the topic is made before any record")
    assert one.destination.admin.topic_configs(one.prefix + topic)["retention.ms"] == "-1"
    source.produce(topic, sent)
    assert one.await_copied(topic, 100) == sent
    wait_until(lambda: one.offsets() == {f"{topic}:0": 99}, CONNECTOR_S, "the last offset, while the batch goes on for minutes")
    wait_until(lambda: one.topics() == {one.prefix + topic}, CONNECTOR_S, "the active topic")
    assert one.streams() == [{"mode": "realtime", "reason": "stream.mode=realtime"}]
    line = next(e for e in events if e["event"] == "task.stream-mode")
    assert (line["mode"], line["reason"]) == ("realtime", "stream.mode=realtime")
    one.put("stop")
    one.await_states("STOPPED")
    source.produce(topic, [record(b"later", b"x")])
    one.put("resume")
    assert one.await_copied(topic, 101)[-1].key == b"later"


def test_what_needs_more_task_slots_than_there_are_is_refused(
    source: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str], spark: SparkSession
) -> None:
    topic, slots = topic_name("wide"), spark.sparkContext.defaultParallelism
    source.create(topic, slots)
    one = mirror(topic, REAL_TIME)
    assert (
        f"stream.mode=realtime is not possible: each of its {slots} partitions holds a task slot of Spark, and there are "
    ) in one.trace()


def test_a_worker_killed_with_9_loses_no_record(
    source: Cluster, destination: Cluster, destination_broker: Broker, topic_name: Callable[[str], str], tmp_path: Path
) -> None:
    topic, name, group = topic_name("crash"), topic_name("mirror"), topic_name("live-worker")
    source.create(topic, PARTITIONS)
    config = {
        "connector.class": "KafkaSourceConnector", "source.bootstrap.servers": source.bootstrap, "tasks.max": "1",
        "source.topic.whitelist": topic, "destination.topics.prefix": f"{name}.", **REAL_TIME,
        "topic.creation.default.partitions": str(PARTITIONS), "topic.creation.default.replication.factor": "1",
    }  # fmt: skip
    properties = worker_properties(group, f"http://127.0.0.1:{free_port()}")
    properties |= {"bootstrap.servers": destination_broker.bootstrap, "spark.master": f"local[{PARTITIONS + 1}]"}
    copy, enough, sent = f"{name}.{topic}", threading.Event(), [0] * PARTITIONS

    def produce() -> None:
        producer = Producer({"bootstrap.servers": source.bootstrap, "enable.idempotence": True})
        while not enough.wait(0.002):
            partition = sum(sent) % PARTITIONS
            producer.produce(topic, b"%d" % sent[partition], partition=partition)
            sent[partition] += 1
            producer.poll(0)
        assert producer.flush(60) == 0

    def stored() -> dict[str, int]:
        entries = sorted(destination.read(f"{group}-offset"), key=lambda r: r.timestamp)
        return {json.loads(r.key)[1]["topic:partition"]: json.loads(r.value)["offset"] for r in entries if r.key and r.value}

    producing = threading.Thread(target=produce)
    producing.start()
    try:
        with WorkerProcess(tmp_path, properties) as first:
            first.await_ready().call("POST", "/connectors", {"name": name, "config": config})
            wait_until(lambda: len(stored()) == PARTITIONS, CONNECTOR_S, f"offsets are stored; {first.errors}")
            size = destination.size(copy)
            wait_until(lambda: destination.size(copy) > size + 300, CONNECTOR_S, f"more than that is copied; {first.errors}")
            children = first.children()
            first.kill()
            wait_until(lambda: not any(map(is_alive, children)), 10, "the worker's JVM ends with it")
        written, committed = destination.size(copy), sum(offset + 1 for offset in stored().values())
        assert 0 < committed < written
        with WorkerProcess(tmp_path, properties) as second:
            second.await_ready()
            wait_until(lambda: destination.size(copy) > written + 300, 2 * CONNECTOR_S, f"it goes on; {second.errors}")
            enough.set()
            producing.join()
            ends = {f"{topic}:{p}": sent[p] - 1 for p in range(PARTITIONS)}
            wait_until(lambda: stored() == ends, CONNECTOR_S, f"all is copied and stored; {second.errors}")
    finally:
        enough.set()
        producing.join()
    copied = destination.read(copy)
    for partition in range(PARTITIONS):
        want = [b"%d" % n for n in range(sent[partition])]
        assert list(dict.fromkeys(r.value for r in copied if r.partition == partition)) == want, "all there, in order"
    assert len(copied) - sum(sent) <= written - committed, "only what was not committed is there twice"
    assert max(Counter((r.partition, r.value) for r in copied).values()) <= 2
