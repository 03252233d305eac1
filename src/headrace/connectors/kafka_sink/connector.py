"""The Kafka sink connector: copies topics of the worker's cluster to another one."""

from __future__ import annotations

from collections.abc import Mapping

from headrace.config import ConfigDef
from headrace.connectors.base import Props
from headrace.connectors.kafka_sink.config import KafkaSinkConfig
from headrace.connectors.kafka_sink.task import KafkaSinkTask
from headrace.connectors.sink import SinkConnector, TopicPartition
from headrace.plugins import Kind, plugin


@plugin("org.apache.kafka.connect.kafka.KafkaSinkConnector", Kind.SINK)  # beside the source, whose name KIP-310 left open
class KafkaSinkConnector(SinkConnector):
    """Copies topics of the worker's cluster to another one."""

    task_class = KafkaSinkTask

    @classmethod
    def definition(cls) -> ConfigDef:
        """`target.bootstrap.servers` and how topics and partitions follow."""
        return KafkaSinkConfig.definition()

    @classmethod
    def copy_of(cls, config: Props, topic: str) -> str:
        """The topic name after the prefix."""
        return KafkaSinkConfig(config).destination_topics_prefix + topic

    @classmethod
    def alter_offsets(cls, config: Props, offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any: the only offsets are the group's."""
        return True
