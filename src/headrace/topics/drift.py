"""Differences of topics from the rules that created them (KIP-158), or from a file's declaration. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headrace.connectors.topic_settings import TopicSettings


@dataclass(frozen=True)
class TopicDrift:
    """One respect in which a topic differs from its rule."""

    topic: str
    group: str
    """The group of `topic.creation.groups` whose rule it is, or `default`; or the file that declares the topic."""
    what: str
    """`partitions`, `replication.factor`, the name of a setting, or `topic` for one that does not exist."""
    wanted: str
    actual: str | None
    """None for a topic, or a setting, that does not exist."""


def topic_drift(
    expected: TopicSettings,
    group: str,
    partitions: int | None,
    replication_factor: int | None,
    settings: Mapping[str, str | None],
) -> Iterator[TopicDrift]:
    """The differences of one topic from the settings that a rule has for it; what these leave to the broker (-1) cannot differ.

    group: of the rule; partitions, replication_factor: None if the topic does not exist; settings: as the broker has them,
    defaults included.
    """
    if partitions is None:
        yield TopicDrift(expected.name, group, "topic", "exists", None)
        return
    counts = {
        "partitions": (expected.partitions, partitions),
        "replication.factor": (expected.replication_factor, replication_factor),
    }
    for setting, (required, actual) in counts.items():
        if required not in (-1, actual):
            yield TopicDrift(expected.name, group, setting, str(required), str(actual))
    for name, required in sorted(expected.configs.items()):
        actual = settings.get(name)
        if actual is None or _form(actual) != _form(required):
            yield TopicDrift(expected.name, group, name, required, actual)


def _form(value: str) -> str:
    """The text by which two values of a setting are compared: Kafka takes lists and booleans in several forms."""
    return ",".join(sorted(part.strip() for part in value.lower().split(",")))
