from __future__ import annotations

import logging

import pytest

from headrace.errors import ConfigError, ConnectError, RetriableError
from headrace.kafka.admin import Admin
from headrace.kafka.internal_topics import WorkerTopic, ensure, require_single_partition


@pytest.fixture(scope="module")
def admin(source_broker) -> Admin:
    return Admin({"bootstrap.servers": source_broker.bootstrap})


def topic(name: str, **changes) -> WorkerTopic:
    given = {"partitions": 2, "replication_factor": 1, **changes}
    return WorkerTopic(name, "offset.storage.topic", "source connector offsets", **given)


def test_a_missing_topic_is_made_compact(admin, topic_name):
    wanted = topic(topic_name(), configs={"max.message.bytes": "2000000"})
    assert ensure(admin, wanted)
    info = admin.describe(wanted.name)
    assert info is not None
    assert len(info.partitions) == 2
    assert admin.topic_configs(wanted.name, own_only=True) == {"cleanup.policy": "compact", "max.message.bytes": "2000000"}


def test_an_existing_compact_topic_is_taken_as_it_is(admin, topic_name):
    name = topic_name()
    admin.create(name, 1, 1, {"cleanup.policy": "compact"})
    assert not ensure(admin, topic(name))


@pytest.mark.parametrize("policy", ["delete", "compact,delete"])
def test_an_existing_topic_that_is_not_only_compact_is_refused(admin, topic_name, policy):
    name = topic_name()
    admin.create(name, 1, 1, {"cleanup.policy": policy})
    with pytest.raises(ConfigError) as raised:
        ensure(admin, topic(name))
    assert str(raised.value) == (
        f"Topic '{name}' supplied via the 'offset.storage.topic' property is required to have 'cleanup.policy=compact' to "
        "guarantee consistency and durability of source connector offsets, but found the topic currently has "
        f"'cleanup.policy={policy}'. Continuing would likely result in eventually losing source connector offsets and problems "
        "restarting this Connect cluster in the future. Change the 'offset.storage.topic' property in the Connect worker "
        "configurations to use a topic with 'cleanup.policy=compact'."
    )


def test_a_replication_factor_that_cannot_be_had_is_retried_until_the_end(admin, topic_name, caplog):
    caplog.set_level(logging.INFO)
    name = topic_name()
    with pytest.raises(RetriableError) as raised:
        ensure(admin, topic(name, replication_factor=3), timeout_s=5, backoff_s=0.05)
    assert str(raised.value) == "Timeout expired while trying to create topic(s)"
    assert raised.value.java_class == "org.apache.kafka.common.errors.TimeoutException"
    assert caplog.text.count(f"'{name}' topic creation failed due to 'Unable to replicate the partition 3 time(s)") > 1


def test_a_bad_topic_setting_is_final(admin, topic_name):
    name = topic_name()
    with pytest.raises(ConnectError) as raised:
        ensure(admin, topic(name, configs={"foo.bar": "1"}))
    assert str(raised.value) == f"Unable to create topic(s) '{name}': Unknown topic config name: foo.bar"


def test_an_unreachable_cluster_ends_within_the_timeout():
    with pytest.raises(RetriableError, match=r"Timeout expired while trying to create topic\(s\)"):
        ensure(Admin({"bootstrap.servers": "127.0.0.1:1"}), topic("x"), timeout_s=1)


def test_without_permission_the_topic_is_taken_to_exist(secured, caplog):
    caplog.set_level(logging.INFO)
    assert not ensure(Admin(secured.props()), topic("forbidden"))
    assert "Not authorized to create topic(s) 'forbidden'" in caplog.text
    assert "Unable to use admin client to verify the cleanup policy of 'forbidden' topic is 'compact'" in caplog.text


def test_the_config_topic_has_one_partition():
    require_single_partition("c", 1)
    with pytest.raises(ConfigError) as raised:
        require_single_partition("c", 2)
    assert str(raised.value) == (
        "Topic 'c' supplied via the 'config.storage.topic' property is required to have a single partition in order to guarantee "
        "consistency of connector configurations, but found 2 partitions."
    )


def test_a_topic_that_is_missing_is_not_created_where_that_is_switched_off(admin: Admin, topic_name):
    name = topic_name("offsets")
    wanted = topic(name, create=False)
    with pytest.raises(ConfigError, match=r"does not exist, and internal\.topics\.automatic\.creation\.enable is false"):
        ensure(admin, wanted)
    assert admin.describe(name) is None
    admin.create(name, 2, 1, {"cleanup.policy": "compact"})
    assert ensure(admin, wanted) is False
