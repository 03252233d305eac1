"""The settings of Kafka clients and topics that a worker's configuration holds, cut out by prefix.

All functions take the worker's settings as given (texts) and return texts under the names of Java's clients.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

log = logging.getLogger(__name__)

PREFIXES = {"producer": "producer.", "consumer": "consumer.", "admin": "admin."}
_SECURITY = ("ssl.", "sasl.", "security.")
_OWN_ADDRESS = ("bootstrap.servers", "security.protocol")


def without_prefix(settings: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The settings under a prefix, the prefix taken off."""
    return {k[len(prefix) :]: v for k, v in settings.items() if k.startswith(prefix) and len(k) > len(prefix)}


def internal_client(settings: Mapping[str, str], bootstrap: str) -> dict[str, str]:
    """Settings of the worker's own clients (internal topics, group): everything that has no client prefix."""
    plain = {k: v for k, v in settings.items() if not k.startswith(tuple(PREFIXES.values())) and not k.startswith("spark.")}
    return {**plain, "bootstrap.servers": bootstrap}


def connector_client(settings: Mapping[str, str], bootstrap: str, kind: str) -> dict[str, str]:
    """Settings that the worker gives to the clients of connectors, kind "producer", "consumer" or "admin".

    As in Kafka Connect: the worker's `bootstrap.servers`, then what stands under `producer.` and so on; admin clients
    take the unprefixed settings of the worker before that. Beyond Kafka Connect: producers and consumers inherit the
    worker's security settings (`security.`, `sasl.`, `ssl.`), unless their prefix names another cluster or protocol;
    in Kafka Connect they then have none and cannot reach the cluster that the worker itself uses.
    """
    own = without_prefix(settings, PREFIXES[kind])
    if kind == "admin":
        return {**internal_client(settings, bootstrap), **own}
    security = {} if any(k in own for k in _OWN_ADDRESS) else {k: v for k, v in settings.items() if k.startswith(_SECURITY)}
    return {"bootstrap.servers": bootstrap, **security, **own}


def topic_settings(settings: Mapping[str, str], kind: str) -> dict[str, str]:
    """Topic-level settings of the internal "config", "offset" or "status" topic (KIP-605).

    Everything under `config.storage.` and so on, but the topic's name, partitions and replication factor. A
    `cleanup.policy` is dropped with a warning, as these topics are always compacted.
    """
    prefix = f"{kind}.storage."
    found = without_prefix(settings, prefix)
    if kind == "config" and "partitions" in found:
        log.warning("Ignoring '%spartitions=%s' setting, since config topic partitions is always 1", prefix, found["partitions"])
    if "cleanup.policy" in found:
        log.warning("Ignoring '%scleanup.policy=%s' setting, since compaction is always used", prefix, found["cleanup.policy"])
    dropped = ("cleanup.policy", "topic", "partitions", "replication.factor")
    return {k: v for k, v in found.items() if k not in dropped}
