"""Settings of the clients on the source cluster, out of a connector's configuration (KIP-310). Pure.

`source.…` is for both clients; `connector.consumer.…` and `connector.admin.…` are for one, and win.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

SOURCE = "source."
CONSUMER = "connector.consumer."
ADMIN = "connector.admin."
CONNECTOR_ONLY = re.compile(r"topic\.whitelist|data\.loss(\..*)?|(key|value)\.converter(\..*)?")
"""What begins with `source.` and still is no setting of a client."""

CONSUMER_DEFAULTS: Mapping[str, str] = {
    "auto.offset.reset": "earliest",
    "max.poll.records": "500",
    "key.deserializer": "org.apache.kafka.common.serialization.ByteArrayDeserializer",
    "value.deserializer": "org.apache.kafka.common.serialization.ByteArrayDeserializer",
    "enable.auto.commit": "true",
}
"""The options that KIP-310 itself declares for the consumer; they mean nothing to the admin client."""

_CONSUMER_OPTIONS = {*CONSUMER_DEFAULTS, "group.id"}


def consumer_settings(props: Mapping[str, str | None]) -> dict[str, str]:
    """Java settings of the consumer, prefixes taken off, defaults of KIP-310 filled in.

    But for `max.poll.records`: a consumer of Spark's has one partition, and what it hands over at once is no batch.
    """
    defaults = {key: value for key, value in CONSUMER_DEFAULTS.items() if key != "max.poll.records"}
    return {**defaults, **_source(props), **with_prefix(props, CONSUMER)}


def admin_settings(props: Mapping[str, str | None]) -> dict[str, str]:
    """Java settings of the admin client, prefixes taken off; the consumer's own options are left out."""
    shared = {key: value for key, value in _source(props).items() if key not in _CONSUMER_OPTIONS}
    return {**shared, **with_prefix(props, ADMIN)}


def _source(props: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in with_prefix(props, SOURCE).items() if not CONNECTOR_ONLY.fullmatch(key)}


def with_prefix(props: Mapping[str, str | None], prefix: str) -> dict[str, str]:
    """The settings under a prefix, which is taken off."""
    begun = {k.removeprefix(prefix): v for k, v in props.items() if k.startswith(prefix)}
    return {key: str(value) for key, value in begun.items() if key and value is not None}
