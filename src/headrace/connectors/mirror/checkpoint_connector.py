"""MirrorCheckpointConnector of MirrorMaker 2 (KIP-382): consumer groups can resume in the target cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import structlog

from headrace.config import ConfigDef
from headrace.connectors.base import ConnectorContext, Props, SourceConnector, SourceOffset, SourcePartition
from headrace.connectors.mirror.admin import MirrorAdmin
from headrace.connectors.mirror.checkpoint_config import MirrorCheckpointConfig
from headrace.connectors.mirror.checkpoint_task import GROUPS, MirrorCheckpointTask
from headrace.connectors.mirror.clients import client
from headrace.connectors.mirror.config import is_off
from headrace.connectors.mirror.groups import relevant_groups
from headrace.connectors.mirror.offsets import check_offsets
from headrace.connectors.mirror.schedule import FIRST_RETRY_S, Job, Schedule, interval_s
from headrace.connectors.mirror.source_connector import create_compacted
from headrace.errors import HeadraceError, RetriableError
from headrace.plugins import Kind, plugin

log = structlog.get_logger(__name__)

_STOP_S = 2.0


@plugin("org.apache.kafka.connect.mirror.MirrorCheckpointConnector", Kind.SOURCE)
class MirrorCheckpointConnector(SourceConnector):
    """Finds the groups that read what is mirrored, and deals them to tasks."""

    task_class = MirrorCheckpointTask

    def __init__(self, context: ConnectorContext) -> None:
        super().__init__(context)
        self._props: dict[str, str] = {}
        self._groups: list[str] | None = None  # None: not found yet
        self._schedule: Schedule | None = None

    @classmethod
    def definition(cls) -> ConfigDef:
        """MirrorMaker's options."""
        return MirrorCheckpointConfig.definition()

    @classmethod
    def problems(cls, props: Props) -> Mapping[str, Sequence[str]]:
        """MirrorMaker's own rules for several options; none count while the connector is switched off."""
        problems: dict[str, list[str]] = {}
        if is_off(props, "enabled"):
            return problems
        if is_off(props, "emit.checkpoints.enabled"):
            text = "MirrorCheckpointConnector can't run with emit.checkpoints.enabled set to false"
            problems["emit.checkpoints.enabled"] = [text]
        if is_off(props, "emit.offset-syncs.enabled"):
            problems["emit.offset-syncs.enabled"] = ["MirrorCheckpointConnector can't run without offset syncs"]
        return problems

    @classmethod
    def alter_offsets(cls, config: Props, changes: Sequence[tuple[SourcePartition, SourceOffset | None]]) -> bool:
        """Agree to offsets in MirrorMaker's form. Raises ConnectError in Kafka's words."""
        return check_offsets(changes, ["group", "topic"], partition=True, only_zero=True)

    def start(self, props: Props) -> None:
        """Find the groups, and look for more from here on. Raises ConfigError.

        A cluster that cannot be reached is tried again, in a few seconds and for as long as it takes.
        """
        self._config = config = MirrorCheckpointConfig(props)
        self._props = dict(props)
        if not config.enabled:
            return
        self._source, self._target = (MirrorAdmin(client(props, side, "admin")) for side in ("source", "target"))
        every = interval_s(config.refresh_groups_enabled, config.refresh_groups_interval_seconds)
        try:
            self._groups = self._find_groups()
            after = every
        except HeadraceError as error:
            log.warning("mirror.not-ready", cause=str(error), hint="it is tried again in a few seconds")
            after = FIRST_RETRY_S
        self._schedule = Schedule(f"mirror-{self.context.name}", [Job("refreshing consumer groups", self._refresh, every, after)])
        self._schedule.start()

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """One configuration per task: everything of the connector, and the groups of the task; none if the interval is negative.

        Raises RetriableError while the groups are not known: tasks that run stay as they are.
        """
        if not self._config.enabled or self._config.emit_checkpoints_interval_seconds < 0:
            return []
        if self._groups is None:
            raise RetriableError("The consumer groups of the source cluster have not been loaded yet.")
        count = min(max_tasks, len(self._groups))
        dealt = [self._groups[n::count] for n in range(count)]
        return [{**self._props, GROUPS: ",".join(mine), "task.index": str(n)} for n, mine in enumerate(dealt)]

    def stop(self) -> None:
        """End the search."""
        if self._schedule is not None:
            self._schedule.stop(_STOP_S)

    def _find_groups(self) -> list[str]:
        config = self._config
        create_compacted(self._target, config.checkpoints_topic, config.checkpoints_topic_replication_factor, config.timeout_s)
        return relevant_groups(self._source, config.group_filter, config.topic_filter, config.timeout_s)

    def _refresh(self) -> None:
        groups = self._find_groups()
        if groups != self._groups:
            log.info("mirror.groups.changed", groups=len(groups), before=len(self._groups or []))
            self._groups = groups
            self.context.request_reconfiguration()
