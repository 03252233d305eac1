"""What requests to REST do to a mirror while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, record
from tests.kafka_source.mirror import Mirror

Make = Callable[..., Mirror]
Name = Callable[[str], str]


def values(count: int, first: int = 0) -> list[Any]:
    return [record(None, b"%d" % n) for n in range(first, first + count)]


def test_a_paused_mirror_copies_nothing_until_it_is_resumed(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("paused")
    source.create(topic)
    source.produce(topic, values(10))
    one = mirror(topic)
    one.await_copied(topic, 10)
    one.await_stored({f"{topic}:0": 9})
    one.put("pause")
    one.await_states("PAUSED", "PAUSED")
    source.produce(topic, values(10, first=10))
    one.configure({"batch.max.records": "1000"})  # is carried out, and starts nothing
    one.await_states("PAUSED", "PAUSED")
    assert one.destination.size(one.prefix + topic) == 10
    one.put("resume")
    assert one.await_copied(topic, 20) == values(20)
    one.await_states("RUNNING", "RUNNING")


def test_a_stopped_mirror_has_no_tasks_and_goes_on_where_it_was(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("stopped")
    source.create(topic)
    source.produce(topic, values(10))
    one = mirror(topic)
    one.await_copied(topic, 10)
    one.await_stored({f"{topic}:0": 9})
    one.put("stop")
    one.await_states("STOPPED")
    assert one.worker.call("GET", one.path + "/tasks") == []
    source.produce(topic, values(10, first=10))
    one.put("resume")
    assert one.await_copied(topic, 20) == values(20)
    one.await_states("RUNNING", "RUNNING")


def test_a_restart_copies_nothing_twice(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("restarted")
    source.create(topic)
    source.produce(topic, values(10))
    one = mirror(topic)
    one.await_copied(topic, 10)
    one.await_stored({f"{topic}:0": 9})
    one.restart()
    one.await_states("RUNNING", "RUNNING")
    answer = one.restart("?includeTasks=true")
    assert [answer["connector"]["state"], answer["tasks"][0]["state"]] == ["RESTARTING", "RESTARTING"]
    one.await_states("RUNNING", "RUNNING")
    one.worker.call("POST", one.path + "/tasks/0/restart")
    source.produce(topic, values(1, first=10))
    assert one.await_copied(topic, 11) == values(11)


def test_a_new_configuration_takes_effect_at_once(source: Cluster, mirror: Make, topic_name: Name) -> None:
    first, second = topic_name("first"), topic_name("second")
    for topic in (first, second):
        source.create(topic)
        source.produce(topic, values(5))
    one = mirror(first)
    one.await_copied(first, 5)
    one.await_stored({f"{first}:0": 4})
    one.configure({"source.topic.whitelist": f"{first},{second}", "include.message.headers": "false"})
    one.await_copied(second, 5)
    source.produce(first, [record(b"k", b"v", [("h", b"1")])])
    assert one.await_copied(first, 6) == [*values(5), record(b"k", b"v")]


def test_partitions_are_shared_among_no_more_tasks_than_allowed(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("many")
    source.create(topic, 5)
    source.produce(topic, [record(None, b"%d" % p, partition=p) for p in range(5)])
    one = mirror(topic, {"tasks.max": "2", "topic.creation.default.partitions": "5"})
    one.await_states("RUNNING", "RUNNING", "RUNNING")
    tasks = one.worker.call("GET", one.path + "/tasks")
    groups = [task["config"]["task.leader.topic.partitions"].split(",") for task in tasks]
    assert groups == [[f"1:{topic}:{p}" for p in (0, 1, 2)], [f"1:{topic}:{p}" for p in (3, 4)]]
    assert [r.value for r in one.await_copied(topic, 5)] == [b"0", b"1", b"2", b"3", b"4"]
    one.await_stored({f"{topic}:{p}": 0 for p in range(5)})
    one.configure({"tasks.max": "9"})
    one.await_states("RUNNING", *["RUNNING"] * 5)
    one.configure({"tasks.max": "1"})
    one.await_states("RUNNING", "RUNNING")
    source.produce(topic, [record(None, b"again", partition=4)])
    assert len(one.await_copied(topic, 6)) == 6


def test_a_connector_that_is_deleted_and_created_again_at_once_runs(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("recreated")
    source.create(topic)
    source.produce(topic, values(1))
    one = mirror(topic)
    one.await_copied(topic, 1)
    for n in range(5):
        one.await_stored({f"{topic}:0": n})
        one.worker.call("DELETE", one.path)
        one.create()
        source.produce(topic, values(1, first=n + 1))
        one.await_copied(topic, n + 2)
    assert one.await_copied(topic, 6) == values(6)  # the offsets outlive the connector, as in Kafka Connect


def test_a_name_may_have_spaces_colons_and_letters_of_any_language(
    source: Cluster, worker: EmbeddedWorker, destination: Cluster, topic_name: Name
) -> None:
    topic = topic_name("odd")
    source.create(topic)
    source.produce(topic, values(1))
    one = Mirror(worker, (source, destination), topic_name("über uns: -connector-"), topic, {"destination.topics.prefix": "odd."})
    one.prefix = "odd."
    one.create()
    one.await_copied(topic, 1)
    one.await_states("RUNNING", "RUNNING")
    one.await_topics(f"odd.{topic}")
    one.delete()
    one.await_topics()
