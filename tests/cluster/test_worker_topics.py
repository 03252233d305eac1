from __future__ import annotations

import pytest

from headrace.cluster.worker_topics import config_topic, offset_topic, status_topic
from headrace.errors import ConfigError


def test_defaults_are_connects():
    props = {"offset.storage.topic": "o", "status.storage.topic": "s", "config.storage.topic": "c"}
    made = [offset_topic(props), status_topic(props), config_topic(props)]
    assert [(t.name, t.partitions, t.replication_factor, t.configs) for t in made] == [
        ("o", 25, 3, {}),
        ("s", 5, 3, {}),
        ("c", 1, 3, {}),
    ]


def test_further_settings_belong_to_the_topic(caplog):
    props = {
        "status.storage.topic": "s",
        "status.storage.partitions": "-1",
        "status.storage.replication.factor": "-1",
        "status.storage.cleanup.policy": "delete",
        "status.storage.max.message.bytes": "2000000",
    }
    made = status_topic(props)
    assert (made.partitions, made.replication_factor, made.configs) == (-1, -1, {"max.message.bytes": "2000000"})
    assert "Ignoring 'status.storage.cleanup.policy=delete' setting, since compaction is always used" in caplog.text


def test_partitions_of_the_config_topic_are_ignored(caplog):
    assert config_topic({"config.storage.topic": "c", "config.storage.partitions": "7"}).partitions == 1
    assert "Ignoring 'config.storage.partitions=7' setting, since config topic partitions is always 1" in caplog.text


@pytest.mark.parametrize(
    ("props", "message"),
    [
        ({}, 'Missing required configuration "offset.storage.topic" which has no default value.'),
        (
            {"offset.storage.topic": "o", "offset.storage.partitions": "0"},
            "Invalid value 0 for configuration offset.storage.partitions: Number of partitions must be positive, or -1 to use "
            "the broker's default",
        ),
        (
            {"offset.storage.topic": "o", "offset.storage.replication.factor": "many"},
            "Invalid value many for configuration offset.storage.replication.factor: Not a number of type SHORT",
        ),
    ],
)
def test_bad_settings_are_named(props, message):
    with pytest.raises(ConfigError) as raised:
        offset_topic(props)
    assert str(raised.value) == message


def test_topics_are_created_unless_that_is_switched_off():
    props = {"offset.storage.topic": "o"}
    assert offset_topic(props).create
    assert not offset_topic({**props, "internal.topics.automatic.creation.enable": "false"}).create
