"""Which topics, settings and ACLs are copied, and as what."""

from __future__ import annotations

import pytest

from headrace.connectors.kafka_source.config import KafkaSourceConfig
from headrace.connectors.mirror.acls import Acl, acls_to_copy
from headrace.connectors.mirror.checkpoint_connector import MirrorCheckpointConnector
from headrace.connectors.mirror.clients import client
from headrace.connectors.mirror.filters import NameFilter, Selection
from headrace.connectors.mirror.mirrored_topics import MirroredTopics, decode, encode, missing, round_robin, select
from headrace.connectors.mirror.policies import policy
from headrace.connectors.mirror.settings import Change, SettingFilter, TopicSetting, needed
from headrace.connectors.mirror.source_config import MirrorSourceConfig
from headrace.connectors.mirror.source_connector import MirrorSourceConnector
from headrace.connectors.mirror.source_task import ASSIGNED, kafka_source_props
from headrace.errors import ConfigError
from headrace.kafka.topic_info import TopicInfo

DEFAULT, IDENTITY = "DefaultReplicationPolicy", "IdentityReplicationPolicy"


def test_a_topic_that_has_been_in_the_target_is_not_mirrored_back() -> None:
    chosen = Selection(policy(DEFAULT, "A", ".", True, {}), NameFilter([".*"], []), "B")
    assert [t for t in ("orders", "B.orders", "C.B.orders", "C.orders", "B", "x.internal") if chosen.accepts(t)] == [
        "orders", "C.orders", "B", "x.internal",
    ]  # fmt: skip


def test_heartbeats_are_mirrored_whatever_the_filter_says() -> None:
    def accepted(heartbeats: bool) -> list[str]:
        chosen = Selection(policy(DEFAULT, "A", ".", True, {}), NameFilter(["orders"], []), "B", heartbeats)
        return [t for t in ("orders", "heartbeats", "C.heartbeats", "B.heartbeats") if chosen.accepts(t)]

    assert accepted(True) == ["orders", "heartbeats", "C.heartbeats"]
    assert accepted(False) == ["orders"]


def test_a_topic_with_a_name_of_its_own_is_found_again() -> None:
    found = policy(IDENTITY, "A", ".", True, {"old": "new"})
    assert (found.remote("A", "old"), found.upstream("new"), found.source("new"), found.remote("A", "x")) == (
        "new",
        "old",
        "A",
        "x",
    )


@pytest.mark.parametrize(("base", "copy"), [(DEFAULT, "A.payments"), (IDENTITY, "payments")])
def test_two_topics_with_one_copy_are_refused(base: str, copy: str) -> None:
    chosen = Selection(policy(base, "A", ".", True, {"orders": copy}), NameFilter([".*"], []), "B")
    found = {name: TopicInfo(name, {0: 1}, False, 1, "") for name in ("orders", "payments")}
    with pytest.raises(ConfigError, match=f"Topics 'orders' and 'payments' of cluster A would both be mirrored to '{copy}'"):
        select(found, chosen, "A")
    assert select({"orders": found["orders"]}, chosen, "A").copies == {"orders": copy}


def test_a_list_of_patterns_is_one_pattern_in_which_commas_are_alternatives() -> None:
    config = MirrorSourceConfig({"source.cluster.alias": "A", "topics": "(eu,us)-orders, x", "topics.exclude": "\\Qx,y"})
    names = ("eu-orders", "us-orders", "(eu", "us", "x", "x|y")
    assert [t for t in names if config.selection.filter.accepts(t)] == ["eu-orders", "us-orders", "x"]


@pytest.mark.parametrize("base", [DEFAULT, IDENTITY])
def test_topics_may_swap_names(base: str) -> None:
    found = policy(base, "A", ".", True, {"a": "b", "b": "a", "C.x": "x"})
    assert [(found.original(topic), found.is_heartbeats(topic)) for topic in ("a", "b")] == [("b", False), ("a", False)]
    assert all(found.is_cycle(topic, "A") and not found.is_cycle(topic, "B") for topic in ("a", "b", "x"))
    assert found.is_cycle("x", "C") == (base == DEFAULT), "by the name that it has in the source"


