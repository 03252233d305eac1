"""What a cluster says of a topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

_NO_ID = "A" * 22


@dataclass(frozen=True)
class ConfiguredValue:
    """The value of a topic's setting on the broker."""

    value: str | None
    """None if it is secret."""
    is_own: bool
    """Set for this topic, not inherited from the broker."""


@dataclass(frozen=True)
class TopicInfo:
    """A topic's description."""

    name: str
    partitions: Mapping[int, int | None]
    """The leader of each partition, None without one."""
    internal: bool
    replication_factor: int
    topic_id: str
    """As Kafka's tools print it, URL-safe base64; empty if brokers have no topic ids."""

    @classmethod
    def of(cls, topic: Any) -> Self:
        """From a TopicDescription of confluent-kafka."""
        leaders = {partition.id: partition.leader.id if partition.leader else None for partition in topic.partitions}
        replicas = max((len(partition.replicas) for partition in topic.partitions), default=0)
        topic_id = str(topic.topic_id).translate(str.maketrans("+/", "-_"))
        return cls(topic.name, leaders, topic.is_internal, replicas, "" if topic_id == _NO_ID else topic_id)
