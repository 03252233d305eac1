"""Where a mirror begins, and what it leaves on the source cluster for lag monitors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

from confluent_kafka import TopicPartition

from headrace.connectors.base import TaskContext
from headrace.connectors.kafka_source.assignment import TASK_PARTITIONS, LeaderTopicPartition, encode
from headrace.connectors.kafka_source.task import KafkaSourceTask
from headrace.embedded.ports import free_port
from tests.clusters import Cluster, Sent, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror
from tests.support import wait_until

Make = Callable[..., Mirror]
Name = Callable[[str], str]
Events = list[MutableMapping[str, Any]]


def values(count: int, first: int = 0) -> list[Sent]:
    return [record(None, b"%d" % n) for n in range(first, first + count)]


def filled(source: Cluster, topic: str, count: int = 10) -> str:
    source.create(topic)
    source.produce(topic, values(count))
    return topic


def delete_before(source: Cluster, topic: str, offset: int) -> None:
    """Remove the records before an offset, as retention does."""
    for future in source.client.delete_records([TopicPartition(topic, 0, offset)]).values():
        future.result(180)


def logged(events: Events, event: str) -> Mapping[str, Any]:
    return wait_until(lambda: next((e for e in events if e["event"] == event), None), CONNECTOR_S, f"a line '{event}'") or {}


def test_latest_begins_at_the_end_and_stored_offsets_win_over_it(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = filled(source, topic_name("latest"))
    one = mirror(topic, {"source.auto.offset.reset": "latest"})
    wait_until(lambda: one.offsets() == {f"{topic}:0": 9}, CONNECTOR_S, "the beginning, looked up once, is stored")
    source.produce(topic, values(5, first=10))
    assert one.await_copied(topic, 5) == values(5, first=10)
    wait_until(lambda: one.offsets() == {f"{topic}:0": 14}, CONNECTOR_S, "the offsets are stored")
    one.put("stop")
    one.await_states("STOPPED")
    source.produce(topic, values(5, first=15))
    one.put("resume")
    assert one.await_copied(topic, 10) == values(10, first=10)


def test_offsets_that_are_set_over_rest_are_where_it_goes_on(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = filled(source, topic_name("altered"))
    one = mirror(topic)
    one.await_copied(topic, 10)
    one.put("stop")
    one.await_states("STOPPED")
    entry = {"partition": {"topic:partition": f"{topic}:0"}, "offset": {"offset": 6}}
    one.worker.call("PATCH", one.path + "/offsets", {"offsets": [entry]})
    one.put("resume")
    assert one.await_copied(topic, 13) == [*values(10), *values(3, first=7)]


def test_the_group_on_the_source_cluster_shows_no_lag(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic, group = filled(source, topic_name("lag")), topic_name("group")
    one = mirror(topic, {"source.group.id": group})
    wait_until(lambda: source.admin.committed(group) == {(topic, 0): 10}, CONNECTOR_S, "the group is at the end")
    one.put("stop")
    one.await_states("STOPPED")
    source.admin.commit(group, {(topic, 0): 3})  # shows lag, and is not where reading continues
    source.produce(topic, values(5, first=10))
    one.put("resume")
    assert one.await_copied(topic, 15) == values(15)
    wait_until(lambda: source.admin.committed(group) == {(topic, 0): 15}, CONNECTOR_S, "the group is at the end again")


def test_the_group_is_committed_with_the_settings_of_the_consumer(source: Cluster, topic_name: Name) -> None:
    topic, group = filled(source, topic_name("lag")), topic_name("group")
    task = KafkaSourceTask(TaskContext("mirror", 0))
    task.start({
        "source.topic.whitelist": topic, "source.group.id": group, "source.bootstrap.servers": f"127.0.0.1:{free_port()}",
        "connector.consumer.bootstrap.servers": source.bootstrap, TASK_PARTITIONS: encode([LeaderTopicPartition(1, topic, 0)]),
    })  # fmt: skip
    task.offsets_stored({(topic, 0): 7})
    wait_until(lambda: source.admin.committed(group) == {(topic, 0): 7}, CONNECTOR_S, "the offset of the group")
    task.stop()


def test_without_auto_commit_the_group_is_left_alone(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic, off, overridden = filled(source, topic_name("silent")), topic_name("group"), topic_name("group")
    first = mirror(topic, {"source.group.id": off, "source.enable.auto.commit": "false"})
    second = mirror(topic, {"source.group.id": overridden, "connector.consumer.enable.auto.commit": "false"})
    for one in (first, second):
        wait_until(lambda one=one: one.offsets() == {f"{topic}:0": 9}, CONNECTOR_S, "everything is copied and stored")
        one.put("stop")  # the last moment at which it could commit
        one.await_states("STOPPED")
    assert source.admin.committed(off) == source.admin.committed(overridden) == {}


def test_a_commit_that_fails_is_told_and_fails_nothing(source: Cluster, mirror: Make, topic_name: Name, events: Events) -> None:
    topic, group = filled(source, topic_name("uncommitted")), topic_name("group")
    with source.member(group, topic):  # offsets of a group with members on the topic may not be set from outside
        one = mirror(topic, {"source.group.id": group})
        line = logged(events, "source.lag.commit.failed")
        assert (line["log_level"], line["group"]) == ("warning", group)
        source.produce(topic, values(5, first=10))
        assert one.await_copied(topic, 15) == values(15)
        assert one.states() == ["RUNNING", "RUNNING"]
    wait_until(lambda: source.admin.committed(group) == {(topic, 0): 15}, CONNECTOR_S, "it is tried again until it succeeds")


def test_clients_of_the_source_cluster_get_their_own_settings(mirror: Make, topic_name: Name, source: Cluster) -> None:
    topic = filled(source, topic_name("overridden"))
    nowhere = f"127.0.0.1:{free_port()}"
    good = {"connector.admin.bootstrap.servers": source.bootstrap, "connector.consumer.bootstrap.servers": source.bootstrap}
    one = mirror(topic, {"source.bootstrap.servers": nowhere, **good})
    assert one.await_copied(topic, 10) == values(10)


def test_a_connector_begins_at_its_initial_offsets(source: Cluster, mirror: Make, topic_name: Name):
    topic = filled(source, topic_name("begun"))
    one = mirror(topic)
    one.await_copied(topic, 10)
    one.delete()
    at = [{"partition": {"topic:partition": f"{topic}:0"}, "offset": {"offset": 6}}]
    answer = one.worker.call("POST", "/connectors", {"name": one.name, "config": one.config, "initial_offsets": at})
    assert "have been altered successfully" in answer["offsets_status"]
    assert [copy.value for copy in one.await_copied(topic, 13)][10:] == [b"7", b"8", b"9"]
