"""The clients on the source cluster, and where a connector's configuration has their settings (KIP-310)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from headrace.kafka.client_settings import ClientTable, all_settings

CONSUMER_PREFIX = "connector.consumer."
_NO_CLIENT_SETTING = re.compile(r"topic\.whitelist|data\.loss(\..*)?|(key|value)\.converter(\..*)?")
"""Options with the prefix `source.` that are not client settings."""

CONSUMER_DEFAULTS: Mapping[str, str] = {
    "auto.offset.reset": "earliest",
    "max.poll.records": "500",
    "key.deserializer": "org.apache.kafka.common.serialization.ByteArrayDeserializer",
    "value.deserializer": "org.apache.kafka.common.serialization.ByteArrayDeserializer",
    "enable.auto.commit": "true",
}
"""The options that KIP-310 itself declares for the consumer; they mean nothing to the admin client."""


def _of_consumer(setting: str) -> bool:
    return not _NO_CLIENT_SETTING.fullmatch(setting)


def _of_admin(setting: str) -> bool:
    return _of_consumer(setting) and setting != "group.id" and setting not in CONSUMER_DEFAULTS


# Without a default of `max.poll.records`: a consumer of a Spark task has one partition, and what it returns at once is no batch.
_DEFAULTS = {name: value for name, value in CONSUMER_DEFAULTS.items() if name != "max.poll.records"}
CONSUMER = ClientTable({"source.": _of_consumer, CONSUMER_PREFIX: all_settings}, _DEFAULTS)
ADMIN = ClientTable({"source.": _of_admin, "connector.admin.": all_settings})
