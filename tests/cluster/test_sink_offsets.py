"""Offsets of sinks as REST takes them (KIP-875); the requests themselves are played in tests/conformance and tests/sinks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from weakref import ref

import pytest

from headrace.cluster import sink_offsets
from headrace.cluster.records import TargetState
from headrace.cluster.sink_offsets import SinkOffsets, parse
from headrace.cluster.state import ClusterState
from headrace.errors import BadRequestError, ConnectError
from headrace.kafka.admin import Admin, shared
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.groups import GroupOffsets
from headrace.runtime.standalone_config import StandaloneConfig
from tests.clusters import Cluster

CONVERTERS = {f"{part}.converter": "org.apache.kafka.connect.storage.StringConverter" for part in ("key", "value")}
GOOD = {"kafka_topic": "t", "kafka_partition": 0}


def test_numbers_may_be_texts() -> None:
    changes = [({"kafka_topic": "t", "kafka_partition": "1"}, {"kafka_offset": "7"}), (GOOD, None)]
    assert parse(changes) == {("t", 1): 7, ("t", 0): None}
    for text, number in (("+05", 5), ("-9223372036854775808", -(2**63)), ("0" * 5000 + "7", 7)):
        assert parse([(GOOD, {"kafka_offset": text})]) == {("t", 0): number}


@pytest.mark.parametrize(("partition", "offset", "sentence"), [
    (None, None, "cannot be null or missing"),
    ({"kafka_topic": "t"}, None, "must contain the keys 'kafka_topic' and 'kafka_partition'"),
    ({"kafka_topic": None, "kafka_partition": 0}, None, "Kafka topic names must be valid strings and may not be null"),
    ({"kafka_topic": "t", "kafka_partition": None}, None, "Kafka partitions must be valid numbers and may not be null"),
    ({"kafka_topic": "t", "kafka_partition": "one"}, None, "partition value in the provided offsets: 'one'"),
    (GOOD, {}, "should either be null or contain the key 'kafka_offset'"),
    (GOOD, {"kafka_offset": None}, "offset value in the provided offsets: 'null'"),
    (GOOD, {"kafka_offset": 1.5}, "offset value in the provided offsets: '1.5'"),
    ({"kafka_topic": "t", "kafka_partition": 2**31}, None, "partition value in the provided offsets: '2147483648'"),
    (GOOD, {"kafka_offset": 2**63}, "offset value in the provided offsets: '9223372036854775808'"),
    (GOOD, {"kafka_offset": "9" * 4301}, "offset value in the provided offsets: '9999"),
    (GOOD, {"kafka_offset": "+-1"}, r"offset value in the provided offsets: '\+-1'"),
    (GOOD, {"kafka_offset": True}, "offset value in the provided offsets: 'true'"),
    (GOOD, {"kafka_offset": {"a": [1, None]}}, r"offset value in the provided offsets: '{a=\[1, null\]}'"),
    (GOOD, {"kafka_offset": 1e20}, "offset value in the provided offsets: '1.0E20'"),
    ({"kafka_topic": "t", "kafka_partition": ["x", None]}, None, r"partition value in the provided offsets: '\[x, null\]'"),
])  # fmt: skip
def test_what_is_no_offset_is_refused_in_kafkas_words(partition: Any, offset: Any, sentence: str) -> None:
    with pytest.raises(BadRequestError, match=sentence):
        parse([(partition, offset)])


def test_the_lag_is_asked_for_through_one_client_and_no_consumer_stays(monkeypatch: pytest.MonkeyPatch):
    admins: list[ref[Admin]] = []
    closed: list[GroupOffsets] = []

    def noted(props: Mapping[str, str]) -> Admin:
        admin = shared(props)
        admins.append(ref(admin))
        return admin

    monkeypatch.setattr(sink_offsets, "shared", noted)
    monkeypatch.setattr(GroupOffsets, "close", lambda group: closed.append(group))

    def refuse(admin: Any, group: str, timeout_s: float) -> None:
        admin._group(group)
        raise KafkaFailure("GROUP_AUTHORIZATION_FAILED", "no")

    monkeypatch.setattr("headrace.kafka.admin.Admin.committed", refuse)
    worker = StandaloneConfig({"bootstrap.servers": "127.0.0.1:1", **CONVERTERS, "offset.storage.file.filename": "o"})
    offsets = SinkOffsets(worker, lambda: None)  # type: ignore[arg-type]
    for name in ("one", "other"):
        with pytest.raises(KafkaFailure):
            offsets.lag(name, {"topics": "t"})
    assert admins[0]() is admins[1]() is not None
    assert len(closed) == 2


def test_the_client_is_not_made_with_overrides_that_the_policy_refuses() -> None:
    props = {"bootstrap.servers": "127.0.0.1:1", **CONVERTERS, "offset.storage.file.filename": "o"}
    override = {"topics": "t", "admin.override.bootstrap.servers": "127.0.0.1:2"}
    client = SinkOffsets(StandaloneConfig(props), lambda: None)._client("a", override)  # type: ignore[arg-type]
    assert (client["client.id"], client["bootstrap.servers"]) == ("connector-worker-adminclient-a", "127.0.0.1:2")
    refusing = StandaloneConfig({**props, "connector.client.config.override.policy": "None"})
    with pytest.raises(ConnectError, match="Client Config Overrides not allowed: The 'None' policy does not allow 'bootstrap"):
        SinkOffsets(refusing, lambda: None).read("a", override)  # type: ignore[arg-type]


def test_a_group_with_members_is_refused_in_kafkas_words(destination: Cluster, topic_name: Callable[[], str]) -> None:
    name = topic_name()
    destination.create(name)
    worker = StandaloneConfig({"bootstrap.servers": destination.bootstrap, **CONVERTERS, "offset.storage.file.filename": "o"})
    offsets, config = SinkOffsets(worker, lambda: None), {"connector.class": "FileStreamSink", "topics": name}  # type: ignore[arg-type]
    sentence = f"Failed to {{}} consumer group offsets for connector {name} either because its tasks haven't stopped"
    with destination.member(f"connect-{name}", name):
        with pytest.raises(ConnectError, match=sentence.format("alter")):
            offsets.alter(name, config, [({"kafka_topic": name, "kafka_partition": 0}, {"kafka_offset": 0})])
        with pytest.raises(ConnectError, match=sentence.format("reset")):
            offsets.reset(name, config)


def test_the_offsets_of_a_group_that_another_sink_consumes_in_are_left_alone() -> None:
    worker = StandaloneConfig({"bootstrap.servers": "127.0.0.1:1", **CONVERTERS, "offset.storage.file.filename": "o"})
    shared_group = {"connector.class": "FileStreamSink", "topics": "t", "consumer.override.group.id": "mine"}
    sinks = {"a": shared_group, "b": shared_group, "c": {**shared_group, "consumer.override.group.id": "own"}}
    running = ClusterState(connectors=sinks, task_counts={"b": 1, "c": 1}, committed={"b": {0: {}}, "c": {0: {}}})
    offsets = SinkOffsets(worker, lambda: None, lambda: running)  # type: ignore[arg-type]
    sentence = "Failed to {0} consumer group offsets for connector a either because .* request to {0} its offsets"
    with pytest.raises(ConnectError, match=sentence.format("alter")):
        offsets.alter("a", shared_group, [(GOOD, {"kafka_offset": 1})])
    with pytest.raises(ConnectError, match=sentence.format("reset")):
        offsets.reset("a", shared_group)
    stopped = replace(running, targets={"b": TargetState.STOPPED})
    for name, state in (("a", stopped), ("c", running)):
        offsets = SinkOffsets(worker, lambda: None, lambda state=state: state)  # type: ignore[arg-type,misc]
        offsets._require_unused_group("alter", name, sinks[name])
