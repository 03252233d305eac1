"""The clients on both clusters of a mirror, and where its configuration has their settings (MirrorConnectorConfig)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from headrace.connectors.mirror.config import MirrorConfig
from headrace.kafka.client_settings import ClientKind, ClientTable, all_settings, connects

Side = Literal["source", "target"]

_DEFAULTS: Mapping[ClientKind, Mapping[str, str]] = {"consumer": {"auto.offset.reset": "earliest"}, "producer": {}, "admin": {}}
_FIXED: Mapping[ClientKind, Mapping[str, str]] = {"consumer": {"enable.auto.commit": "false"}, "producer": {}, "admin": {}}


def client(props: Mapping[str, str | None], side: Side, kind: ClientKind) -> dict[str, str]:
    """Settings of a client of one of the clusters."""
    prefixes = {f"{side}.cluster.": connects, f"{kind}.": all_settings, f"{side}.{kind}.": all_settings}
    settings = ClientTable(prefixes, _DEFAULTS[kind], _FIXED[kind]).settings(props)
    prefix = settings.get("client.id")
    return {**settings, "client.id": f"{prefix}|{client_id(props, kind)}" if prefix else client_id(props, kind)}


def client_id(props: Mapping[str, str | None], kind: str) -> str:
    """`<source>-><target>|<connector>|<kind>`, as MirrorMaker calls its clients."""
    flow = f"{props.get('source.cluster.alias')}->{MirrorConfig.definition().value('target.cluster.alias', props)}"
    return f"{flow}|{props.get('name', 'mirror')}|{kind}"
