"""The settings of Kafka clients in the configurations of workers and connectors. Pure.

Settings are texts under the names of Java's clients; `headrace.kafka.clients` translates them for librdkafka. Of what names the
same setting, the last of these wins:

- clients of connectors on the worker's cluster (`connector_client`): `client.id`; `bootstrap.servers` of the worker; its security
  settings, of admin clients everything without a prefix; `producer.`, `consumer.` or `admin.` of the worker;
  `producer.override.` and so on of the connector, which a policy may forbid (KIP-458, `headrace.connect_config.overrides`);
- the worker's own clients (`internal_client`): what has no prefix;
- clients of another cluster (`ClientTable`): defaults, then the prefixes of the table in their order. Each connector that has
  such clients declares its tables in a `clients.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from headrace.config.prefixes import under
from headrace.config.types import comma_separated

ClientKind = Literal["producer", "consumer", "admin"]
Settings = Mapping[str, Any]

WORKER_PREFIXES: Mapping[str, str] = {kind: f"{kind}." for kind in ("producer", "consumer", "admin")}
OVERRIDE_PREFIXES: Mapping[str, str] = {kind: f"{kind}.override." for kind in ("producer", "consumer", "admin")}
SECURITY = ("security.", "sasl.", "ssl.")
_ANOTHER_CLUSTER = ("bootstrap.servers", "security.protocol")


def all_settings(_setting: str) -> bool:
    """All settings under a prefix are the client's."""
    return True


def connects(setting: str) -> bool:
    """Whether a setting defines the connection to a cluster."""
    return setting == "bootstrap.servers" or setting.startswith(SECURITY)


def connection_settings(props: Mapping[str, str]) -> dict[str, str]:
    """A client's settings of cluster, security and login."""
    return {name: value for name, value in props.items() if connects(name)}


def servers(props: Mapping[str, str]) -> frozenset[str]:
    """The servers that a client is given, whatever their order."""
    return frozenset(comma_separated(props.get("bootstrap.servers", "")))


def same_connection(settings: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether two clients use the same cluster with the same security settings and login."""
    differing = {name for name, _ in connection_settings(settings).items() ^ connection_settings(other).items()}
    return differing <= {"bootstrap.servers"} and servers(settings) == servers(other)


@dataclass(frozen=True)
class ClientTable:
    """The prefixes of a client's settings in a connector's configuration."""

    prefixes: Mapping[str, Callable[[str], bool]]
    """By prefix, which settings under it are the client's. The last prefix wins."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Settings used if no prefix has them."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Settings that no prefix can change."""

    def settings(self, props: Settings) -> dict[str, str]:
        """The settings of the client in a connector's configuration."""
        settings: dict[str, str] = {}
        for prefix, is_of_client in self.prefixes.items():
            settings |= {name: value for name, value in _as_texts(under(props, prefix)).items() if is_of_client(name)}
        return {**self.defaults, **settings, **self.fixed}


def internal_client(worker: Mapping[str, str], bootstrap: str) -> dict[str, str]:
    """Settings of the worker's own clients (internal topics, group)."""
    prefixes = (*WORKER_PREFIXES.values(), "spark.")
    return {**{k: v for k, v in worker.items() if not k.startswith(prefixes)}, "bootstrap.servers": bootstrap}


def connector_client(worker: Mapping[str, str], bootstrap: str, kind: str) -> dict[str, str]:
    """The worker's settings for clients of connectors, kind "producer", "consumer" or "admin".

    Beyond Kafka Connect, producers and consumers inherit the worker's security settings, unless their prefix names another
    cluster or protocol; in Kafka Connect they have none, and cannot reach the cluster that the worker itself uses.
    """
    prefixed = under(worker, WORKER_PREFIXES[kind])
    if kind == "admin":
        return {**internal_client(worker, bootstrap), **prefixed}
    inherits = not any(name in prefixed for name in _ANOTHER_CLUSTER)
    security = {k: v for k, v in worker.items() if k.startswith(SECURITY)} if inherits else {}
    return {"bootstrap.servers": bootstrap, **security, **prefixed}


def overrides(connector: Settings, kind: str) -> dict[str, str]:
    """A connector's overrides for its clients on the worker's cluster (KIP-458)."""
    return _as_texts(under(connector, OVERRIDE_PREFIXES[kind]))


def _as_texts(settings: Settings) -> dict[str, str]:
    return {name: str(value) for name, value in settings.items() if value is not None}
