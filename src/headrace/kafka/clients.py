"""Settings of Kafka's Java clients, as in worker and connector configurations, translated to those of librdkafka.

Settings without a counterpart (serializers, interceptors, metric reporters, the worker's own settings) are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal, TypeVar

import structlog
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from headrace.config.client_options import client_value
from headrace.errors import ConfigError
from headrace.kafka.client_log import ClientLog
from headrace.kafka.java_settings import ADMIN, CONSUMER, MAX_INT, PRODUCER, SETTINGS
from headrace.kafka.sasl import sasl_settings
from headrace.kafka.tls import tls_settings

log = structlog.get_logger(__name__)

Role = Literal["consumer", "producer", "admin"]
Client = TypeVar("Client")

_DEFAULTS: Mapping[str, Mapping[str, str]] = {  # where the Java clients' defaults differ from librdkafka's
    CONSUMER: {"isolation.level": "read_uncommitted"},
    PRODUCER: {"partitioner": "murmur2_random", "delivery.timeout.ms": "120000", "message.max.bytes": "1048576"},
    ADMIN: {},
}
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_NEW_GROUP_PROTOCOL_DROPS = ("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy")


def librdkafka(props: Mapping[str, str], role: Role) -> dict[str, str]:
    """Translate the settings of a Java client.

    Takes Java client settings as text (worker settings may be among them) and the client's role; returns librdkafka's
    settings. Unknown ones are dropped, their names logged once at debug level. Raises ConfigError.
    """
    texts = {name: str(value) for name, value in props.items() if value is not None}
    settings, dropped = {"bootstrap.servers": "localhost:9092", **_DEFAULTS[role], **_backoffs()}, []
    for name, value in texts.items():
        setting = SETTINGS.get(name)
        if setting and role in setting.roles:
            settings.update(setting.translate(name, value))
        elif not name.startswith(("security.protocol", "sasl.", "ssl.")):
            dropped.append(name)
    settings.update(_security(texts))
    if dropped:
        log.debug("%s client: settings without a meaning for it were dropped: %s", role, ", ".join(sorted(dropped)))
    return _reconcile(settings, texts, role)


def consumer(props: Mapping[str, str], **overrides: Any) -> Consumer:
    """Create a consumer from Java settings; `overrides`: librdkafka settings that take precedence (`_` for dots).

    Raises ConfigError.
    """
    return _create(Consumer, props, "consumer", overrides)


def producer(props: Mapping[str, str], **overrides: Any) -> Producer:
    """Create a producer from Java settings; `overrides` as for `consumer`. Raises ConfigError."""
    return _create(Producer, props, "producer", overrides)


def admin(props: Mapping[str, str], **overrides: Any) -> AdminClient:
    """Create an admin client from Java settings; `overrides` as for `consumer`. Raises ConfigError."""
    return _create(AdminClient, props, "admin", overrides)


def purge(producer: Producer, timeout_s: float = 0.0) -> None:
    """Drop a producer's unsent records, and wait for their delivery reports."""
    producer.purge()
    with suppress(KafkaException):  # after a fatal error, flush raises that error again
        producer.flush(timeout_s)


def _create(kind: Callable[..., Client], props: Mapping[str, str], role: Role, overrides: Mapping[str, Any]) -> Client:
    callbacks = {name: value for name, value in overrides.items() if callable(value)}
    settings = {name.replace("_", "."): value for name, value in overrides.items() if name not in callbacks}
    conf = {**librdkafka(props, role), **settings, **callbacks, "logger": ClientLog(role)}
    try:
        return kind(conf)
    except KafkaException as error:
        raise ConfigError(f"Cannot create a Kafka {role} client from these settings: {error.args[0].str()}") from error


def _backoffs() -> dict[str, str]:
    """The Java clients' reconnect times: librdkafka's own reach 10 s, too long after the restart of a broker."""
    return {"reconnect.backoff.ms": "50", "reconnect.backoff.max.ms": "1000"}


def _security(settings: Mapping[str, str]) -> dict[str, str]:
    protocol = client_value("admin", settings, "security.protocol").upper()
    if protocol not in _PROTOCOLS:
        raise ConfigError.invalid("security.protocol", protocol, f"String must be one of: {', '.join(_PROTOCOLS)}")
    return {"security.protocol": protocol.lower(), **sasl_settings(settings), **tls_settings(settings)}


def _reconcile(settings: dict[str, str], originals: Mapping[str, str], role: Role) -> dict[str, str]:
    """Adjust settings that depend on each other."""
    if int(settings["reconnect.backoff.ms"]) > int(settings["reconnect.backoff.max.ms"]):
        settings["reconnect.backoff.max.ms"] = settings["reconnect.backoff.ms"]
    if role == CONSUMER and originals.get("group.protocol", "").strip().lower() == "consumer":
        for name in _NEW_GROUP_PROTOCOL_DROPS:
            settings.pop(name, None)
    if role == CONSUMER:  # librdkafka refuses a shorter interval than the session, which Java's consumer takes
        session_ms, poll_ms = (client_value(CONSUMER, settings, f"{n}.ms") for n in ("session.timeout", "max.poll.interval"))
        settings["max.poll.interval.ms"] = str(max(session_ms, poll_ms))
    if role == PRODUCER:
        _reconcile_producer(settings)
    return settings


def _reconcile_producer(settings: dict[str, str]) -> None:
    for name in [name for name in settings if name.endswith(":compression.level")]:
        level = settings.pop(name)
        if name.partition(":")[0] == settings.get("compression.type"):
            settings["compression.level"] = level
    # As in the Java producer, idempotence is enabled unless other settings exclude it (KIP-679).
    disables_idempotence = (
        client_value(PRODUCER, settings, "acks") not in ("all", "-1")
        or client_value(PRODUCER, settings, "max.in.flight.requests.per.connection") > 5
        or settings.get("retries") == "0"
    )
    settings.setdefault("enable.idempotence", "false" if disables_idempotence else "true")
    delivery = int(settings["delivery.timeout.ms"]) or MAX_INT  # 0: without end
    if "transactional.id" in settings:
        delivery = min(delivery, client_value(PRODUCER, settings, "transaction.timeout.ms"))
    settings["delivery.timeout.ms"] = str(delivery)
    if client_value(PRODUCER, settings, "linger.ms") >= delivery:
        settings["linger.ms"] = str(delivery - 1)
