"""FileStreamSource: the lines of one growing text file.

The driver looks only at the file's size and for the end of the last complete line; Spark reads the bytes and splits them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from headrace.config import Config, ConfigDef, Importance, Type, option, validators
from headrace.connectors.base import (
    Poll,
    PollingSourceTask,
    Progress,
    Props,
    SourceConnector,
    SourceOffset,
    SourcePartition,
    StoredOffsets,
)
from headrace.errors import ConnectError
from headrace.plugins import Kind, plugin
from headrace.record import RecordColumns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

_MOST_BYTES = 16 * 1024 * 1024
"""Longest stretch of the file that one batch covers, and so the longest line."""


class FileStreamSourceConfig(Config):
    """The options of Kafka's FileStreamSourceConnector."""

    file: str | None = option(
        "file", Type.STRING, default=None, importance=Importance.HIGH,
        doc="Source filename. If not specified, the standard input will be used",
    )  # fmt: skip
    topic: str = option(
        "topic", Type.STRING, validator=validators.NonEmptyString(), importance=Importance.HIGH,
        doc="The topic to publish data to",
    )  # fmt: skip
    batch_size: int = option(
        "batch.size", Type.INT, default=2000, importance=Importance.LOW,
        doc="The maximum number of records the source task can read from the file each time it is polled",
    )  # fmt: skip


class FileStreamSourceTask(PollingSourceTask):
    """Source partition: `{"filename": <file>}`; source offset: `{"position": <bytes read>}`."""

    def start(self, props: Props) -> None:
        """Take the configuration. Raises ConfigError."""
        self._config = FileStreamSourceConfig(props)
        self._complained = False

    def partitions(self) -> list[SourcePartition]:
        """The file."""
        return [{"filename": self._config.file}]

    def poll(self, spark: SparkSession, stored: StoredOffsets) -> Poll | None:
        """The complete lines after the stored position; None if there are none, or no such file (yet)."""
        if self._config.file is None:
            return None
        partition = {"filename": self._config.file}
        begin = int((stored.get(partition) or {}).get("position", 0))
        end = self._end_of_lines(begin)
        return self._lines(spark, partition, begin, end) if end > begin else None

    def _end_of_lines(self, begin: int) -> int:
        """The position after the last line break of the next stretch of the file; `begin` if there is none."""
        path = Path(self._config.file or "")
        try:
            with path.open("rb") as file:
                file.seek(begin)
                stretch = file.read(_MOST_BYTES)
        except OSError as e:
            if not self._complained:
                log.warning("file.source.waiting", file=str(path), cause=os.strerror(e.errno or 0))
                self._complained = True
            return begin
        self._complained = False
        if len(stretch) == _MOST_BYTES and b"\n" not in stretch:
            raise ConnectError(f"The line of {path} that begins at byte {begin} is longer than {_MOST_BYTES} bytes.")
        return begin + stretch.rfind(b"\n") + 1

    def _lines(self, spark: SparkSession, partition: SourcePartition, begin: int, end: int) -> Poll:
        from pyspark.sql import functions as F

        content = F.substring("content", begin + 1, end - begin - 1)  # without the last line break
        lines = F.split(content.cast("string"), "\r?\n")
        frame = (
            spark.read.format("binaryFile").load(str(self._config.file))
            .select(F.posexplode(lines).alias("number", "line"))
            .select("number", F.regexp_replace("line", "\r\\z", "").alias("line"))  # from a \r\n
        )  # fmt: skip
        record = RecordColumns(
            topic=F.lit(self._config.topic), key=F.lit(None).cast("binary"), value=F.col("line"),
            key_kind="null", value_kind="line", timestamp=F.timestamp_millis(F.unix_millis(F.current_timestamp())),
            origin={"file": F.lit(self._config.file), "line after byte": F.lit(begin), "number": F.col("number")},
        )  # fmt: skip
        progress = Progress([(partition, {"position": end})], None, f"{self._config.file} bytes {begin} to {end - 1}")
        return Poll(frame, record, progress)


@plugin("org.apache.kafka.connect.file.FileStreamSourceConnector", Kind.SOURCE)
class FileStreamSourceConnector(SourceConnector):
    """Lines of one file to one topic, by one task."""

    task_class = FileStreamSourceTask

    @classmethod
    def definition(cls) -> ConfigDef:
        """`file`, `topic`, `batch.size`."""
        return FileStreamSourceConfig.definition()

    @classmethod
    def exactly_once_support(cls, config: Props) -> bool:
        """Whether each line can be delivered exactly once: from a file, not from the standard input, whose end is not stored."""
        return bool(config.get("file"))

    @classmethod
    def alter_offsets(cls, config: Props, changes: Sequence[tuple[SourcePartition, SourceOffset | None]]) -> bool:
        """Agree to positions that are whole, non-negative numbers. Raises ConnectError in Kafka's words."""
        if config.get("file") is None:
            raise ConnectError(
                "Offsets cannot be modified if the 'file' configuration is unspecified. This is because stdin is used for "
                "input and offsets are not tracked."
            )
        for partition, offset in changes:
            if offset is not None:
                _check_position(partition, offset)
        return True

    def start(self, props: Props) -> None:
        """Keep the configuration. Raises ConfigError."""
        self._props = dict(props)
        FileStreamSourceConfig(props)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """One task with the connector's own configuration."""
        return [self._props]

    def stop(self) -> None:
        """Nothing to end."""


def _check_position(partition: Mapping[str, Any], offset: Mapping[str, Any]) -> None:
    if "filename" not in partition:
        raise ConnectError("Partition objects should contain the key 'filename'")
    if "position" not in offset:
        raise ConnectError("Offset objects should either be null or contain the key 'position'")
    position = offset["position"]
    if not isinstance(position, int) or isinstance(position, bool):
        raise ConnectError("The value for the 'position' key in the offset is expected to be a Long value")
    if position < 0:
        raise ConnectError("The value for the 'position' key in the offset should be a non-negative value")
