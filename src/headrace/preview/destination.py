"""Where a record goes, and the topic that would be created for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from headrace.errors import HeadraceError
from headrace.kafka.admin import Admin
from headrace.topics.creation import TopicCreation

TIMEOUT_S = 10.0
_NOT_MADE = (
    "the connector creates no topics (no topic.creation.* settings, or the worker forbids it): "
    "the topic has to exist, unless the broker creates it (auto.create.topics.enable)"
)

_NO_RULE = (
    "no rule of topic.creation matches it, so the connector does not create it: "
    "the topic has to exist, unless the broker creates it (auto.create.topics.enable)"
)

Existing = Mapping[str, int | None]
"""Partition counts of topics, None for one that does not exist; a topic that is not in it is one that nothing is known of."""


def destination(topic: str, creation: TopicCreation | None, existing: Existing) -> dict[str, Any]:
    """The `destination` of the form in `run`."""
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
        return destination | {"note": _NOT_MADE}
    new = creation.new_topic(topic)
    if new is None:
        return destination | {"note": _NO_RULE}
    settings = {"partitions": new.partitions, "replication.factor": new.replication_factor, "configs": dict(new.configs)}
    return destination | {"create": {"group": new.group.name, **settings}}


def look_up(topics: Iterable[str], admin: Callable[[], Admin]) -> Existing:
    """Ask the destination cluster; what it does not answer in time stays unknown."""
    counts: dict[str, int | None] = {}
    try:
        client = admin()
        for topic in dict.fromkeys(topics):
            info = client.describe(topic, TIMEOUT_S)
            counts[topic] = None if info is None else len(info.partitions)
    except HeadraceError:
        return counts
    return counts
