"""Topics that a mirror creates (KIP-158), and what becomes of a task that may or can not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import pytest
from confluent_kafka import Producer

from headrace.embedded import Broker
from tests.mirror.clusters import Cluster, Sent, record
from tests.mirror.mirror import MIRROR_S, Mirror
from tests.support import wait_until

Make = Callable[..., Mirror]
Name = Callable[[str], str]
Events = list[MutableMapping[str, Any]]

NO_RULES = {f"topic.creation.default.{key}": None for key in ("partitions", "replication.factor", "retention.ms")}
CONNECT = "org.apache.kafka.connect.errors.ConnectException: "


def values(count: int, first: int = 0) -> list[Sent]:
    return [record(None, b"%d" % n) for n in range(first, first + count)]


def filled(source: Cluster, topic: str, count: int = 10) -> str:
    source.create(topic)
    source.produce(topic, values(count))
    return topic


def own_configs(cluster: Cluster, topic: str) -> tuple[int, dict[str, str | None]]:
    """Partitions, and the settings that are the topic's own."""
    info = cluster.admin.describe(topic)
    return len(info.partitions) if info else 0, cluster.admin.topic_configs(topic, own_only=True)


def test_each_topic_gets_the_settings_of_the_first_group_that_matches(source: Cluster, mirror: Make, topic_name: Name) -> None:
    logs, facts, other = (filled(source, topic_name(stem)) for stem in ("logs", "facts", "other"))
    exempt = filled(source, topic_name("logs-exempt"))
    one = mirror(f"{logs},{facts},{other},{exempt}", {
        "tasks.max": "2", "topic.creation.groups": "compact, short",
        "topic.creation.compact.include": r".*\\.facts-.*,.*\\.logs-exempt.*", "topic.creation.compact.partitions": "3",
        "topic.creation.compact.cleanup.policy": "compact", "topic.creation.compact.min.compaction.lag.ms": "3600000",
        "topic.creation.short.include": r".*\\.logs-.*,.*\\.facts-.*", "topic.creation.short.exclude": ".*-exempt.*",
        "topic.creation.short.partitions": "-1", "topic.creation.short.segment.bytes": "1048576",
        "topic.creation.default.partitions": "2",
    })  # fmt: skip
    for topic in (logs, facts, other, exempt):
        assert sorted(one.await_copied(topic, 10)) == sorted(r._replace(partition=c.partition)
            for r, c in zip(values(10), one.await_copied(topic, 10), strict=True))
    compact = (3, {"cleanup.policy": "compact", "min.compaction.lag.ms": "3600000"})
    assert own_configs(one.destination, one.prefix + facts) == compact
    assert own_configs(one.destination, one.prefix + exempt) == compact
    assert own_configs(one.destination, one.prefix + logs) == (1, {"segment.bytes": "1048576"})
    assert own_configs(one.destination, one.prefix + other) == (2, {"retention.ms": "-1"})
