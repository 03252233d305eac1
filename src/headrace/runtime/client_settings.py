"""The settings of Kafka clients that a worker's configuration holds, cut out by prefix.

All functions take the worker's settings as given (texts) and return texts under the names of Java's clients.
"""

from __future__ import annotations

from collections.abc import Mapping

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