def test_copies_are_created_and_grow_but_never_shrink() -> None:
    wanted = MirroredTopics({"a": 3, "b": 2, "c": 1}, {"a": "A.a", "b": "A.b", "c": "A.c"})
    lacks = missing(wanted, {"A.b": 1, "A.c": 5})
    assert (lacks.create, dict(lacks.grow)) == (("a",), {"A.b": 2})


def test_partitions_are_dealt_like_cards() -> None:
    dealt = round_robin([("a", 0), ("a", 1), ("a-b", 0)], 2)
    assert dealt == [[("a", 0), ("a-b", 0)], [("a", 1)]]
    assert [decode(encode(mine)) for mine in dealt] == dealt
    assert round_robin([], 2) == []


SETTINGS = [
    TopicSetting("retention.ms", "5", is_default=False),
    TopicSetting("cleanup.policy", "delete", is_default=True),
    TopicSetting("min.insync.replicas", "2", is_default=False),
    TopicSetting("secret", "x", is_default=False, hidden=True),
    TopicSetting("segment.bytes", "1", is_default=True, static=True),
]


def test_a_copy_gets_the_settings_that_its_topic_has_itself() -> None:
    chosen = SettingFilter(["min\\.insync\\.replicas"])
    assert chosen.of_new_topic(SETTINGS) == {"retention.ms": "5"}
    assert chosen.changes(SETTINGS) == [Change("retention.ms", "5"), Change("cleanup.policy", None)]


def test_with_defaults_from_the_source_they_are_written() -> None:
    chosen = SettingFilter(["min.*"], source_defaults=True)
    assert chosen.of_new_topic(SETTINGS) == {"retention.ms": "5", "cleanup.policy": "delete"}
    assert chosen.changes(SETTINGS)[1] == Change("cleanup.policy", "delete")


def test_a_copy_that_is_right_is_left_alone() -> None:
    wanted = [Change("retention.ms", "5"), Change("cleanup.policy", None), Change("x", "1")]
    present = [TopicSetting("retention.ms", "5", is_default=False), TopicSetting("cleanup.policy", "compact", is_default=False)]
    assert needed(wanted, present) == [Change("cleanup.policy", None), Change("x", "1")]
    assert needed([Change("segment.bytes", None)], [TopicSetting("segment.bytes", "1", is_default=False, own=False)]) == []


def test_acls_are_copied_as_far_as_they_are_for_reading() -> None:
    def acl(operation: str, permission: str = "ALLOW", **changes: object) -> Acl:
        return Acl(
            **{"topic": "t", "principal": "User:a", "host": "*", "operation": operation, "permission": permission, **changes}
        )  # pyright: ignore[reportArgumentType]

    given = [acl("READ"), acl("WRITE"), acl("ALL"), acl("WRITE", "DENY"), acl("READ", literal=False), acl("READ", topic="other")]
    found = acls_to_copy(given, lambda topic: topic == "t", lambda topic: f"A.{topic}")
    assert [(a.topic, a.operation, a.permission) for a in found] == [
        ("A.t", "READ", "ALLOW"), ("A.t", "READ", "ALLOW"), ("A.t", "WRITE", "DENY"),
    ]  # fmt: skip


def test_settings_of_a_client_come_from_the_cluster_then_the_kind_then_the_client() -> None:
    props = {
        "name": "m", "source.cluster.alias": "A", "target.cluster.alias": "B", "source.cluster.bootstrap.servers": "a:1",
        "source.cluster.group.id": "not passed on", "source.cluster.ssl.protocol": "TLSv1.2", "consumer.max.poll.records": "1",
        "source.consumer.max.poll.records": "2", "source.consumer.enable.auto.commit": "true", "admin.retries": "3",
    }  # fmt: skip
    assert client(props, "source", "consumer") == {
        "client.id": "A->B|m|consumer", "bootstrap.servers": "a:1", "ssl.protocol": "TLSv1.2", "max.poll.records": "2",
        "auto.offset.reset": "earliest", "enable.auto.commit": "false",
    }  # fmt: skip
    assert client(props, "target", "admin") == {"client.id": "A->B|m|admin", "retries": "3"}
    mine = client({**props, "source.consumer.client.id": "mine"}, "source", "consumer")
    assert mine["client.id"] == "mine|A->B|m|consumer", "clients are told apart"


