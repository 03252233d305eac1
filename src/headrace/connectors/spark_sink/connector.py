"""SparkSink: a Spark data source, as a sink connector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headrace.config import ConfigDef
from headrace.connectors.base import Props
from headrace.connectors.sink import SinkConnector, TopicPartition
from headrace.connectors.spark_sink.config import DELTA, SparkSinkConfig
from headrace.connectors.spark_sink.delta import DeltaTask
from headrace.connectors.spark_sink.jdbc import JdbcSinkTask
from headrace.connectors.spark_sink.task import AppendTask, SparkSinkTask
from headrace.plugins import Kind, plugin

_TASKS: Mapping[str, type[SparkSinkTask]] = {"jdbc": JdbcSinkTask, "delta": DeltaTask, "append": AppendTask}


@plugin("headrace.connectors.SparkSinkConnector", Kind.SINK)
class SparkSinkConnector(SinkConnector):
    """Kafka's records to whatever Spark can write: files, tables of databases, Delta Lake, Python data sources and any other."""

    task_class = AppendTask

    @classmethod
    def task_for(cls, config: Props) -> type[SparkSinkTask]:
        """By how the format is written."""
        return _TASKS[SparkSinkConfig(config).kind]

    @classmethod
    def definition(cls) -> ConfigDef:
        """The options but those of the data source itself."""
        return SparkSinkConfig.definition()

    @classmethod
    def problems(cls, props: Props) -> Mapping[str, Sequence[str]]:
        """Errors that concern more than one option; and of the format, if Spark is running already and can check it."""
        return SparkSinkConfig.all_problems(props)

    @classmethod
    def alter_offsets(cls, config: Props, offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Agree to any; a Delta table keeps its own as well, and does not take again what it has."""
        return SparkSinkConfig(config).kind != DELTA

    def start(self, props: Props) -> None:
        """Keep the configuration. Raises ConfigError."""
        SparkSinkConfig(props)
        super().start(props)
