"""Topics that a mirror creates (KIP-158), and what becomes of a task that may not or cannot."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

from confluent_kafka import Producer

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, Sent, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror
from tests.process import worker_properties
from tests.support import wait_until

Make = Callable[..., Mirror]
Name = Callable[[str], str]
Events = list[MutableMapping[str, Any]]

NO_RULES = {f"topic.creation.default.{key}": None for key in ("partitions", "replication.factor", "retention.ms")}
CONNECT = "org.apache.kafka.connect.errors.ConnectException: "


def values(count: int, first: int = 0) -> list[Sent]:
    return [record(b"%d" % n, b"v") for n in range(first, first + count)]


def filled(source: Cluster, topic: str, count: int = 10) -> str:
    source.create(topic)
    source.produce(topic, values(count))
    return topic


def settings(cluster: Cluster, topic: str) -> tuple[int, dict[str, str | None]]:
    """Partitions of a topic, and the settings that are its own."""
    info = cluster.admin.describe(topic)
    return len(info.partitions) if info else 0, cluster.admin.topic_configs(topic, own_only=True)


def test_each_topic_gets_the_settings_of_the_first_group_that_matches(source: Cluster, mirror: Make, topic_name: Name) -> None:
    logs, facts, other, exempt = topics = [filled(source, topic_name(stem)) for stem in ("logs", "facts", "other", "logs-exempt")]
    one = mirror(",".join(topics), {
        "tasks.max": "2", "topic.creation.groups": "compact, short",
        "topic.creation.compact.include": r".*\.facts-.*,.*\.logs-exempt.*", "topic.creation.compact.partitions": "3",
        "topic.creation.compact.cleanup.policy": "compact", "topic.creation.compact.min.compaction.lag.ms": "3600000",
        "topic.creation.short.include": r".*\.logs-.*,.*\.facts-.*", "topic.creation.short.exclude": ".*-exempt-.*",
        "topic.creation.short.partitions": "-1", "topic.creation.short.segment.bytes": "1048576",
        "topic.creation.default.partitions": "2",
    })  # fmt: skip
    for topic in topics:
        assert len(one.await_copied(topic, 10)) == 10
    compact = (3, {"cleanup.policy": "compact", "min.compaction.lag.ms": "3600000"})
    assert settings(one.destination, one.prefix + facts) == compact
    assert settings(one.destination, one.prefix + exempt) == compact
    assert settings(one.destination, one.prefix + logs) == (1, {"segment.bytes": "1048576"})
    assert settings(one.destination, one.prefix + other) == (2, {"retention.ms": "-1"})


def test_a_topic_that_exists_is_left_as_it_is(
    source: Cluster, mirror: Make, destination: Cluster, topic_name: Name, events: Events
) -> None:
    topic = topic_name("existing")
    destination.create(f"copy.{topic}", 2, {"segment.bytes": "2097152"})
    before = settings(destination, f"copy.{topic}")
    filled(source, topic)
    without_effect = {"poll.loop.timeout.ms": "500", "config.action.reload": "none"}
    created = {"destination.topics.prefix": "copy.", "topic.creation.default.segment.bytes": "1048576"}
    one = mirror(topic, {**created, **without_effect})
    wait_until(lambda: destination.size(f"copy.{topic}") == 10, CONNECTOR_S, lambda: f"the copy; {one.status()}")
    assert settings(destination, f"copy.{topic}") == before
    assert {e["option"] for e in events if e["event"] == "connector.option.ignored"} == without_effect.keys()


def test_without_rules_the_task_waits_until_somebody_makes_the_topic(
    source: Cluster, mirror: Make, topic_name: Name, events: Events
) -> None:
    topic = filled(source, topic_name("by-hand"))
    one = mirror(topic, NO_RULES)
    wait_until(lambda: any("waiting until topic" in e["event"] for e in events), CONNECTOR_S, "it says that it waits")
    assert one.states() == ["RUNNING", "RUNNING"]
    one.destination.create(one.prefix + topic)
    assert one.await_copied(topic, 10) == values(10)


def test_what_is_copied_is_stored_while_another_topic_is_waited_for(
    source: Cluster, mirror: Make, topic_name: Name, events: Events
) -> None:
    there, missing = filled(source, topic_name("a-there")), filled(source, topic_name("b-missing"))
    one = mirror(f"{there}|{missing}", {**NO_RULES, "destination.topics.prefix": "waits."})
    one.destination.create(f"waits.{there}")
    wait_until(lambda: any("waiting until topic" in e["event"] for e in events), CONNECTOR_S, "it says that it waits")
    one.await_stored({f"{there}:0": 9})
    source.produce(there, values(5))
    one.await_stored({f"{there}:0": 14})
    one.destination.create(f"waits.{missing}")
    one.await_stored({f"{there}:0": 14, f"{missing}:0": 9})
    assert one.destination.read(f"waits.{missing}") == values(10)


def test_without_rules_a_broker_may_create_the_topic(source: Cluster, topic_name: Name) -> None:
    topic = filled(source, topic_name("auto"))
    with Broker(name="auto-create", settings={"auto.create.topics.enable": "true", "num.partitions": "4"}) as broker:
        own = Cluster(broker.bootstrap)
        with EmbeddedWorker(broker.bootstrap, worker_properties("auto", f"http://127.0.0.1:{free_port()}")) as worker:
            one = Mirror(worker, (source, own), "auto", topic, NO_RULES)
            one.create()
            assert [r.value for r in one.await_copied(topic, 10)] == [r.value for r in values(10)]
            assert settings(own, one.prefix + topic) == (4, {})


def test_too_few_brokers_fail_the_task_with_their_words_and_nothing_is_lost(
    source: Cluster, mirror: Make, topic_name: Name
) -> None:
    topic = filled(source, topic_name("replicated"))
    one = mirror(topic, {"topic.creation.default.replication.factor": "3"})
    copy, trace = one.prefix + topic, one.trace()
    assert trace.startswith(f"{CONNECT}Unable to create topic(s) '{copy}': ")
    assert "replication factor of 3" in trace.lower()
    assert "only 1 broker" in trace
    assert one.states() == ["RUNNING", "FAILED"]
    assert one.topics() == set()
    source.produce(topic, values(5, first=10))
    one.configure({"topic.creation.default.replication.factor": "1"})
    one.await_states("RUNNING", "RUNNING")
    assert one.await_copied(topic, 15) == values(15)


def test_a_bad_topic_setting_fails_the_task_with_the_brokers_words(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = filled(source, topic_name("misconfigured"))
    one = mirror(topic, {"topic.creation.default.retention.ms": "soon"})
    trace = one.trace()
    assert trace.startswith(
        f"{CONNECT}Unable to create topic(s) '{one.prefix + topic}': Invalid value soon for configuration retention.ms"
    )
    one.configure({"topic.creation.default.retention.ms": "-1"})
    one.await_states("RUNNING", "RUNNING")
    assert one.await_copied(topic, 10) == values(10)


def test_bad_rules_fail_the_connector(mirror: Make, topic_name: Name) -> None:
    one = mirror(topic_name("bad-rules"), {"topic.creation.default.partitions": "0"})
    assert "Number of partitions must be positive, or -1 to use the broker's default\n" in one.trace()
    one = mirror(topic_name("no-default"), {**NO_RULES, "topic.creation.groups": "g"})
    assert one.trace() == (
        "org.apache.kafka.common.config.ConfigException: Missing required configuration "
        '"topic.creation.default.replication.factor" which has no default value.\n'
    )
    assert one.states() == ["FAILED"]


def test_offsets_without_records_are_stored_and_create_no_topic(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("aborted")
    source.create(topic)
    producer = Producer({"bootstrap.servers": source.bootstrap, "transactional.id": topic})
    producer.init_transactions(120)
    producer.begin_transaction()
    for value in (b"never", b"mind"):
        producer.produce(topic, value)
    producer.flush(120)
    producer.abort_transaction(120)
    one = mirror(topic, {"source.isolation.level": "read_committed"})
    wait_until(lambda: one.offsets() == {f"{topic}:0": 2}, CONNECTOR_S, lambda: f"the marker's offset is stored; {one.status()}")
    assert one.destination.admin.describe(one.prefix + topic) is None
    assert one.topics() == set()
    source.produce(topic, values(1))
    assert one.await_copied(topic, 1) == values(1)
    one.await_topics(one.prefix + topic)
