"""The topics that a configuration would create, by the topics that it matches now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headrace.embedded import Broker
from headrace.preview import new_topics
from headrace.preview.new_topics import planned_topics
from tests.clusters import Cluster
from tests.preview.conftest import MIRROR, chain, prepared

RULES = {
    "topic.creation.default.partitions": "3", "topic.creation.default.replication.factor": "1",
    "topic.creation.groups": "big", "topic.creation.big.partitions": "12", "topic.creation.big.cleanup.policy": "compact",
}  # fmt: skip


def plan(config: dict[str, Any], destination: Broker, spark: Callable[[], object] = lambda: None) -> dict[str, Any]:
    return planned_topics(prepared(config, bootstrap_servers=destination.bootstrap), spark)


def no_spark() -> object:
    pytest.fail("Spark is needed for a chain that routes, and for no other")


def copied(source: Broker, whitelist: str, **more: str) -> dict[str, str]:
    base = {"source.bootstrap.servers": source.bootstrap, "source.topic.whitelist": whitelist}
    return MIRROR | base | {"destination.topics.prefix": "copy."} | more


def test_the_copies_of_the_topics_that_match_now_are_planned_by_the_rules(
    source: Cluster, destination: Cluster, source_broker: Broker, destination_broker: Broker, topic_name: Callable[[str], str]
):
    orders, big, there = (topic_name(name) for name in ("orders", "big", "there"))
    for topic in (orders, big, there):
        source.create(topic, 2)
    destination.create(f"copy.{there}", 5)
    rules = RULES | {"topic.creation.big.include": f"copy.{big}"}
    answer = plan(copied(source_broker, f"{orders}|{big}|{there}", **rules), destination_broker)
    assert (answer["more"], answer["note"]) == (0, None)
    shown = {topic["topic"]: topic for topic in answer["topics"]}
    assert list(shown)[-1] == f"copy.{there}", "those to be created come first"
    create = {name: topic["create"] for name, topic in shown.items()}
    assert create[f"copy.{orders}"] == {"group": "default", "partitions": 3, "replication.factor": 1, "configs": {}}
    assert create[f"copy.{big}"] == {
        "group": "big", "partitions": 12, "replication.factor": 1, "configs": {"cleanup.policy": "compact"},
    }  # fmt: skip
    assert (shown[f"copy.{there}"]["exists"], shown[f"copy.{there}"]["partitions"], create[f"copy.{there}"]) == (True, 5, None)


def test_a_chain_that_renames_topics_is_followed_and_one_that_decides_by_the_record_is_said(
    source: Cluster, source_broker: Broker, destination_broker: Broker, topic_name: Callable[[str], str], spark: object
):
    topic = topic_name("orders")
    source.create(topic)
    renamed = chain(rename={"type": "RegexRouter", "regex": "copy.(.*)", "replacement": "new.$1"})
    answer = plan(copied(source_broker, topic, **renamed), destination_broker)
    assert [(topic["topic"], topic["exists"]) for topic in answer["topics"]] == [(f"new.{topic}", False)]
    assert "creates no topics" in answer["topics"][0]["note"]
    by_time = chain(route={"type": "TimestampRouter"})
    answer = plan(copied(source_broker, topic, **by_time), destination_broker)
    assert (answer["topics"], "decides by the record" in answer["note"]) == ([], True)


def test_of_many_topics_the_first_are_listed(
    source: Cluster, source_broker: Broker, destination_broker: Broker, topic_name: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    monkeypatch.setattr(new_topics, "_MOST", 2)
    prefix = topic_name("many")
    for number in range(3):
        source.create(f"{prefix}.{number}")
    answer = plan(copied(source_broker, f"{prefix}.*"), destination_broker)
    assert ([topic["topic"] for topic in answer["topics"]], answer["more"]) == ([f"copy.{prefix}.0", f"copy.{prefix}.1"], 1)


def test_of_many_topics_the_missing_are_listed_first_whatever_the_chain(
    source: Cluster, destination: Cluster, source_broker: Broker, destination_broker: Broker, topic_name: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch, spark: object,
):  # fmt: skip
    monkeypatch.setattr(new_topics, "_MOST", 1)
    prefix = topic_name("last")
    for number in range(3):
        source.create(f"{prefix}.{number}")
        if number < 2:
            destination.create(f"copy.{prefix}.{number}")
    keeps = chain(keep={"type": "ReplaceField$Value", "exclude": "x"})
    routes = chain(same={"type": "RegexRouter", "regex": "(.*)", "replacement": "$1"})
    for settings, session in ((keeps, no_spark), (routes, lambda: None)):
        answer = plan(copied(source_broker, f"{prefix}.*", **settings), destination_broker, session)
        assert ([(topic["topic"], topic["exists"]) for topic in answer["topics"]]) == [(f"copy.{prefix}.2", False)]
        assert answer["more"] == 2


def test_a_mirror_creates_its_copies_with_partitions_and_settings_of_the_source(
    source: Cluster, source_broker: Broker, destination_broker: Broker, topic_name: Callable[[str], str], spark: object
):
    topic = topic_name("mirrored")
    source.create(topic, 4, {"retention.ms": "86400000"})
    config = {
        "connector.class": "MirrorSourceConnector", "source.cluster.alias": "a", "target.cluster.alias": "b",
        "source.cluster.bootstrap.servers": source_broker.bootstrap, "topics": topic, "replication.factor": "1",
        "target.cluster.bootstrap.servers": destination_broker.bootstrap,
    }  # fmt: skip
    (shown,) = plan(config, destination_broker)["topics"]
    assert (shown["topic"], shown["exists"]) == (f"a.{topic}", False)
    create = {"group": None, "partitions": 4, "replication.factor": 1, "configs": {"retention.ms": "86400000"}}
    assert (shown["create"], "elsewhere" in shown["note"]) == (create, False)
    # It makes its copies under the name before the chain; what a chain makes of the name is up to the rules.
    routes = chain(short={"type": "RegexRouter", "regex": "a\\.(.*)", "replacement": "$1"})
    copy, routed = plan(config | routes | RULES, destination_broker)["topics"]
    assert (copy["topic"], copy["create"], "elsewhere" in copy["note"]) == (f"a.{topic}", create, True)
    assert (routed["topic"], routed["create"]["group"], routed["create"]["partitions"]) == (topic, "default", 3)


def test_a_file_has_one_topic_and_a_sink_none(destination_broker: Broker, topic_name: Callable[[str], str], sink: str):
    topic = topic_name("lines")
    config = {"connector.class": "FileStreamSource", "topic": topic, "file": "/lines"}
    (shown,) = plan(config | {key: value for key, value in RULES.items() if "default" in key}, destination_broker)["topics"]
    assert (shown["topic"], shown["create"]["partitions"]) == (topic, 3)
    assert plan({"connector.class": sink, "topics": topic}, destination_broker) == {"topics": [], "more": 0, "note": None}
