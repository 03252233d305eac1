"""MirrorHeartbeatConnector of MirrorMaker 2 (KIP-382): a sign of life every second, for monitors and clients.

Source partition: `{"sourceClusterAlias": …, "targetClusterAlias": …}`; its offset means nothing and is 0.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import structlog

from headrace.config import ConfigDef
from headrace.connectors.base import (
    ConnectorContext,
    Poll,
    PollingSourceTask,
    Props,
    SourceConnector,
    SourceOffset,
    SourcePartition,
    StoredOffsets,
)
from headrace.connectors.mirror import own_records
from headrace.connectors.mirror.admin import MirrorAdmin
from headrace.connectors.mirror.clients import client
from headrace.connectors.mirror.formats import Heartbeat
from headrace.connectors.mirror.heartbeat_config import MirrorHeartbeatConfig
from headrace.connectors.mirror.offsets import check_offsets
from headrace.connectors.mirror.policies import HEARTBEATS
from headrace.connectors.mirror.schedule import FIRST_RETRY_S, LEAST_S, Job, Schedule
from headrace.connectors.mirror.source_connector import create_compacted
from headrace.errors import HeadraceError
from headrace.plugins import Kind, plugin
from headrace.values.times import now_ms

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

_CREATE_S, _STOP_S = 60.0, 2.0
_KEYS = ("sourceClusterAlias", "targetClusterAlias")


class MirrorHeartbeatTask(PollingSourceTask):
    """Writes one record per interval to the topic `heartbeats`."""

    def start(self, props: Props) -> None:
        """Take the configuration. Raises ConfigError."""
        config = MirrorHeartbeatConfig(props)
        self._aliases = (config.source_cluster_alias, config.target_cluster_alias)
        self._interval_s = max(LEAST_S, config.emit_heartbeats_interval_seconds)
        self._next = 0.0

    @property
    def poll_interval_s(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Until the next heartbeat."""
        return max(0.0, self._next - time.monotonic())

    def partitions(self) -> list[SourcePartition]:
        """None: nothing is read."""
        return []

    def poll(self, spark: SparkSession, stored: StoredOffsets) -> Poll | None:
        """A heartbeat, if the interval is over."""
        if time.monotonic() < self._next:
            return None
        now = now_ms()
        self._next = time.monotonic() + self._interval_s  # read last: heartbeats are never less than an interval apart
        where: dict[str, Any] = dict(zip(_KEYS, self._aliases, strict=True))
        return own_records.poll(spark, HEARTBEATS, [(where, Heartbeat(*self._aliases, now))], now)


@plugin("org.apache.kafka.connect.mirror.MirrorHeartbeatConnector", Kind.SOURCE)
class MirrorHeartbeatConnector(SourceConnector):
    """Heartbeats from `source.cluster.alias` to `target.cluster.alias`, by one task."""

    task_class = MirrorHeartbeatTask

    def __init__(self, context: ConnectorContext) -> None:
        super().__init__(context)
        self._props: dict[str, str] = {}
        self._has_topic = False
        self._schedule: Schedule | None = None

    @classmethod
    def definition(cls) -> ConfigDef:
        """MirrorMaker's options."""
        return MirrorHeartbeatConfig.definition()

    @classmethod
    def alter_offsets(cls, config: Props, changes: Sequence[tuple[SourcePartition, SourceOffset | None]]) -> bool:
        """Agree to offsets in MirrorMaker's form. Raises ConnectError in Kafka's words."""
        return check_offsets(changes, _KEYS, partition=False, only_zero=True)

    def start(self, props: Props) -> None:
        """Create the topic, if it does not exist; if that is not possible now, it is tried again later. Raises ConfigError."""
        self._config = MirrorHeartbeatConfig(props)
        self._props = dict(props)
        self._target = MirrorAdmin(client(props, "target", "admin"))
        try:
            self._create_topic()
        except HeadraceError as error:
            log.warning("mirror.not-ready", cause=str(error), hint="it is tried again in a few seconds")
        if not self._has_topic:
            job = Job("creating the topic of heartbeats", self._create_topic, _CREATE_S, FIRST_RETRY_S)
            self._schedule = Schedule(f"mirror-{self.context.name}", [job])
            self._schedule.start()

    def _create_topic(self) -> None:
        if not self._has_topic:
            factor, timeout_s = self._config.heartbeats_topic_replication_factor, self._config.timeout_s
            self._has_topic = create_compacted(self._target, HEARTBEATS, factor, timeout_s)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """One task; none if heartbeats are switched off, or their interval is negative."""
        config = self._config
        return [self._props] if config.emit_heartbeats_enabled and config.emit_heartbeats_interval_seconds >= 0 else []

    def stop(self) -> None:
        """End the attempts to create the topic."""
        if self._schedule is not None:
            self._schedule.stop(_STOP_S)