@pytest.mark.parametrize(
    ("props", "option"),
    [
        ({"emit.offset-syncs.enabled": "false", "offset-syncs.topic.location": "target"}, "emit.offset-syncs.enabled"),
        ({"emit.offset-syncs.enabled": "FALSE", "offset-syncs.topic.location": "target"}, "emit.offset-syncs.enabled"),
        ({"exactly.once.support": "required"}, "exactly.once.support"),
        ({"exactly.once.support": "REQUIRED"}, "exactly.once.support"),
        ({"source.consumer.auto.offset.reset": "none"}, "source.consumer.auto.offset.reset"),
        ({"source.consumer.auto.offset.reset": "by_duration:1h"}, "source.consumer.auto.offset.reset"),
    ],
)
def test_options_that_speak_against_each_other_are_told(props: dict[str, str], option: str) -> None:
    assert list(MirrorSourceConnector.problems(props)) == [option]


def test_checkpoints_need_offset_syncs_unless_the_connector_is_off() -> None:
    props = {"emit.checkpoints.enabled": "false", "emit.offset-syncs.enabled": "false"}
    assert MirrorCheckpointConnector.problems(props) == {
        "emit.checkpoints.enabled": ["MirrorCheckpointConnector can't run with emit.checkpoints.enabled set to false"],
        "emit.offset-syncs.enabled": ["MirrorCheckpointConnector can't run without offset syncs"],
    }
    assert MirrorCheckpointConnector.problems({**props, "enabled": "false"}) == {}
    assert MirrorCheckpointConnector.problems({**props, "enabled": " False"}) == {}
    assert list(MirrorCheckpointConnector.problems({"emit.checkpoints.enabled": "FALSE "})) == ["emit.checkpoints.enabled"]


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("replication.policy.class", "my.Policy", "Only org.apache.kafka.connect.mirror.DefaultReplicationPolicy and"),
        ("topic.filter.class", "my.Filter", "Only org.apache.kafka.connect.mirror.DefaultTopicFilter is there"),
        ("replication.policy.renames", "a:b,c:b", "'b' is there twice"),
        ("replication.policy.renames", "a", "'a' is not of the form <topic>:<name in the target>"),
        ("topics", "a(", "Invalid regex: Unclosed group near index 2"),
        ("topics", "(?<x>a),(?<x>b)", "Invalid regex: Named capturing group <x> is already defined near index 12"),
    ],
)
def test_a_setting_that_cannot_be_is_told(option: str, value: str, text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        MirrorSourceConfig({"source.cluster.alias": "A", option: value})
    assert text in str(raised.value)
    assert option in str(raised.value)


@pytest.mark.parametrize("value", ["", "x", "my.Policy"])
def test_a_policy_that_is_not_there_is_told_by_the_validation(value: str) -> None:
    (policy,) = (
        v for v in MirrorSourceConfig.definition().validate({"replication.policy.class": value}) if "policy.class" in v.name
    )
    assert "Only org.apache.kafka.connect.mirror.DefaultReplicationPolicy and" in policy.errors[0]


def test_metrics_have_names_of_some_format() -> None:
    values = {v.name: v.errors for v in MirrorSourceConfig.definition().validate({"metric.names.formats": ""})}
    assert values["metric.names.formats"] == [
        "Configuration 'metric.names.formats' must not be empty. Valid values include: [legacy, new]"
    ]


def test_exactly_once_needs_a_consumer_that_reads_committed_records() -> None:
    props = {"exactly.once.support": "required", "source.consumer.isolation.level": "read_committed"}
    assert MirrorSourceConnector.problems(props) == {}
    assert MirrorSourceConnector.exactly_once_support(props)


def test_a_mirror_reads_bytes_whatever_deserializer_is_set() -> None:
    consumer = {f"source.consumer.{side}.deserializer": "my.Deserializer" for side in ("key", "value")}
    props = {**consumer, "source.cluster.alias": "A", "source.cluster.bootstrap.servers": "a:1", ASSIGNED: encode([("t", 0)])}
    found = KafkaSourceConfig(kafka_source_props(MirrorSourceConfig(props), props))
    assert {found.deserializer(side).rpartition(".")[2] for side in ("key", "value")} == {"ByteArrayDeserializer"}
