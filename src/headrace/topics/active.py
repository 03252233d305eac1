"""Which topics a connector has really used: the records of KIP-558 in the status topic, in the adopted form. Pure.

    key    status-topic-orders:connector-jdbc-src
    value  {"topic":{"name":"orders","connector":"jdbc-src","task":3,"discoverTimestamp":1700000000123}}

The colon is safe: it is illegal in names of topics, so the first one ends the topic and a connector's name may
contain more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from headrace.config import parse_list
from headrace.config.java_pattern import java_regex

log = structlog.get_logger(__name__)

KEY_PREFIX = "status-topic-"
SEPARATOR = ":connector-"


@dataclass(frozen=True)
class TopicStatus:
    """A topic that a connector uses."""

    topic: str
    connector: str
    task: int
    """The one that reported last."""
    discover_timestamp_ms: int
    """When it did, epoch ms."""


ActiveTopics = Mapping[str, Mapping[str, TopicStatus]]
"""connector → topic → status; a snapshot, never changed in place."""


def encode_key(topic: str, connector: str) -> str:
    """The key of the record of an active topic; a tombstone with it removes the active topic."""
    return f"{KEY_PREFIX}{topic}{SEPARATOR}{connector}"


def decode_key(key: str) -> tuple[str, str] | None:
    """(topic, connector) of a key; None, with a warning in Kafka Connect's words, if it is not a valid one."""
    topic, colon, _ = key.removeprefix(KEY_PREFIX).partition(":")
    suffix = key.removeprefix(KEY_PREFIX).removeprefix(topic)
    if not key.startswith(KEY_PREFIX) or not colon or not suffix.startswith(SEPARATOR):
        problem = "containing empty topic " if key.startswith(KEY_PREFIX + ":") else ""
    elif not topic:
        problem = "containing empty topic "
    elif suffix == SEPARATOR:
        problem = "containing empty connector "
    else:
        return topic, suffix.removeprefix(SEPARATOR)
    log.warning("Discarding record with invalid topic status key %s%s", problem, key)
    return None


def encode_value(topic: str, connector: str, task: int, discover_timestamp_ms: int) -> dict[str, Any]:
    """The JSON object of a record's value, in the field order of Kafka Connect."""
    fields = {"name": topic, "connector": connector, "task": task, "discoverTimestamp": discover_timestamp_ms}
    return {"topic": fields}


def decode_value(value: bytes) -> TopicStatus | None:
    """The status in a record's value; unknown fields are ignored. None, with an error logged, if it is not one."""
    try:
        document = json.loads(value)
    except (ValueError, RecursionError) as error:
        log.error("Failed to deserialize topic status: %s", error)
        return None
    if not isinstance(document, dict):
        log.error("Invalid topic status value %s", document)
        return None
    fields = document.get("topic")
    if not isinstance(fields, dict):
        log.error("Invalid topic status value %s for field topic", fields)
        return None
    try:
        return TopicStatus(str(fields["name"]), str(fields["connector"]), int(fields["task"]), int(fields["discoverTimestamp"]))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        log.error("Failed to deserialize topic status: %s %s in %s", type(error).__name__, error, fields)
        return None


def add(active: ActiveTopics, status: TopicStatus) -> ActiveTopics:
    """The snapshot with this topic in use."""
    topics = {**active.get(status.connector, {}), status.topic: status}
    return {**active, status.connector: topics}


def remove(active: ActiveTopics, connector: str, topic: str) -> ActiveTopics:
    """The snapshot without this topic; a connector without topics is not in it."""
    if topic not in active.get(connector, {}):
        return active
    remaining = {name: status for name, status in active[connector].items() if name != topic}
    other_connectors = {name: topics for name, topics in active.items() if name != connector}
    return {**other_connectors, connector: remaining} if remaining else other_connectors


def no_longer_consumed(active: Iterable[str], config: Mapping[str, str | None]) -> set[str]:
    """The active topics that a sink's new configuration does not consume, to be ended by tombstones (KIP-558's
    proposal).

    active: the connector's active topics; config: its new configuration with `topics` or `topics.regex` (Java syntax,
    whole name). Without either, nothing can be said and nothing is ended. Raises JavaRegexError for a bad pattern.
    Kafka Connect never did this: there a topic stays until a reset or the deletion of the connector.
    """
    listed, pattern = ((config.get(name) or "").strip() for name in ("topics", "topics.regex"))
    if not listed and not pattern:
        return set()
    names = set(parse_list(listed))
    regex = java_regex(pattern) if pattern else None
    return {t for t in active if t not in names and not (regex and regex.fullmatch(t))}
