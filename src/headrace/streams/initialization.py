"""The explicit initialization of a streams application (KIP-698): derive its internal topics → verify them → set them up.

`describe_internal_topics` asks the cluster, `topics_to_create` decides by KIP-698's table, `topic_setup.create_topics` creates.
`prepare_for_start` is used by a start.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import structlog

from headrace.errors import (
    InternalTopicsAlreadySetupError,
    MisconfiguredInternalTopicError,
    MissingInternalTopicsError,
    MissingSourceTopicError,
    StreamsError,
    StreamsTimeoutError,
)
from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure, RetriableKafkaFailure
from headrace.retry import retry_until
from headrace.streams.config import MANUAL_SETUP, StreamsConfig
from headrace.streams.internal_topics import InternalTopic, check_copartitioned, derive, external_topics
from headrace.streams.topic_setup import create_topics
from headrace.streams.topology import Topology
from headrace.streams.verification import ExistingTopic, Verification, verify

log = structlog.get_logger(__name__)

FATAL = (MissingSourceTopicError, MissingInternalTopicsError, MisconfiguredInternalTopicError)
"""Errors that no retry helps against: an operator has to repair the topics."""


@dataclass(frozen=True)
class InitParameters:
    """What `init` does if some, but not all internal topics are missing: raise, or create them, empty."""

    setup_internal_topics_if_incomplete_enabled: bool = False

    @classmethod
    def init_parameters(cls) -> InitParameters:
        """The default: raise."""
        return cls()

    def enable_setup_internal_topics_if_incomplete(self) -> InitParameters:
        """Create the missing topics, empty."""
        return replace(self, setup_internal_topics_if_incomplete_enabled=True)

    def disable_setup_internal_topics_if_incomplete(self) -> InitParameters:
        """Raise MissingInternalTopicsError, and create nothing."""
        return replace(self, setup_internal_topics_if_incomplete_enabled=False)


@dataclass(frozen=True)
class InternalTopicsDescription:
    """The internal topics that an application needs, compared with those on the cluster."""

    topics: tuple[InternalTopic, ...]
    verification: Verification
    ids: Mapping[str, str] = field(default_factory=dict)
    """Topic ids, of those that exist."""
    sources: Mapping[str, int] = field(default_factory=dict)
    """The source topics, with their numbers of partitions."""

    def state_of(self, topic: InternalTopic) -> str:
        """`missing`, `misconfigured` or `ok`."""
        if topic in self.verification.missing:
            return "missing"
        return "misconfigured" if topic.name in self.verification.misconfigured_topics else "ok"

    def json(self) -> list[dict[str, Any]]:
        """The topics as `headrace streams plan --json` prints them."""
        problems = self.verification.misconfigured
        return [
            {
                "name": topic.name,
                "kind": topic.kind,
                "partitions": topic.partitions,
                "replication_factor": topic.replication_factor,
                "configs": dict(topic.configs),
                "state": self.state_of(topic),
                "problems": [problem.sentence for problem in problems if problem.topic == topic.name],
            }
            for topic in self.topics
        ]


def describe_internal_topics(
    topology: Topology, config: StreamsConfig, admin: Admin, timeout_s: float, planned: Mapping[str, int] | None = None
) -> InternalTopicsDescription:
    """Derive the internal topics and verify those that exist; changes nothing.

    planned: numbers of partitions of source topics that are about to be created, or to get as many.
    Raises MissingSourceTopicError, TopologyError (co-partitioning), TaskAssignmentError, StreamsTimeoutError, StreamsError.
    """
    try:
        return retry_until(
            partial(_describe, topology, config, admin, planned or {}),
            timeout_s, config.retry_backoff_ms / 1000, lambda error: isinstance(error, RetriableKafkaFailure),
        )  # fmt: skip
    except RetriableKafkaFailure as failure:
        raise StreamsTimeoutError(
            f"Could not validate internal topics within {round(timeout_s * 1000)} milliseconds. This can happen if the Kafka "
            "cluster is temporarily not available."
        ) from failure
    except KafkaFailure as failure:
        raise StreamsError(f"Could not validate internal topics for the following reason: {failure.reason}") from failure


def _describe(
    topology: Topology, config: StreamsConfig, admin: Admin, planned: Mapping[str, int], timeout_s: float
) -> InternalTopicsDescription:
    deadline = time.monotonic() + timeout_s
    there = admin.find(admin.partition_counts(timeout_s), _left_s(deadline))
    partition_counts = {**{name: len(topic.partitions) for name, topic in there.items()}, **planned}
    sources = {name: partition_counts[name] for name in external_topics(topology, partition_counts)}
    expected = derive(topology, config, partition_counts.get, partition_counts)
    check_copartitioned(topology, partition_counts.get, partition_counts)
    existing_internal = {
        topic.name: ExistingTopic(len(there[topic.name].partitions), configs)
        for topic in expected
        if topic.name in there and (configs := _configs(admin, topic.name, deadline)) is not None
    }
    ids = {name: there[name].topic_id for name in existing_internal}
    return InternalTopicsDescription(tuple(expected), verify(expected, existing_internal), ids, sources)


def _configs(admin: Admin, name: str, deadline: float) -> dict[str, str | None] | None:
    """The settings of a topic; None if it is being deleted, although a broker still listed it."""
    try:
        return admin.topic_configs(name, timeout_s=_left_s(deadline))
    except KafkaFailure as failure:
        # A broker whose metadata is behind says so of a topic that exists: then all is asked again.
        if failure.code == "UNKNOWN_TOPIC_OR_PARTITION" and admin.describe(name, _left_s(deadline)) is None:
            return None
        if isinstance(failure, RetriableKafkaFailure):
            raise
        raise StreamsError(f"Could not validate internal topic {name} for the following reason: {failure.reason}") from failure


def _left_s(deadline: float) -> float:
    return max(deadline - time.monotonic(), 0.1)


def topics_to_create(description: InternalTopicsDescription, parameters: InitParameters) -> tuple[InternalTopic, ...]:
    """KIP-698's decision: the topics that `init` has to create.

    A topology without internal topics needs none, which is no error. Raises MisconfiguredInternalTopicError, then
    InternalTopicsAlreadySetupError if all are there, MissingInternalTopicsError if some are and the parameters do not allow more.
    """
    missing = description.verification.missing
    _refuse_misconfigured(description)
    if description.topics and not missing:
        raise InternalTopicsAlreadySetupError(
            "All required internal topics already exist: the application has been initialized before. Start it without init; to "
            "start again, reset it with kafka-streams-application-reset.sh first."
        )
    if len(missing) < len(description.topics) and not parameters.setup_internal_topics_if_incomplete_enabled:
        raise MissingInternalTopicsError(
            [topic.name for topic in missing],
            f"Some but not all internal topics are missing: {_names(missing)}. Nothing has been created, because what they held "
            "may be lost. To continue without it, initialize with setup if incomplete enabled, which creates them empty.",
        )
    return missing


def initialize(
    topology: Topology, config: StreamsConfig, admin: Admin, parameters: InitParameters, timeout_s: float | None = None
) -> tuple[InternalTopic, ...]:
    """Create the internal topics of an application that has none, or complete them if the parameters allow it.

    timeout_s: for everything; without it, half of `max.poll.interval.ms` each for the description and the creation. Returns the
    created topics. Raises what `describe_internal_topics`, `topics_to_create` and `create_topics` raise; then none was created.
    """
    each_s = config.max_poll_interval_ms / 2000
    deadline = time.monotonic() + (2 * each_s if timeout_s is None else timeout_s)
    description = describe_internal_topics(topology, config, admin, each_s if timeout_s is None else timeout_s)
    topics = topics_to_create(description, parameters)
    left_s = deadline - time.monotonic()
    given_s = each_s if timeout_s is None or left_s > each_s else timeout_s
    create_topics(admin, topics, min(each_s, left_s), config.retry_backoff_ms / 1000, given_s=given_s)
    return topics


def require_initialized(description: InternalTopicsDescription) -> None:
    """Raise MissingInternalTopicsError or MisconfiguredInternalTopicError unless all internal topics exist, well configured."""
    if missing := description.verification.missing:
        raise MissingInternalTopicsError(
            [topic.name for topic in missing],
            f"Missing internal topics: {_names(missing)}. If the application has never run, create them with `headrace streams "
            "init`; if it has, find out who deleted them, because what they held is lost.",
        )
    _refuse_misconfigured(description)


def prepare_for_start(description: InternalTopicsDescription, config: StreamsConfig, admin: Admin) -> None:
    """Prepare the internal topics for a start: in manual mode `require_initialized`; in automatic mode create missing topics, and
    correct wrong settings, with a warning in the log.

    Raises, in automatic mode, MisconfiguredInternalTopicError for what cannot be corrected: a wrong number of partitions.
    """
    if config.internal_topics_setup == MANUAL_SETUP:
        require_initialized(description)
        return
    correct_settings(description, admin)
    create_missing(description, config, admin)


def create_missing(description: InternalTopicsDescription, config: StreamsConfig, admin: Admin) -> None:
    """Create the missing internal topics; another instance may do so at the same time. Raises as `create_topics`."""
    missing = description.verification.missing
    if 0 < len(missing) < len(description.topics):
        log.warning("Internal topics are missing and are created again, empty: %s.", _names(missing))
    timeout_s = config.max_poll_interval_ms / 2000
    create_topics(admin, missing, timeout_s, config.retry_backoff_ms / 1000, alone=False)


def correct_settings(description: InternalTopicsDescription, admin: Admin) -> None:
    """Correct wrong settings of internal topics; settings that this principal may not alter are logged.

    Raises MisconfiguredInternalTopicError for a wrong number of partitions, before anything has been altered.
    """
    if wrong := [problem for problem in description.verification.misconfigured if not problem.settings]:
        names = list(dict.fromkeys(problem.topic for problem in wrong))
        raise MisconfiguredInternalTopicError(names, "\n".join(f"{problem.sentence} {problem.remedy}" for problem in wrong))
    for problem in description.verification.misconfigured:
        new_settings = ", ".join(f"{key}={value or 'unset'}" for key, value in problem.settings.items())
        try:
            admin.alter(problem.topic, problem.settings)
        except KafkaFailure as failure:
            log.warning("%s It could not be set: %s %s", problem.sentence, failure.reason, problem.remedy)
        else:
            log.warning("%s It has been set to %s; records that are gone by now stay lost.", problem.sentence, new_settings)


def _refuse_misconfigured(description: InternalTopicsDescription) -> None:
    if description.verification.misconfigured:
        raise MisconfiguredInternalTopicError(
            description.verification.misconfigured_topics, description.verification.explanation()
        )


def _names(topics: tuple[InternalTopic, ...]) -> str:
    return ", ".join(topic.name for topic in topics)
