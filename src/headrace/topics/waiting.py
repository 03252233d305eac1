"""Waits for a topic that the connector may not create: the broker creates it when a producer requests it, or a user does.

A Java producer behaves in this way within its first send, with Connect's unbounded `max.block.ms`: the task stays RUNNING.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

import structlog
from confluent_kafka import KafkaException, Producer

from headrace.errors import RetriableError
from headrace.kafka import clients
from headrace.kafka.failures import UNREACHABLE, KafkaFailure, failure, kafka_error

log = structlog.get_logger(__name__)

LOOK_S = 0.5
"""Between two looks at a topic that is waited for."""
_REQUEST_TIMEOUT_S = 5.0
_WARN_EVERY_S = 60.0
_NOT_YET = {"UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE"}
WITHOUT_SETTINGS = (
    "the connector may not create it (topic.creation.enable of the worker, topic.creation.default.partitions and "
    ".replication.factor of the connector)"
)


class TopicWaiter:
    """Asks for the metadata of topics as a producer does until they exist."""

    def __init__(
        self, producer: Mapping[str, str], stopping: threading.Event, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """producer: Java producer settings; stopping: ends a wait; clock: seconds, for the intervals between
        warnings.
        """
        self._settings, self._stopping, self._clock = producer, stopping, clock
        self._bootstrap = producer.get("bootstrap.servers", "<unknown>")
        self._producer: Producer | None = None
        self._warned_at: dict[str, float] = {}  # of topics that are waited for

    def wait_for(self, topic: str, why: str = WITHOUT_SETTINGS) -> None:
        """Return when `exists` does.

        Raises RetriableError if `stopping` is set before, ConfigError for bad settings.
        """
        while not self.exists(topic, why):
            if self._stopping.wait(LOOK_S):
                raise RetriableError(f"The task was stopped before topic '{topic}' existed.")

    def exists(self, topic: str, why: str = WITHOUT_SETTINGS) -> bool:
        """Whether the topic exists, or only a write to it can show what is wrong (no permission, an illegal name).

        why: the connector does not create it, for the warning, which comes once and then every minute. Raises ConfigError for
        bad settings.
        """
        problem, warned_at = self._problem(topic, why), self._warned_at.get(topic)
        if problem is None:
            if self._warned_at.pop(topic, None) is not None:
                log.info("Topic '%s' exists now.", topic)
            return True
        now = self._clock()
        if warned_at is None or now - warned_at >= _WARN_EVERY_S:
            log.warning("%s; waiting until topic '%s' exists", problem, topic)
            self._warned_at[topic] = now
        return False

    def _problem(self, topic: str, why: str) -> str | None:
        if self._producer is None:
            # Without idempotence it only requests metadata, as long as no record is sent.
            plain = {key: value for key, value in self._settings.items() if key != "transactional.id"}
            self._producer = clients.producer(plain, enable_idempotence="false")
        try:
            metadata = self._producer.list_topics(topic, timeout=_REQUEST_TIMEOUT_S).topics[topic]
        except KafkaException as error:
            if kafka_error(error).name() in UNREACHABLE:
                return f"The Kafka cluster at '{self._bootstrap}' does not answer ({kafka_error(error).str()})"
            return None
        return None if metadata.error is None else problem(topic, failure(metadata.error), self._bootstrap, why)


def problem(topic: str, refusal: KafkaFailure, bootstrap: str, why: str) -> str | None:
    """Why a topic does not exist yet, by the error in its metadata; None if only a write can show what is wrong.

    why: the connector does not create it.
    """
    if refusal.code == "INVALID_REPLICATION_FACTOR":  # of the broker's own defaults
        return f"The brokers at '{bootstrap}' could not create topic '{topic}' on their own: {refusal}"
    if refusal.code in _NOT_YET:
        return (
            f"There is no topic '{topic}' on the brokers at '{bootstrap}', which do not create it on their own "
            f"(auto.create.topics.enable), and {why}"
        )
    return None
