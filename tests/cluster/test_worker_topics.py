from __future__ import annotations

import pytest

from headrace.cluster.worker_topics import config_topic, offset_topic, status_topic
from headrace.errors import ConfigError
from headrace.runtime.distributed_config import DistributedConfig


def worker(**settings: str) -> DistributedConfig:
    topics = {"offset.storage.topic": "o", "status.storage.topic": "s", "config.storage.topic": "c"}
    converters = {"key.converter": "StringConverter", "value.converter": "StringConverter"}
    return DistributedConfig({"group.id": "g", **converters, **topics, **settings})


def test_defaults_are_connects():
    config = worker()
    made = [offset_topic(config), status_topic(config), config_topic(config)]
    assert [(t.name, t.partitions, t.replication_factor, t.configs) for t in made] == [
        ("o", 25, 3, {}),
        ("s", 5, 3, {}),
        ("c", 1, 3, {}),
    ]


def test_further_settings_belong_to_the_topic(caplog):
    settings = {
        "status.storage.partitions": "-1",
        "status.storage.replication.factor": "-1",
        "status.storage.cleanup.policy": "delete",
        "status.storage.max.message.bytes": "2000000",
    }
    made = status_topic(worker(**settings))
    assert (made.partitions, made.replication_factor, made.configs) == (-1, -1, {"max.message.bytes": "2000000"})
    assert "Ignoring 'status.storage.cleanup.policy=delete' setting, since compaction is always used" in caplog.text


def test_partitions_of_the_config_topic_are_ignored(caplog):
    assert config_topic(worker(**{"config.storage.partitions": "7"})).partitions == 1
    assert "Ignoring 'config.storage.partitions=7' setting, since config topic partitions is always 1" in caplog.text


def test_an_empty_name_is_a_missing_one():
    with pytest.raises(ConfigError) as raised:
        offset_topic(worker(**{"offset.storage.topic": ""}))
    assert str(raised.value) == 'Missing required configuration "offset.storage.topic" which has no default value.'


def test_topics_are_created_unless_that_is_switched_off():
    assert offset_topic(worker()).create
    assert not offset_topic(worker(**{"internal.topics.automatic.creation.enable": "false"})).create
