"""Java settings of the clients on both clusters, out of a mirror connector's configuration (MirrorConnectorConfig). Pure.

`source.cluster.…` and `target.cluster.…` count as far as they say how to connect; then `consumer.…`, `producer.…`, `admin.…`;
then those of one client, `source.consumer.…`, `target.admin.…`, which win.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from headrace.connectors.kafka_source.overrides import with_prefix

Side = Literal["source", "target"]
Role = Literal["consumer", "producer", "admin"]


def client(props: Mapping[str, str | None], side: Side, role: Role) -> dict[str, str]:
    """Java settings of a client; consumers never commit, and begin at the earliest record unless told otherwise."""
    cluster = {k: v for k, v in with_prefix(props, f"{side}.cluster.").items() if connects(k)}
    found = {**cluster, **with_prefix(props, f"{role}."), **with_prefix(props, f"{side}.{role}.")}
    if role == "consumer":
        found = {"auto.offset.reset": "earliest", **found, "enable.auto.commit": "false"}
    return {"client.id": client_id(props, role), **found}


def connects(key: str) -> bool:
    """Whether a setting says how to connect: MirrorMaker passes no other ones of a cluster on."""
    return key == "bootstrap.servers" or key.startswith(("security.", "ssl.", "sasl."))


def client_id(props: Mapping[str, str | None], role: str) -> str:
    """`<source>-><target>|<connector>|<role>`, as MirrorMaker calls its clients."""
    flow = f"{props.get('source.cluster.alias')}->{props.get('target.cluster.alias', 'target')}"
    return f"{flow}|{props.get('name', 'mirror')}|{role}"
