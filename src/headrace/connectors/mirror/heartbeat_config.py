"""The options of MirrorHeartbeatConnector, all of them MirrorMaker 2's."""

from __future__ import annotations

from headrace.config import Importance, Type, option
from headrace.connectors.mirror.config import MirrorConfig


class MirrorHeartbeatConfig(MirrorConfig):
    """Configuration of a MirrorHeartbeatConnector."""

    emit_heartbeats_enabled: bool = option(
        "emit.heartbeats.enabled",
        Type.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Whether to emit heartbeats to target cluster.",
    )
    emit_heartbeats_interval_seconds: int = option(
        "emit.heartbeats.interval.seconds",
        Type.LONG,
        1,
        importance=Importance.LOW,
        doc="Frequency of heartbeats.",
    )
    heartbeats_topic_replication_factor: int = option(
        "heartbeats.topic.replication.factor",
        Type.SHORT,
        3,
        importance=Importance.LOW,
        doc="Replication factor for heartbeats topic.",
    )
