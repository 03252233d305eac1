"""A properties file of MirrorMaker 2: which flows it has, and the configurations of their workers and connectors. Pure.

The rules are those of MirrorMakerConfig: settings of a cluster are under its alias, of a flow under `<source>-><target>.`; how to
connect may stand at the top, for all clusters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from headrace.config import parse_list
from headrace.config.prefixes import under
from headrace.connect_config.common import CommonConnectorConfig
from headrace.connectors.mirror.checkpoint_config import MirrorCheckpointConfig
from headrace.connectors.mirror.heartbeat_config import MirrorHeartbeatConfig
from headrace.connectors.mirror.source_config import MirrorSourceConfig
from headrace.errors import ConfigError
from headrace.kafka.client_settings import connects

PACKAGE = "org.apache.kafka.connect.mirror."
CONNECTORS = ("MirrorSourceConnector", "MirrorHeartbeatConnector", "MirrorCheckpointConnector")
_ROLES = ("producer.", "consumer.", "admin.")
_CLIENT = re.compile(r"consumer|producer|admin")
_BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
_WORKER = (
    "offset.storage", "config.storage", "status.storage", "key.converter", "value.converter", "header.converter", "task",
    "worker", "replication.policy", "config.providers", "spark.",
)  # fmt: skip
"""Beginnings of settings that may stand at the top, for the workers of all flows."""

Props = Mapping[str, str]


class ReplicationFlow(NamedTuple):
    """From one cluster to another, by their aliases."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}->{self.target}"


def flows(props: Props) -> list[ReplicationFlow]:
    """The flows of a file: those that are enabled, and those that only have heartbeats. Raises ConfigError if there are none."""
    if "clusters" not in props:
        raise ConfigError.missing("clusters")
    clusters = list(dict.fromkeys(parse_list(props["clusters"])))  # named twice, it is one, with one worker a flow
    beats = MirrorHeartbeatConfig.definition().value("emit.heartbeats.enabled", props)
    pairs = [ReplicationFlow(source, target) for source in clusters for target in clusters if source != target]
    pairs_enabled = [pair for pair in pairs if enabled(props, pair) or _emits_heartbeats(props, pair, beats)]
    if not pairs_enabled:
        raise ConfigError("No source->target replication flows: set <source>-><target>.enabled=true for two of the `clusters`.")
    return pairs_enabled


def enabled(props: Props, flow: ReplicationFlow) -> bool:
    """Whether records are mirrored."""
    return _is_true(props.get(f"{flow}.enabled", "false"))


def worker(props: Props, flow: ReplicationFlow) -> dict[str, str]:
    """The properties of the worker of a flow, which lives on the target cluster."""
    cluster = _cluster(props, flow.target) | {k: v for k, v in props.items() if k.startswith(_WORKER)}
    defaults = {
        "client.id": str(flow),
        "group.id": f"{flow.source}-mm2",
        **{f"{kind}.storage.topic": f"mm2-{name}.{flow.source}.internal" for kind, name in _TOPICS},
        **{f"{part}.converter": _BYTES for part in ("key", "value", "header")},
    }
    return defaults | cluster


_TOPICS = (("offset", "offsets"), ("status", "status"), ("config", "configs"))


def connector(props: Props, flow: ReplicationFlow, name: str) -> dict[str, str]:
    """The configuration of one of CONNECTORS for a flow."""
    option_names = _names()
    passed = {k: v for k, v in props.items() if k in option_names or _is_top_level(k)}
    for side, alias in (("source", flow.source), ("target", flow.target)):
        for key, value in _cluster(props, alias).items():
            passed[f"{side}.{key}" if _CLIENT.match(key) else f"{side}.cluster.{key}"] = value
    defaults = {
        "name": name,
        "connector.class": PACKAGE + name,
        "source.cluster.alias": flow.source,
        "target.cluster.alias": flow.target,
    }
    return {"enabled": "false"} | defaults | passed | under(props, f"{flow}.")


def _cluster(props: Props, alias: str) -> dict[str, str]:
    """The settings of a cluster; how to connect, its own or that of all, is a setting of each kind of client as well."""
    settings = under(props, f"{alias}.")
    for way in (dict(settings), props):
        for key, value in way.items():
            if connects(key):
                for name in (*(role + key for role in _ROLES), key):
                    settings.setdefault(name, value)
    return settings


def _is_top_level(key: str) -> bool:
    return key.startswith(("config.providers", "replication.policy")) or (connects(key) and key != "bootstrap.servers")


def _names() -> set[str]:
    configs = (CommonConnectorConfig, MirrorSourceConfig, MirrorCheckpointConfig, MirrorHeartbeatConfig)
    names = {name for config in configs for name in config.definition().options}
    return names | {"config.providers", "metric.reporters"}


def _is_true(text: str) -> bool:
    return text.strip().lower() == "true"


def _emits_heartbeats(props: Props, flow: ReplicationFlow, default: bool) -> bool:
    text = props.get(f"{flow}.emit.heartbeats.enabled")
    return default if text is None else _is_true(text)
