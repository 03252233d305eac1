"""The destination topic of a record, and the settings with which it would be created."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from headrace.errors import HeadraceError
from headrace.kafka.admin import Admin
from headrace.topics.creation import TopicCreation

TIMEOUT_S = 10.0
_CREATES_NO_TOPICS = (
    "the connector creates no topics (no topic.creation.* settings, or the worker forbids it): "
    "the topic has to exist, unless the broker creates it (auto.create.topics.enable)"
)

_NO_RULE = (
    "no rule of topic.creation matches it, so the connector does not create it: "
    "the topic has to exist, unless the broker creates it (auto.create.topics.enable)"
)

ExistingTopics = Mapping[str, int | None]
"""Partition counts of topics, None for a topic that does not exist; topics that could not be described are not in it."""


def destination(topic: str, creation: TopicCreation | None, existing: ExistingTopics) -> dict[str, Any]:
    """The member `destination` of a preview (`headrace.preview.run`)."""
    exists = existing[topic] is not None if topic in existing else None
    destination: dict[str, Any] = {
        "topic": topic,
        "exists": exists,
        "partitions": existing.get(topic),
        "create": None,
        "note": None,
    }
    if exists:
        return destination
    if creation is None:
        return destination | {"note": _CREATES_NO_TOPICS}
    new = creation.new_topic(topic)
    if new is None:
        return destination | {"note": _NO_RULE}
    settings = {"partitions": new.partitions, "replication.factor": new.replication_factor, "configs": dict(new.configs)}
    return destination | {"create": {"group": new.group.name, **settings}}


def existing_topics(topics: Iterable[str], admin: Callable[[], Admin]) -> ExistingTopics:
    """Describe topics of the destination cluster.

    Those that this principal may not describe are left out; all, if the cluster does not answer in time.
    """
    try:
        described = admin().described(filter(None, dict.fromkeys(topics)), TIMEOUT_S)
    except HeadraceError:
        return {}
    return {topic: None if info is None else len(info.partitions) for topic, info in described.items()}
