"""What a sink task will do, from configurations; and how partitions are dealt to tasks."""

from __future__ import annotations

import pytest

from headrace.connect_config.common import SinkConnectorConfig, SourceConnectorConfig
from headrace.connectors.base import TaskContext
from headrace.errors import ConfigError, ConnectError
from headrace.kafka.topic_info import TopicInfo
from headrace.runtime.failed_records import failed_at
from headrace.runtime.plan import plan_source_task
from headrace.runtime.sink.partitions import share
from headrace.runtime.sink.plan import SinkPlan, plan_sink_task
from headrace.runtime.standalone_config import StandaloneConfig

WORKER = {
    "bootstrap.servers": "here:9092",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    "offset.storage.file.filename": "offsets",
}


def plan(config: dict[str, str], worker: dict[str, str] | None = None) -> SinkPlan:
    context = TaskContext("c", 1, tasks=2)
    settings = SinkConnectorConfig({"name": "c", "connector.class": "C", **config})
    return plan_sink_task(context, settings, config, StandaloneConfig({**WORKER, **(worker or {})}))


def topic(name: str, partitions: int) -> TopicInfo:
    return TopicInfo(name, dict.fromkeys(range(partitions), 1), False, 1, "id")


def test_the_group_is_named_after_the_connector_unless_it_or_the_worker_names_another() -> None:
    assert plan({"topics": "a, b"}).group == "connect-c"
    assert plan({"topics": "a"}, {"consumer.group.id": "all"}).group == "all"
    assert plan({"topics": "a", "consumer.override.group.id": "mine"}, {"consumer.group.id": "all"}).group == "mine"


def test_a_connectors_consumer_settings_win_over_the_workers() -> None:
    given = plan({"topics": "a", "consumer.override.metadata.max.age.ms": "500"}, {"consumer.metadata.max.age.ms": "9"})
    assert (given.check_interval_s, given.batch_records, given.reset) == (0.5, None, "earliest")
    assert plan({"topics": "a"}, {"consumer.max.poll.records": "7", "consumer.auto.offset.reset": "latest"}).batch_records == 7
    assert given.consumer["client.id"] == "connector-consumer-c-1"
    assert given.letter_producer["client.id"] == "connector-dlq-producer-c-1"
    assert given.letter_admin["client.id"] == "connector-dlq-adminclient-c-1"


def test_overrides_that_the_policy_refuses_end_a_task_whose_clients_they_are() -> None:
    refusing, letters = {"connector.client.config.override.policy": "None"}, {"errors.deadletterqueue.topic.name": "d"}
    for name, needed in (("consumer.override.max.poll.records", {}), ("producer.override.acks", letters),
                         ("admin.override.retries", letters)):  # fmt: skip
        override = {"topics": "a", name: "1", **needed}
        assert plan(override).group == "connect-c"
        with pytest.raises(ConnectError, match="Client Config Overrides not allowed"):
            plan(override, refusing)
    assert plan({"topics": "a", "producer.override.acks": "1"}, refusing).letter_producer.get("acks") != "1"


def test_a_source_task_is_refused_an_override_of_its_admin_client() -> None:
    worker, config = (
        StandaloneConfig({**WORKER, "connector.client.config.override.policy": "None"}),
        {"name": "c", "connector.class": "C"},
    )
    assert plan_source_task("c", 1, SourceConnectorConfig(config), {}, worker).admin["client.id"] == "connector-adminclient-c-1"
    settings = SourceConnectorConfig({**config, "admin.override.bootstrap.servers": "away:9092"})
    with pytest.raises(ConnectError, match="Client Config Overrides not allowed"):
        plan_source_task("c", 1, settings, {}, worker)


@pytest.mark.parametrize("policy", ["latest", "none", "by_duration:PT1H"])
def test_a_sink_begins_as_a_consumer_of_kafka(policy: str) -> None:
    assert plan({"topics": "a", "consumer.override.auto.offset.reset": policy}).reset == policy


def test_a_regex_names_whole_topics() -> None:
    matching = plan({"topics.regex": "b.*"})
    assert matching.topics is None
    assert [name for name in ("b", "b1", "ab1") if matching.consumes(name)] == ["b", "b1"]


@pytest.mark.parametrize(("setting", "sentence"), [
    ({"topics.regex": "("}, r"\( for configuration topics.regex"),
    ({"topics": "a", "consumer.override.auto.offset.reset": "now"}, "Invalid value now for configuration auto.offset.reset"),
    ({"topics": "a", "consumer.override.auto.offset.reset": "Latest"}, "Invalid value Latest for configuration auto"),
    ({"topics": "a", "consumer.override.auto.offset.reset": "by_duration:1h"}, "it has to be like by_duration:PT1H30M"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused(setting: dict[str, str], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        plan(setting)


def test_partitions_are_dealt_in_turn() -> None:
    topics = {t.name: t for t in (topic("b", 2), topic("a", 3))}
    assert share(topics, 0, 2) == (("a", 0), ("a", 2), ("b", 1))
    assert share(topics, 1, 2) == (("a", 1), ("b", 0))
    assert share(topics, 5, 6) == ()


def test_a_failed_record_is_found_in_what_an_error_was_raised_from() -> None:
    report = 'headrace.record-failed\x02{"topic":"t","failure":{"step":"input.value","class":"X","message":"m"}}\x03'
    outer = ValueError("could not be written")
    outer.__context__ = RuntimeError(f"[USER_RAISED_EXCEPTION] {report} SQLSTATE: P0001")
    found = failed_at(outer)
    assert found is not None
    assert (found.origin, found.message) == ({"topic": "t"}, "m")
    assert failed_at(ValueError("another")) is None
