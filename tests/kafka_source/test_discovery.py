"""Topics and partitions that come and go in the source cluster while a mirror runs."""

from __future__ import annotations

import time
from collections.abc import Callable, MutableMapping
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewPartitions

from headrace.connectors.base import StoredOffsets, TaskContext
from headrace.connectors.kafka_source.assignment import NO_LEADER, TASK_PARTITIONS, LeaderTopicPartition, encode
from headrace.connectors.kafka_source.task import KafkaSourceTask
from headrace.kafka.groups import Partition
from tests.clusters import Cluster, Sent, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror
from tests.support import wait_until

Make = Callable[..., Mirror]
Name = Callable[[str], str]
Events = list[MutableMapping[str, Any]]

NEVER = {"topic.list.poll.interval.ms": "3600000"}


def values(count: int, first: int = 0, partition: int = 0) -> list[Sent]:
    return [record(None, b"%d" % n, partition=partition) for n in range(first, first + count)]


def filled(source: Cluster, topic: str, count: int = 10) -> str:
    source.create(topic)
    source.produce(topic, values(count))
    return topic


def add_partitions(source: Cluster, topic: str, count: int) -> None:
    for future in source.client.create_partitions([NewPartitions(topic, count)]).values():
        future.result(180)
    wait_until(lambda: len((source.admin.describe(topic) or source).partitions) == count, 120, f"{count} partitions")  # pyright: ignore


def test_new_topics_and_new_partitions_are_picked_up(source: Cluster, mirror: Make, topic_name: Name) -> None:
    stem = topic_name("orders")
    one = mirror(f"{stem}-.*", {"tasks.max": "3"})
    one.await_states("RUNNING")  # no topic, no task
    first = filled(source, f"{stem}-a")
    assert one.await_copied(first, 10) == values(10)
    second = filled(source, f"{stem}-b")
    assert one.await_copied(second, 10) == values(10)
    one.await_states("RUNNING", "RUNNING", "RUNNING")
    add_partitions(source, first, 2)
    source.produce(first, values(5, first=10, partition=1))
    every = {b"%d" % n for n in range(15)}  # a task that ends while it stores offsets may deliver again
    wait_until(lambda: {r.value for r in one.await_copied(first, 15)} == every, CONNECTOR_S, lambda: f"{every}; {one.status()}")
    one.await_states("RUNNING", *["RUNNING"] * 3)


def test_a_deleted_topic_leaves_the_others_running(source: Cluster, mirror: Make, topic_name: Name) -> None:
    kept, gone = filled(source, topic_name("kept")), filled(source, topic_name("gone"))
    one = mirror(f"{kept},{gone}", {"tasks.max": "2"})
    one.await_copied(kept, 10)
    one.await_copied(gone, 10)
    one.await_states("RUNNING", "RUNNING", "RUNNING")
    one.await_stored({f"{kept}:0": 9, f"{gone}:0": 9})
    source.admin.delete([gone])
    one.await_states("RUNNING", "RUNNING")  # the monitor has seen it: one partition, one task
    source.produce(kept, values(5, first=10))
    assert one.await_copied(kept, 15) == values(15)


