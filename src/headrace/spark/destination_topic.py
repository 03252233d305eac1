"""The description of a destination topic, which is needed before records are written to it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog

from headrace.config.client_options import client_value
from headrace.errors import ConnectError, RetriableError
from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure
from headrace.retry import poll_until

log = structlog.get_logger(__name__)

_KNOWN_S, _PAUSE_S = 5.0, 0.1
KAFKA_BATCH_BYTES: int = client_value("producer", {}, "batch.size")
"""Kafka's own `batch.size`: small enough for every topic that is not meant for tiny records."""


@dataclass(frozen=True)
class DestinationTopic:
    """A destination topic."""

    partitions: int
    max_message_bytes: int | None
    """The topic's `max.message.bytes`; None if it may not be read."""


def look_up(admin: Admin, topic: str, stopping: threading.Event) -> DestinationTopic:
    """Describe a topic that was just found or created. Raises KafkaFailure, RetriableError if it was deleted."""
    # A broker may answer before it knows a topic that was just created.
    info = poll_until(lambda _left_s: admin.describe(topic), _KNOWN_S, _PAUSE_S, stopping.wait)
    if info is not None:
        limits = max_message_bytes(admin, [topic])
        return DestinationTopic(len(info.partitions), None if limits is None else limits.get(topic))
    raise RetriableError(f"Topic '{topic}' was there, or was made, a moment ago, and the broker knows of none now.")


def look_up_to_write(admin: Admin, topic: str, stopping: threading.Event) -> DestinationTopic:
    """`look_up` for a source, which in Kafka Connect finds by its first record that a topic may not be written to.

    Raises RetriableError; ConnectError, in the words for a refused record, for an illegal name or a missing right to describe it.
    """
    try:
        return look_up(admin, topic, stopping)
    except RetriableError:
        raise
    except KafkaFailure as failure:
        raise ConnectError(f"{refusal(f'the records of {topic}')}: {failure}") from failure


def refusal(records: str, exactly: str | None = None) -> str:
    """Kafka Connect's words for records that the producer or the broker refuses.

    exactly: `<connector>-<task>` with exactly once, where Kafka Connect learns of it when it commits.
    """
    begin = "" if exactly is None else f"Failed to flush offsets and/or records for task {exactly}: "
    return f"{begin}Unrecoverable exception from producer send callback for {records}"


def fitting_batch_bytes(limits: Mapping[str, int] | None, batch_bytes: int) -> int:
    """The `batch.size` for a producer that writes to several topics: no more than each takes, because what is refused as too
    large is split into batches of this size, without an end if those are too large as well (KAFKA-8350).

    limits: `max_message_bytes` of the topics; batch_bytes: what is configured.
    """
    return min([batch_bytes, *([KAFKA_BATCH_BYTES] if limits is None else limits.values())])


def fitting(producer: Mapping[str, str], limits: Mapping[str, int] | None) -> dict[str, str]:
    """Producer settings with which a record that its topic does not take is refused at once, and no batch is split.

    The producer itself refuses it only if it compresses nothing. limits: as of `fitting_batch_bytes`.
    """
    settings = {**producer, "batch.size": str(fitting_batch_bytes(limits, client_value("producer", producer, "batch.size")))}
    if limits and client_value("producer", producer, "compression.type").lower() == "none":
        settings["max.request.size"] = str(min([client_value("producer", producer, "max.request.size"), *limits.values()]))
    return settings


def max_message_bytes(admin: Admin, topics: Sequence[str]) -> dict[str, int] | None:
    """`max.message.bytes` by topic, of those that have a value; None if it may not be read. topics: that exist.

    Raises RetriableError.
    """
    try:
        configured = admin.configs_of(topics)
    except RetriableError:
        raise
    except KafkaFailure as error:
        names = ", ".join(topics)
        log.info("max.message.bytes of %s may not be read (%s); batches of %s bytes are sent", names, error, KAFKA_BATCH_BYTES)
        return None
    settings = {topic: configs.get("max.message.bytes") for topic, configs in configured.items()}
    return {topic: int(setting.value) for topic, setting in settings.items() if setting is not None and setting.value}
