"""The Kafka source connector (KIP-310): mirrors topics of another cluster into the one that the worker writes to."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from headrace.config import ConfigDef
from headrace.connectors.base import ConnectorContext, Offsets, Props, SourceConnector, SourceOffset, SourcePartition
from headrace.connectors.kafka_source.assignment import TASK_PARTITIONS, decode, encode, group
from headrace.connectors.kafka_source.clients import ADMIN, CONSUMER
from headrace.connectors.kafka_source.config import KafkaSourceConfig
from headrace.connectors.kafka_source.monitor import PartitionMonitor, TopicMonitorSettings
from headrace.connectors.kafka_source.source_lag import behind
from headrace.connectors.kafka_source.task import KafkaSourceTask, check_offset, copied_of
from headrace.connectors.partition_lag import PartitionLag
from headrace.kafka.admin import shared
from headrace.plugins import Kind, plugin

log = structlog.get_logger(__name__)


@plugin(
    # KIP-310 was never released and names no package: this is the one of the file connectors beside which it was to be bundled,
    # with the last part of the package of the connector that the proposal is based on. The alias is that connector's own name.
    "org.apache.kafka.connect.kafka.KafkaSourceConnector",
    Kind.SOURCE,
    aliases=("com.comcast.kafka.connect.kafka.KafkaSourceConnector",),
)
class KafkaSourceConnector(SourceConnector):
    """Deals the partitions of the topics in `source.topic.whitelist` to tasks, and reassigns them when they change."""

    task_class = KafkaSourceTask

    def __init__(self, context: ConnectorContext) -> None:
        super().__init__(context)
        self._props: dict[str, str] = {}
        self._monitor: PartitionMonitor | None = None
        self._shutdown_wait_s = 0.0

    @classmethod
    def definition(cls) -> ConfigDef:
        """The options of the proposal, and of headrace."""
        return KafkaSourceConfig.definition()

    @classmethod
    def copy_of(cls, config: Props, topic: str) -> str:
        """The topic name after the prefix."""
        return KafkaSourceConfig(config).destination_topics_prefix + topic

    @classmethod
    def exactly_once_support(cls, props: Props) -> bool:
        """Yes: each partition has its offset, and the records after it are always the same."""
        return True

    @classmethod
    def alter_offsets(cls, config: Props, changes: Sequence[tuple[SourcePartition, SourceOffset | None]]) -> bool:
        """Agree to offsets that a task can read; anything can be removed. Raises ConnectError."""
        for partition, offset in changes:
            if offset is not None:
                check_offset(partition, offset)
        return True

    @classmethod
    def lag(cls, config: Props, tasks: Sequence[Props], offsets: Offsets, *, ages: bool) -> list[PartitionLag]:
        """The lag of the tasks' partitions, or, without tasks, of partitions with offsets. Raises KafkaFailure."""
        assigned = {(p.topic, p.partition): n for n, task in enumerate(tasks) for p in decode(task[TASK_PARTITIONS])}
        copied = copied_of(assigned, offsets, KafkaSourceConfig(config).auto_offset_reset == "earliest")
        return behind(CONSUMER.settings(config), ADMIN.settings(config), copied, ages)

    def start(self, props: Props) -> None:
        """Look up the partitions, and watch them from here on. Raises ConfigError, ConnectError."""
        config = KafkaSourceConfig(props)
        self._props = dict(props)
        self._shutdown_wait_s = config.max_shutdown_wait_ms / 1000
        if config.enable_auto_commit and not config.group_id:
            log.info("source.group.id is not set: no offsets are written to the source cluster for lag monitoring.")
        watch = TopicMonitorSettings(
            whitelist=config.whitelist,
            timeout_s=config.topic_list_timeout_ms / 1000,
            interval_s=config.topic_list_poll_interval_ms / 1000,
            leaders=config.reconfigure_tasks_on_leader_change,
        )
        admin = shared(ADMIN.settings(props))
        self._monitor = PartitionMonitor(
            lambda timeout_s: admin.topics(timeout_s, config.whitelist.fullmatch), watch, self.context.request_reconfiguration
        )
        self._monitor.start(self.context.stopping)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """One configuration per task: everything of the connector, and the partitions of the task."""
        partitions = self._monitor.partitions if self._monitor else frozenset()
        groups = group(partitions, max_tasks)
        if not groups:
            log.info("No tasks to start.")
        return [{**self._props, TASK_PARTITIONS: encode(mine)} for mine in groups]

    def stop(self) -> None:
        """End the monitor within `max.shutdown.wait.ms`."""
        if self._monitor is not None:
            self._monitor.stop(self._shutdown_wait_s)
