"""Compares existing internal topics with the required ones, without requests. Kafka's rules and sentences, each with a remedy for
the operator, who may not have written the application (KIP-698).

Settings that may lose data are verified: partitions, and what deletes or compacts records. Replicas, segments and timestamps are
not. What the user's code sets itself is expected (`InternalTopic.configs`), before the defaults of Kafka Streams.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from headrace.config import Type, parse_type
from headrace.streams.internal_topics import InternalTopic, TopicKind


@dataclass(frozen=True)
class ExistingTopic:
    """A topic on the cluster."""

    partitions: int
    configs: Mapping[str, str | None]
    """Every setting with its value, also where that is the default."""


@dataclass(frozen=True)
class Misconfiguration:
    """A problem of a topic, and its remedy."""

    topic: str
    sentence: str
    """What is wrong, in Kafka's words."""
    remedy: str
    """Sentences for the operator."""
    settings: Mapping[str, str | None] = field(default_factory=dict)
    """The settings that correct it, None for one to be unset; without any the application cannot run with it in any mode."""


@dataclass(frozen=True)
class Verification:
    """The missing internal topics, and the problems of existing ones."""

    missing: tuple[InternalTopic, ...]
    misconfigured: tuple[Misconfiguration, ...]

    @property
    def misconfigured_topics(self) -> list[str]:
        """Their names, each once."""
        return list(dict.fromkeys(problem.topic for problem in self.misconfigured))

    def explanation(self) -> str:
        """Each misconfiguration with its remedy, a line each."""
        return "\n".join(f"{problem.sentence} {problem.remedy}" for problem in self.misconfigured)


def verify(expected: Iterable[InternalTopic], existing: Mapping[str, ExistingTopic]) -> Verification:
    """Compare the internal topics of an application with the topics of the cluster. Raises ConfigError for a time of the user's
    that is no number.
    """
    topics = list(expected)
    missing = tuple(topic for topic in topics if topic.name not in existing)
    problems = (problem for topic in topics if topic.name in existing for problem in _problems(topic, existing[topic.name]))
    return Verification(missing, tuple(problems))


def _problems(topic: InternalTopic, existing: ExistingTopic) -> Iterator[Misconfiguration]:
    if existing.partitions != topic.partitions:
        yield Misconfiguration(
            topic.name,
            f"Internal topic {topic.name} requires {topic.partitions} partitions, but the existing topic on the broker has "
            f"{existing.partitions} partitions.",
            "Either this topic was altered, or a source topic has more partitions than when it was made. The number cannot be "
            "repaired in place: stop the application, and reset it with kafka-streams-application-reset.sh, which deletes the "
            "topic; then initialize it again.",
        )
    policy, expected_policy = existing.configs.get("cleanup.policy") or "", topic.configs["cleanup.policy"]
    if topic.kind is TopicKind.REPARTITION:
        yield from _repartition(topic, existing, policy)
    elif topic.kind is TopicKind.WINDOWED_CHANGELOG:
        if "delete" in policy:
            yield from _retention(topic, existing)
    elif "delete" in policy and "delete" not in expected_policy:
        yield _policy(topic.name, "delete", {"cleanup.policy": expected_policy})
    if topic.kind is TopicKind.VERSIONED_CHANGELOG:
        yield from _at_least(topic, existing, "min.compaction.lag.ms", "Min compaction lag")


def _repartition(topic: InternalTopic, existing: ExistingTopic, policy: str) -> Iterator[Misconfiguration]:
    expected_policy, expected_retention = topic.configs["cleanup.policy"], topic.configs["retention.ms"]
    if "compact" in policy and "compact" not in expected_policy:
        yield _policy(topic.name, "compact", {"cleanup.policy": expected_policy, "retention.ms": expected_retention})
    elif "delete" in policy:
        retention = existing.configs.get("retention.ms")
        if retention != expected_retention:
            sentence = (
                f"Retention time (retention.ms) of existing internal topic {topic.name} is {retention} but should be "
                f"{expected_retention}."
            )
            yield _settable(topic.name, sentence, {"retention.ms": expected_retention})
        yield from _no_retention_bytes(topic, existing)


def _retention(topic: InternalTopic, existing: ExistingTopic) -> Iterator[Misconfiguration]:
    yield from _at_least(topic, existing, "retention.ms", "Retention time")
    yield from _no_retention_bytes(topic, existing)


def _at_least(topic: InternalTopic, existing: ExistingTopic, key: str, what: str) -> Iterator[Misconfiguration]:
    """Check a minimum time. A retention of −1 is unlimited: enough for every other, and more than any of them."""
    actual, required = int(existing.configs.get(key) or 0), parse_type(key, topic.configs[key], Type.LONG)
    endless = -1 if key == "retention.ms" else None
    if actual != endless and (actual < required or required == endless):
        minimum = str(required) if required == endless else f"{required} or larger"
        sentence = f"{what} ({key}) of existing internal topic {topic.name} is {actual} but should be {minimum}."
        yield _settable(topic.name, sentence, {key: str(required)})


def _no_retention_bytes(topic: InternalTopic, existing: ExistingTopic) -> Iterator[Misconfiguration]:
    actual, name = existing.configs.get("retention.bytes"), topic.name
    if actual in (None, "-1", topic.configs.get("retention.bytes")):  # brokers report -1 for what is not set
        return
    if (expected := topic.configs.get("retention.bytes")) is not None:
        sentence = f"Retention byte (retention.bytes) of existing internal topic {name} is {actual} but should be {expected}."
        yield _settable(name, sentence, {"retention.bytes": expected})
    else:
        sentence = f"Retention byte (retention.bytes) of existing internal topic {name} is set but it should be unset."
        command = f"kafka-configs.sh --alter --entity-type topics --entity-name {name} --delete-config retention.bytes"
        yield Misconfiguration(name, sentence, f"Unset it with: {command}", {"retention.bytes": None})


def _policy(name: str, wrong: str, settings: Mapping[str, str]) -> Misconfiguration:
    sentence = f'Cleanup policy (cleanup.policy) of existing internal topic {name} should not contain "{wrong}".'
    return _settable(name, sentence, settings)


def _settable(name: str, sentence: str, settings: Mapping[str, str]) -> Misconfiguration:
    configs = ",".join(f"{key}={value}" for key, value in settings.items())
    remedy = (
        f"Set it with: kafka-configs.sh --alter --entity-type topics --entity-name {name} --add-config {configs}; "
        "records that are gone by now stay lost."
    )
    return Misconfiguration(name, sentence, remedy, dict(settings))
