"""What has to be known of a destination topic before records are written to it."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import structlog

from headrace.config.client_options import client_value
from headrace.errors import RetriableError
from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure
from headrace.retry import poll_until

log = structlog.get_logger(__name__)

_KNOWN_S, _PAUSE_S = 5.0, 0.1
KAFKA_BATCH_BYTES: int = client_value("producer", {}, "batch.size")
"""Kafka's own `batch.size`: small enough for every topic that is not made for tiny records."""


@dataclass(frozen=True)
class DestinationTopic:
    """A destination topic: how many partitions it has, and its `max.message.bytes`, None if that may not be read."""

    partitions: int
    max_message_bytes: int | None


def look_up(admin: Admin, topic: str, stopping: threading.Event) -> DestinationTopic:
    """Describe a topic that was found or made a moment ago. Raises KafkaFailure, RetriableError if it is gone."""
    # A broker may answer before it has heard of a topic that was made a moment ago.
    info = poll_until(lambda _left_s: admin.describe(topic), _KNOWN_S, _PAUSE_S, stopping.wait)
    if info is not None:
        return DestinationTopic(len(info.partitions), _max_message_bytes(admin, topic))
    raise RetriableError(f"Topic '{topic}' was there, or was made, a moment ago, and the broker knows of none now.")


def _max_message_bytes(admin: Admin, topic: str) -> int | None:
    try:
        value = admin.topic_configs(topic).get("max.message.bytes")
    except RetriableError:
        raise
    except KafkaFailure as error:
        log.info(
            "max.message.bytes of topic '%s' may not be read (%s); batches of %s bytes are sent", topic, error, KAFKA_BATCH_BYTES
        )
        return None
    return int(value) if value else None
