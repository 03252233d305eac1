"""SparkSource: a Spark data source, as a source connector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headrace.config import ConfigDef
from headrace.connectors.base import (
    PollingSourceTask,
    Props,
    SourceConnector,
    SourceOffset,
    SourcePartition,
    SourceTask,
)
from headrace.connectors.spark_source.bulk import BulkTask
from headrace.connectors.spark_source.config import SparkSourceConfig
from headrace.connectors.spark_source.files import FilesTask
from headrace.connectors.spark_source.jdbc import JdbcTask
from headrace.connectors.spark_source.jdbc_position import JdbcPosition, integer
from headrace.connectors.spark_source.stream import SparkStreamTask
from headrace.errors import ConnectError
from headrace.plugins import Kind, plugin

if TYPE_CHECKING:
    from collections.abc import Callable

_REPEATABLE = ("delta", "kafka")
_TASKS: Mapping[str, type[SourceTask] | type[PollingSourceTask]] = {
    "jdbc": JdbcTask, "bulk": BulkTask, "files": FilesTask, "stream": SparkStreamTask,
}  # fmt: skip


@plugin("headrace.connectors.SparkSourceConnector", Kind.SOURCE)
class SparkSourceConnector(SourceConnector):
    """Whatever Spark can read, into Kafka: files, tables of databases, Delta Lake, Python data sources and any other format."""

    task_class = SparkStreamTask

    @classmethod
    def task_for(cls, config: Props) -> type[SourceTask] | type[PollingSourceTask]:
        """By how the format is read."""
        return _TASKS[SparkSourceConfig(config).kind]

    @classmethod
    def definition(cls) -> ConfigDef:
        """The options but those of the data source itself."""
        return SparkSourceConfig.definition()

    @classmethod
    def problems(cls, props: Props) -> Mapping[str, Sequence[str]]:
        """Errors that concern more than one option; and of the format, if Spark is running already and can check it."""
        return SparkSourceConfig.all_problems(props)

    @classmethod
    def alter_offsets(cls, config: Props, changes: Sequence[tuple[SourcePartition, SourceOffset | None]]) -> bool:
        """Agree to offsets that have what the tasks store. Raises ConnectError."""
        kind = SparkSourceConfig(config).kind
        if kind == "bulk":
            raise ConnectError("Offsets cannot be modified in mode bulk: there are none.")
        for partition, offset in changes:
            _PARTITIONS[kind](partition)
            if offset is not None:
                _OFFSETS[kind](offset)
        return True

    @classmethod
    def exactly_once_support(cls, props: Props) -> bool | None:
        """By how the format is read: what is after an offset has to be the same each time. None: the data source may know."""
        config = SparkSourceConfig(props)
        if config.kind == "stream":
            return True if config.format.lower() in _REPEATABLE else None
        return config.mode != "bulk"

    def start(self, props: Props) -> None:
        """Keep the configuration. Raises ConfigError."""
        SparkSourceConfig(props)
        self._props = dict(props)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """One task with the connector's own configuration: Spark spreads it over its executors."""
        return [self._props]

    def stop(self) -> None:
        """Nothing to end."""


def _require_keys(*keys: str) -> Callable[[SourcePartition], None]:
    def check(partition: SourcePartition | None) -> None:
        for key in keys:
            if key not in (partition or {}):
                raise ConnectError(f"Partition objects should contain the key '{key}'")

    return check


def _file_offset(offset: SourceOffset) -> None:
    integer("modified", offset.get("modified"))
    if not isinstance(offset.get("path"), str):
        raise ConnectError("Offset objects should either be null or contain the keys 'modified' and 'path'")


_PARTITIONS = {"jdbc": _require_keys("table"), "files": _require_keys("format", "path"), "stream": _require_keys("format")}
_OFFSETS: Mapping[str, Callable[[SourceOffset], object]] = {"jdbc": JdbcPosition.of, "files": _file_offset, "stream": len}
