"""FileStreamSource: the lines of one growing text file, which a lane reads (`jvm/java/io/headrace/lanes/LinesReader.java`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from headrace.config import Config, ConfigDef, Importance, Type, option, validators
from headrace.config.types import trim
from headrace.connectors.base import Offsets, Props, SourceConnector, SourceOffset, SourcePartition, StoredOffsets
from headrace.connectors.feed import FeedSource, FeedTask
from headrace.errors import ConnectError
from headrace.kafka.groups import Partition
from headrace.plugins import Kind, plugin
from headrace.record import RecordColumns
from headrace.sql_functions import F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = structlog.get_logger(__name__)

_LONGEST_LINE = 16 * 1024 * 1024
"""In bytes, as in `Lines.java`."""


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


class FileStreamSourceTask(FeedTask):
    """Source partition: `{"filename": <file>}`; source offset: `{"position": <bytes read>}`.

    The data plane's partition is the file's absolute path, number 0; its offsets are bytes.
    """

    offset_field = "position"

    def start(self, props: Props) -> None:
        """Take the configuration. Raises ConfigError."""
        self._config = FileStreamSourceConfig(props)
        self._path = Path(self._config.file or "").absolute()
        self._position = 0
        self._complaint: str | None = None

    def partitions(self) -> list[SourcePartition]:
        """The file."""
        return [{"filename": self._config.file}]

    def open(self, stored: StoredOffsets) -> FeedSource | None:
        """The lines after the stored position; None without `file`: the standard input of a worker is not read."""
        if not self._config.file:
            return None
        self._position = int((stored.get(self.partitions()[0]) or {}).get("position", 0))
        self.needs_reopening()
        return FeedSource(
            positions={(str(self._path), 0): self._position},
            consumer={"batch.size": str(self._config.batch_size)},
            record=_record,
            destination=lambda _: self._config.topic,
            record_key="lines of a file",
            files=True,
            read_batch=_read_batch,
            batch_max_records=sys.maxsize,  # `ends` are near enough
        )

    def offsets(self, ends: Mapping[Partition, int]) -> Offsets:
        """The position in the file."""
        return [(partition, {"position": end}) for partition in self.partitions() for end in ends.values()]

    def offsets_stored(self, ends: Mapping[Partition, int]) -> None:
        """Take note of the position."""
        self._position = max([self._position, *ends.values()])

    def needs_reopening(self) -> bool:
        """Warn, once, of a file that cannot be read, or has become shorter than what was read of it."""
        hint = None
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
            if size < self._position:
                hint = f"it has {size} bytes, and {self._position} were read: if it is another file now, reset the offsets"
        except OSError as error:
            hint = os.strerror(error.errno or 0)
        if hint is not None and hint != self._complaint:
            log.warning("file.source.waiting", file=str(self._path), cause=hint)
        self._complaint = hint
        return False

    def position(self, origin: Mapping[str, str | None]) -> tuple[Partition, int]:
        """The byte at which a line begins."""
        return (str(origin["file"]), 0), int(origin["byte"] or 0)

    def ends(self, positions: Mapping[Partition, int]) -> dict[Partition, int]:
        """The end of the last complete line of the next stretch of the file. Raises ConnectError for a line that is too long."""
        return {partition: _end_of_lines(Path(partition[0]), begin) for partition, begin in positions.items()}

    def stop(self) -> None:
        """Nothing to end."""


def _end_of_lines(path: Path, begin: int) -> int:
    try:
        with path.open("rb") as file:
            file.seek(begin)
            stretch = file.read(_LONGEST_LINE)
    except OSError:
        return begin
    end = max(stretch.rfind(b"\n"), stretch.rfind(b"\r", 0, max(0, len(stretch) - 1))) + 1
    if end == 0 and len(stretch) == _LONGEST_LINE:
        raise ConnectError(f"The line of {path} that begins at byte {begin} is longer than {_LONGEST_LINE} bytes.")
    return begin + end


def _record(frame: DataFrame) -> RecordColumns:
    return RecordColumns(
        topic=frame["destination"],
        key=F.lit(None).cast("binary"),
        value=frame["value"].cast("string"),
        key_kind="null",
        value_kind="line",
        timestamp=frame["timestamp"],
        origin={"file": frame["topic"], "byte": frame["offset"]},
    )


def _read_batch(spark: SparkSession, ranges: Mapping[Partition, tuple[int, int]]) -> DataFrame:
    """The lines between two bytes of a file, with the columns of a lane that `_record` takes."""
    (((path, _), (begin, end)),) = ranges.items()
    with Path(path).open("rb") as file:  # Spark's binaryFile would hold the whole file, and takes none of 2 GiB
        file.seek(begin)
        content = file.read(end - begin)
    lines = F.call_function("headrace_lines", F.col("content"), F.lit(begin).cast("bigint"))
    return (
        spark.createDataFrame([(bytearray(content),)], "content binary")
        .select(F.explode(lines).alias("line"))
        .select(F.lit(path).alias("topic"), F.col("line.begin").alias("offset"), F.col("line.text").alias("value"))
        .withColumn("timestamp", F.timestamp_millis(F.unix_millis(F.current_timestamp())))
    )  # fmt: skip


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
        """Whether each line can be delivered exactly once: from a file, not from the standard input, whose end is not stored.

        Raises ConfigError for options that are wrong.
        """
        FileStreamSourceConfig(config)
        return _has_file(config)

    @classmethod
    def alter_offsets(cls, config: Props, changes: Sequence[tuple[SourcePartition, SourceOffset | None]]) -> bool:
        """Agree to positions that are whole, non-negative numbers. Raises ConnectError in Kafka's words."""
        if not _has_file(config):
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


def _has_file(config: Props) -> bool:
    return bool(trim(config.get("file") or ""))


def _check_position(partition: Mapping[str, Any] | None, offset: Mapping[str, Any]) -> None:
    if "position" not in offset:
        raise ConnectError("Offset objects should either be null or contain the key 'position'")
    position = offset["position"]
    if not isinstance(position, int) or isinstance(position, bool):
        raise ConnectError("The value for the 'position' key in the offset is expected to be a Long value")
    if position < 0:
        raise ConnectError("The value for the 'position' key in the offset should be a non-negative value")
    if partition is None:
        raise ConnectError("Partition objects cannot be null")
    if "filename" not in partition:
        raise ConnectError("Partition objects should contain the key 'filename'")