def test_a_topic_deleted_under_a_task_is_told_and_the_others_go_on(
    source: Cluster, mirror: Make, topic_name: Name, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.runtime.feed_run._CHECK_S", 1.0)  # how often it looks for its topics
    kept, gone = filled(source, topic_name("kept")), filled(source, topic_name("gone"))
    one = mirror(f"{kept},{gone}", {**NEVER, "source.default.api.timeout.ms": "4000", "source.request.timeout.ms": "4000"})
    one.await_copied(kept, 10)
    one.await_copied(gone, 10)
    source.produce(gone, values(1, first=10))
    source.admin.delete([gone])
    source.produce(kept, values(5, first=10))
    assert one.await_copied(kept, 15)[-5:] == values(5, first=10)
    missing = lambda: [e for e in events if e["event"] == "source.partition.missing"]  # noqa: E731
    wait_until(missing, CONNECTOR_S, "the topic that is gone is named")
    line = missing()[0]
    assert (line["log_level"], line["topic"], line["partition"], line["connector"]) == ("warning", gone, 0, one.name)
    assert one.states() == ["RUNNING", "RUNNING"]


def test_a_partition_that_comes_after_its_task_has_begun_is_opened(source: Cluster, topic_name: Name) -> None:
    there, later = filled(source, topic_name("there")), topic_name("later")
    assigned = [LeaderTopicPartition(NO_LEADER, *p) for p in [(there, 0), (later, 0), (later, 1)]]
    task = KafkaSourceTask(TaskContext("c", 0))
    task.start({"source.bootstrap.servers": source.bootstrap, "source.topic.whitelist": ".*", TASK_PARTITIONS: encode(assigned)})

    def opened() -> set[Partition]:
        feed = task.open(StoredOffsets([]))
        return set(feed.positions) if feed else set()

    assert opened() == {(there, 0)}
    assert not task.needs_reopening()
    source.create(later)
    wait_until(task.needs_reopening, CONNECTOR_S, "its first partition")
    assert opened() == {(there, 0), (later, 0)}
    add_partitions(source, later, 2)
    wait_until(task.needs_reopening, CONNECTOR_S, "its second one")
    assert opened() == {(there, 0), (later, 0), (later, 1)}
    task.stop()


def test_a_task_begins_at_the_records_of_some_time_ago(source: Cluster, topic_name: Name) -> None:
    topic = topic_name("since")
    source.create(topic)
    old, new = record(timestamp=1_000), record(timestamp=round(time.time() * 1000))
    source.produce(topic, [old, old, new])
    task = KafkaSourceTask(TaskContext("c", 0))
    task.start({
        "source.bootstrap.servers": source.bootstrap, "source.topic.whitelist": ".*",
        "connector.consumer.auto.offset.reset": "by_duration:P1D",
        TASK_PARTITIONS: encode([LeaderTopicPartition(NO_LEADER, topic, 0)]),
    })  # fmt: skip
    feed = task.open(StoredOffsets([]))
    assert feed is not None and feed.positions == {(topic, 0): 2}
    task.stop()


def test_names_match_as_a_whole_whatever_is_in_them(source: Cluster, mirror: Make, topic_name: Name) -> None:
    dotted = topic_name("a.b")
    dashed = filled(source, topic_name("a-b_c"))
    lookalike, longer = filled(source, dotted.replace(".", "x")), filled(source, f"{dotted}.c")
    filled(source, dotted)
    one = mirror(f"{dotted.replace('.', '[.]')}, {dashed}")
    assert one.await_copied(dotted, 10) == values(10)
    assert one.await_copied(dashed, 10) == values(10)
    wait_until(lambda: one.offsets().keys() == {f"{dotted}:0", f"{dashed}:0"}, CONNECTOR_S, "offsets are stored")
    one.configure({"source.topic.whitelist": dotted})  # a dot is any character
    assert one.await_copied(lookalike, 10) == values(10)
    assert one.destination.admin.describe(one.prefix + longer) is None


def test_internal_topics_are_never_mirrored(source: Cluster, mirror: Make, topic_name: Name) -> None:
    plain, group = filled(source, f"__consumer_{topic_name('mine')}"), topic_name("group")
    source.admin.commit(group, {(plain, 0): 1})  # so that there is a __consumer_offsets
    one = mirror("__consumer_.*")
    assert one.await_copied(plain, 10) == values(10)
    assert source.admin.describe("__consumer_offsets")
    assert one.destination.admin.describe(f"{one.prefix}__consumer_offsets") is None
    wait_until(lambda: one.offsets().keys() == {f"{plain}:0"}, CONNECTOR_S, "the offset is stored")


def test_records_of_a_transaction_are_copied_once_it_is_committed(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("transaction")
    source.create(topic)
    one = mirror(topic, {"source.isolation.level": "read_committed"})
    producer = Producer({"bootstrap.servers": source.bootstrap, "transactional.id": topic})
    producer.init_transactions(120)
    for outcome in (producer.abort_transaction, producer.commit_transaction):
        producer.begin_transaction()
        for n in range(10):
            producer.produce(topic, f"{outcome.__name__} {n}", timestamp=1_700_000_000_000)
        producer.flush(120)
        outcome(120)
    assert [r.value for r in one.await_copied(topic, 10)] == [b"commit_transaction %d" % n for n in range(10)]
