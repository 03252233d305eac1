"""Topics compared with the rules of their connector: pure, and on a real broker."""

from __future__ import annotations

from collections.abc import Callable

from headrace.cluster.topic_rules import topics_in_use
from headrace.kafka.admin import Admin
from headrace.runtime.worker_config import WorkerConfig
from headrace.topics.creation import topic_creation
from headrace.topics.drift import topic_drift
from tests.clusters import Cluster

RULES = {
    "connector.class": "FileStreamSource",
    "topic.creation.default.partitions": "2", "topic.creation.default.replication.factor": "-1",
    "topic.creation.groups": "logs", "topic.creation.logs.include": "log.*",
    "topic.creation.logs.cleanup.policy": "compact,delete",
    "topic.creation.logs.retention.ms": "1000",
}  # fmt: skip


def differences(
    topic: str, partitions: int | None, settings: dict[str, str | None] | None = None
) -> list[tuple[str, str, str | None]]:
    rules = topic_creation(RULES)
    assert rules
    plan = rules.new_topic(topic)
    assert plan
    found = topic_drift(plan, plan.group.name, partitions, partitions and 3, settings or {})
    return [(one.what, one.wanted, one.actual) for one in found]


def test_what_the_rule_says_is_compared_and_what_it_leaves_to_the_broker_is_not():
    assert differences("orders", 2) == []
    assert differences("orders", 3) == [("partitions", "2", "3")]
    assert differences("orders", None) == [("topic", "exists", None)]


def test_settings_are_compared_in_any_form_of_theirs():
    assert differences("log1", 2, {"cleanup.policy": "delete, Compact", "retention.ms": "1000"}) == []
    assert differences("log1", 2, {"cleanup.policy": "delete", "retention.ms": None}) == [
        ("cleanup.policy", "compact,delete", "delete"), ("retention.ms", "1000", None),
    ]  # fmt: skip


def worker_of(cluster: Cluster) -> WorkerConfig:
    converter = "org.apache.kafka.connect.storage.StringConverter"
    return WorkerConfig({"bootstrap.servers": cluster.bootstrap, "key.converter": converter, "value.converter": converter})


def test_the_topics_of_a_real_cluster(destination: Cluster, topic_name: Callable[[str], str]):
    good, bad, gone = topic_name("log"), topic_name("log"), topic_name("gone")
    worker = worker_of(destination)
    admin = Admin({"bootstrap.servers": destination.bootstrap})
    admin.create(good, 2, 1, {"cleanup.policy": "compact,delete", "retention.ms": "1000"})
    admin.create(bad, 1, 1, {"cleanup.policy": "compact,delete"})
    found = topics_in_use("c", RULES, [good, bad, gone], worker, has_rules=True)
    assert [(one["topic"], one["group"], one["what"], one["wanted"], one["actual"]) for one in found["drift"]] == [
        (gone, "default", "topic", "exists", None),
        (bad, "logs", "partitions", "2", "1"),
        (bad, "logs", "retention.ms", "1000", "-1"),
    ]
    assert [(one["topic"], one["partitions"], one["settings"]) for one in found["topics"]] == [
        (gone, None, {}),
        (good, 2, {"cleanup.policy": "compact,delete", "retention.ms": "1000"}),
        (bad, 1, {"cleanup.policy": "compact,delete"}),
    ]
    assert topics_in_use("c", {}, [good], worker, has_rules=True)["drift"] == []
    (of_sink,) = topics_in_use("c", RULES, [bad], worker, has_rules=False)["topics"]
    assert of_sink["group"] is None and of_sink["partitions"] == 1


def test_a_topic_is_compared_with_what_its_connector_made_of_the_rules(destination: Cluster, topic_name: Callable[[str], str]):
    topic, worker = topic_name("choosy"), worker_of(destination)
    Admin({"bootstrap.servers": destination.bootstrap}).create(topic, 3, 1, {"retention.ms": "86400000"})
    choosy = {**RULES, "connector.class": "tests.topics.own_source.ChoosySource"}
    assert topics_in_use("c", choosy, [topic], worker, has_rules=True)["drift"] == []
    one = topics_in_use("c", {**choosy, "wish": "none"}, [topic], worker, has_rules=True)
    assert (one["topics"][0]["group"], one["drift"]) == (None, [])
