"""The active topics of a mirror (KIP-558), and what of them is in the status topic."""

from __future__ import annotations

import json
from collections.abc import Callable

from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, Sent, record
from tests.kafka_source.mirror import Mirror

Make = Callable[..., Mirror]
Name = Callable[[str], str]

STATUS = "tests-status"


def records_of(one: Mirror) -> list[Sent]:
    """The records about the active topics of a mirror in the status topic."""
    end = f":connector-{one.name}".encode()
    return [r for r in one.destination.read(STATUS) if r.key and r.key.startswith(b"status-topic-") and r.key.endswith(end)]


def test_a_topic_is_active_from_its_first_record_on(source: Cluster, mirror: Make, topic_name: Name) -> None:
    used, unused = topic_name("used"), topic_name("unused")
    source.create(used)
    source.create(unused)
    one = mirror(f"{used},{unused}")
    one.await_states("RUNNING", "RUNNING")
    assert one.topics() == set()
    source.produce(used, [record()])
    one.await_topics(one.prefix + used)
    (entry,) = records_of(one)
    assert entry.key == f"status-topic-{one.prefix}{used}:connector-{one.name}".encode()
    assert entry.value
    stored = json.loads(entry.value)
    discovered = stored["topic"].pop("discoverTimestamp")
    assert stored == {"topic": {"name": one.prefix + used, "connector": one.name, "task": 0}}
    assert 0 <= entry.timestamp - discovered < 60_000
    assert one.destination.admin.describe(one.prefix + unused) is None


def test_active_topics_outlive_restart_pause_stop_and_a_new_configuration(
    source: Cluster, mirror: Make, topic_name: Name
) -> None:
    first, second = topic_name("first"), topic_name("second")
    source.create(first)
    source.create(second)
    source.produce(first, [record()])
    one = mirror(first)
    one.await_topics(one.prefix + first)
    one.restart("?includeTasks=true")
    one.put("pause")
    one.await_states("PAUSED", "PAUSED")
    one.put("stop")
    one.await_states("STOPPED")
    one.configure({"source.topic.whitelist": second})
    one.put("resume")
    one.await_states("RUNNING", "RUNNING")
    assert one.topics() == {one.prefix + first}
    source.produce(second, [record()])
    one.await_topics(one.prefix + first, one.prefix + second)
    assert len(records_of(one)) == 2  # each was written once


def test_a_reset_empties_the_list_until_the_next_record(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("reset")
    source.create(topic)
    source.produce(topic, [record()])
    one = mirror(topic)
    one.await_topics(one.prefix + topic)
    one.put("topics/reset")
    one.await_topics()
    assert records_of(one)[-1].value is None
    source.produce(topic, [record()])
    one.await_topics(one.prefix + topic)


def test_deletion_clears_the_list_and_leaves_tombstones(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("deleted")
    source.create(topic)
    source.produce(topic, [record()])
    one = mirror(topic)
    one.await_topics(one.prefix + topic)
    one.delete()
    one.await_topics()
    assert records_of(one)[-1].value is None


def test_an_unknown_connector_has_no_active_topics(worker: EmbeddedWorker) -> None:
    assert worker.call("GET", "/connectors/nobody/topics") == {"nobody": {"topics": []}}
    assert worker.call("PUT", "/connectors/nobody/topics/reset") is None
