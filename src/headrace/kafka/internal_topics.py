"""Creates or verifies Connect's internal topics (KIP-154, KIP-1209)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import structlog

from headrace.errors import ConfigError, ConnectError
from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure, timed_out
from headrace.retry import retry_until

log = structlog.get_logger(__name__)

CREATION = "internal.topics.automatic.creation.enable"
_NOT_ALLOWED = {"TOPIC_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED"}
_RETRIED = {"INVALID_REPLICATION_FACTOR", "REQUEST_TIMED_OUT"}


@dataclass(frozen=True)
class WorkerTopic:
    """The required settings of one internal topic."""

    name: str
    setting: str
    """The worker's setting with its name."""
    holds: str
    """Its content, for messages."""
    partitions: int
    """-1: the broker's default."""
    replication_factor: int
    """-1: the broker's default."""
    configs: Mapping[str, str] = field(default_factory=dict)
    """Further settings of the topic (KIP-605)."""
    create: bool = True
    """Whether the worker creates a missing topic (KIP-1209)."""


def ensure(admin: Admin, topic: WorkerTopic, timeout_s: float = 60.0, backoff_s: float = 0.1) -> bool:
    """Create the topic, or verify the one that exists; True if it was created.

    Time-outs, and a replication factor above the number of brokers, are retried every `backoff_s` until `timeout_s`
    (`retry.backoff.ms` and `default.api.timeout.ms` in Connect). Without permission a log line is written and the topic is
    assumed to exist. Raises ConfigError for a wrong clean-up policy or number of partitions, and for a missing topic that must
    not be created; ConnectError, RetriableKafkaFailure.
    """
    if not topic.create:
        require_existing(admin, topic, timeout_s)
        _verify(admin, topic, timeout_s)
        return False
    deadline = time.monotonic() + timeout_s

    def is_transient(error: Exception) -> bool:
        if (cause := _transient_cause(error)) is None:
            return False
        left_ms = (deadline - time.monotonic()) * 1000
        log.info("'%s' topic creation failed due to '%s', retrying, %dms remaining", topic.name, cause.reason, left_ms)
        return True

    try:
        created = retry_until(lambda left_s: _create(admin, topic, left_s), timeout_s, backoff_s, is_transient)
    except ConnectError as error:
        if (cause := _transient_cause(error)) is not None:
            raise timed_out("Timeout expired while trying to create topic(s)") from cause
        raise
    if not created:
        _verify(admin, topic, timeout_s)
    return created


def _transient_cause(error: Exception) -> KafkaFailure | None:
    cause = error.__cause__
    return cause if isinstance(cause, KafkaFailure) and cause.code in _RETRIED else None


def require_existing(admin: Admin, topic: WorkerTopic, timeout_s: float) -> None:
    """Raise ConfigError for a topic that is missing: it may hold state that a worker must not start without (KIP-1209)."""
    if admin.describe(topic.name, timeout_s) is None:
        raise ConfigError(
            f"Topic '{topic.name}' supplied via the '{topic.setting}' property does not exist, and {CREATION} is false. If it "
            f"has existed, {topic.holds} are lost with it: find out who deleted it, or whether another name is meant. For a new "
            f"group of workers create it with {max(topic.partitions, 1)} partition(s) and cleanup.policy=compact."
        )


def _create(admin: Admin, topic: WorkerTopic, timeout_s: float) -> bool:
    """Create the topic; False if it exists or the principal may not create it. Raises ConnectError from the KafkaFailure."""
    configs = {**topic.configs, "cleanup.policy": "compact"}
    try:
        admin.create(topic.name, topic.partitions, topic.replication_factor, configs, timeout_s)
    except KafkaFailure as error:
        return _not_created(topic, error)
    log.info("Created topic '%s' for %s", topic.name, topic.holds)
    return True


def _not_created(topic: WorkerTopic, error: KafkaFailure) -> bool:
    falling_back = "Falling back to assume topic(s) exist or will be auto-created by the broker."
    if error.code == "TOPIC_ALREADY_EXISTS":
        log.debug("Found existing topic '%s'", topic.name)
        return False
    if error.code in _NOT_ALLOWED:
        log.warning("Not authorized to create topic(s) '%s': %s %s", topic.name, error.reason, falling_back)
        return False
    if error.code == "UNSUPPORTED_VERSION":
        log.warning("The brokers do not support the CreateTopics API for topic(s) '%s'. %s", topic.name, falling_back)
        return False
    if error.code in ("INVALID_CONFIG", "POLICY_VIOLATION"):
        raise ConnectError(f"Unable to create topic(s) '{topic.name}': {error.reason}") from error
    if error.code == "REQUEST_TIMED_OUT":
        raise ConnectError(
            f"Timed out while checking for or creating topic(s) '{topic.name}'. This could indicate a connectivity issue, "
            "unavailable topic partitions, or if this is your first use of the topic it may have taken too long to create."
        ) from error
    raise ConnectError(f"Error while attempting to create/find topic(s) '{topic.name}': {error.reason}") from error


def _verify(admin: Admin, topic: WorkerTopic, timeout_s: float) -> None:
    """Check an existing topic, if this principal may describe it."""
    try:
        policy = admin.topic_configs(topic.name, timeout_s=timeout_s).get("cleanup.policy")
    except KafkaFailure as error:
        if error.code not in (*_NOT_ALLOWED, "UNSUPPORTED_VERSION", "UNKNOWN_TOPIC_OR_PARTITION"):
            raise
        log.info(
            "Unable to use admin client to verify the cleanup policy of '%s' topic is 'compact', either because the broker is an "
            "older version or because the Kafka principal used for Connect internal topics does not have the required permission "
            "to describe topic configurations.",
            topic.name,
        )
        return
    if policy != "compact":
        raise ConfigError(
            f"Topic '{topic.name}' supplied via the '{topic.setting}' property is required to have 'cleanup.policy=compact' "
            f"to guarantee consistency and durability of {topic.holds}, but found the topic currently has "
            f"'cleanup.policy={policy}'. Continuing would likely result in eventually losing {topic.holds} and problems "
            f"restarting this Connect cluster in the future. Change the '{topic.setting}' property in the Connect worker "
            "configurations to use a topic with 'cleanup.policy=compact'."
        )


def require_single_partition(name: str, partitions: int) -> None:
    """Raise ConfigError unless the config topic has one partition: its records have to be in order."""
    if partitions > 1:
        raise ConfigError(
            f"Topic '{name}' supplied via the 'config.storage.topic' property is required to have a single partition in order to "
            f"guarantee consistency of connector configurations, but found {partitions} partitions."
        )
