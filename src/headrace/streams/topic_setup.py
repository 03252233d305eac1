"""Creates internal topics: all of them, or none. Created topics are deleted again if another one cannot be created."""

from __future__ import annotations

import time
from collections.abc import Iterable

import structlog

from headrace.errors import StreamsError, StreamsTimeoutError
from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure, RetriableKafkaFailure
from headrace.retry import poll_until
from headrace.streams.internal_topics import InternalTopic

log = structlog.get_logger(__name__)

_CLEAN_UP_S = 30.0
_EXISTS = "TOPIC_ALREADY_EXISTS"


def create_topics(
    admin: Admin, topics: Iterable[InternalTopic], timeout_s: float, backoff_s: float = 0.1, *, alone: bool = True,
    given_s: float | None = None,
) -> None:  # fmt: skip
    """Create exactly these topics.

    One that exists is assumed to be in deletion, and retried, as is one that timed out; not alone: it is accepted if another
    instance has created it. Alone, no later one is created before: of two that create the same topics at once, the first to
    have the first topic gets all of them. timeout_s: for all of them together; given_s: the time-out to name in an error, if
    this is the rest of it. Raises StreamsTimeoutError, StreamsError with Kafka's reason; then no topic of this call is left.
    """
    waiting = {topic.name: topic for topic in sorted(topics, key=lambda topic: topic.name)}
    created: list[str] = []
    last: dict[str, KafkaFailure] = {}
    deadline = time.monotonic() + timeout_s

    def all_are_there(_left_s: float) -> bool:
        for topic in list(waiting.values()):
            if _create(admin, topic, deadline - time.monotonic(), last):
                created.append(topic.name)
                del waiting[topic.name]
            elif topic.name in last and last[topic.name].code == _EXISTS:
                if alone:
                    break
                if admin.describe(topic.name) is not None:
                    del waiting[topic.name]
        return not waiting

    try:
        if not poll_until(all_are_there, timeout_s, backoff_s):
            raise StreamsTimeoutError(
                _too_long(timeout_s if given_s is None else given_s, {name: last[name] for name in waiting if name in last})
            )
    except BaseException:
        _clean_up(admin, created)
        raise


def _create(admin: Admin, topic: InternalTopic, left_s: float, last: dict[str, KafkaFailure]) -> bool:
    """Whether the topic has been created now."""
    if left_s <= 0:
        return False
    try:
        admin.create(topic.name, topic.partitions, topic.replication_factor, topic.configs, timeout_s=left_s)
    except KafkaFailure as failure:
        if failure.code != _EXISTS and not isinstance(failure, RetriableKafkaFailure):
            raise StreamsError(
                f"Could not create internal topic {topic.name} for the following reason: {failure.reason}"
            ) from failure
        log.info("Internal topic %s could not be created; it will be tried again: %s", topic.name, failure.reason)
        if failure.code == _EXISTS or topic.name not in last:  # a time-out says less than the broker's earlier error
            last[topic.name] = failure
        return False
    return True


def _clean_up(admin: Admin, created: list[str]) -> None:
    log.info("Starting to clean up internal topics %s.", created)
    try:
        admin.delete(created, timeout_s=_CLEAN_UP_S)
    except KafkaFailure as failure:
        log.error("Could not clean up internal topics %s, because of the following error: %s", created, failure.reason)


def _too_long(timeout_s: float, last: dict[str, KafkaFailure]) -> str:
    errors = {name: failure.reason for name, failure in last.items()}
    return (
        f"Could not create internal topics within {round(timeout_s * 1000)} milliseconds. This can happen if the Kafka cluster "
        "is temporarily not available or a topic is marked for deletion and the broker did not complete its deletion within the "
        f"timeout. The last errors seen per topic are: {errors}"
    )
