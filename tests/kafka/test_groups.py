from __future__ import annotations

import time

import pytest
from confluent_kafka import Consumer

from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.groups import CommittedOffset, GroupOffsets


@pytest.fixture
def topic(source_broker, topic_name) -> str:
    name = topic_name()
    Admin({"bootstrap.servers": source_broker.bootstrap}).create(name, 2, 1)
    return name


@pytest.fixture
def group(source_broker, topic_name) -> GroupOffsets:
    return GroupOffsets({"bootstrap.servers": source_broker.bootstrap}, topic_name("group"))


def test_offsets_are_read_as_they_were_written(group, topic):
    both = [(topic, 0), (topic, 1)]
    assert group.read(both, 120) == {}
    group.write({(topic, 0): 5}, 120)
    assert group.read(both, 120) == {(topic, 0): 5}
    group.write({(topic, 0): 3, (topic, 1): 9}, 120)
    assert group.read(both, 120) == {(topic, 0): 3, (topic, 1): 9}
    group.write({}, 120)
    assert group.read([], 120) == {}


def test_a_text_is_committed_and_read_beside_an_offset(group, topic):
    committed = {(topic, 0): CommittedOffset(5, "AgAAAY—é"), (topic, 1): CommittedOffset(9)}
    group.commit(committed, 120)
    assert group.committed([(topic, 0), (topic, 1)], 120) == committed
    assert group.read([(topic, 0)], 120) == {(topic, 0): 5}


def test_a_group_with_active_members_is_left_alone(source_broker, topic, topic_name):
    name = topic_name("group")
    member = Consumer({"bootstrap.servers": source_broker.bootstrap, "group.id": name})
    member.subscribe([topic])
    deadline = time.monotonic() + 180
    while not member.assignment() and time.monotonic() < deadline:
        member.poll(0.1)
    group = GroupOffsets({"bootstrap.servers": source_broker.bootstrap}, name)
    with pytest.raises(KafkaFailure) as raised:
        group.write({(topic, 0): 5}, 10)
    assert raised.value.code == "UNKNOWN_MEMBER_ID"
    member.close()
    group.write({(topic, 0): 5}, 120)
    assert group.read([(topic, 0)], 120) == {(topic, 0): 5}


def test_the_first_group_of_a_new_cluster_is_waited_for(secured):
    # the topic of offsets does not exist yet: its coordinator has to be made first
    props = {"bootstrap.servers": secured.broker.bootstrap}
    Admin(props).create("groups", 1, 1)
    group = GroupOffsets(props, "first")
    group.write({("groups", 0): 7}, 60)
    assert group.read([("groups", 0)], 60) == {("groups", 0): 7}
