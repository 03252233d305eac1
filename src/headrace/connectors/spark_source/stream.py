"""Formats that Spark can stream: their own offsets are Connect's, and a query begins at the stored one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from headrace.connectors.base import Progress, Props, SourceOffset, SourcePartition, SourceTask, StoredOffsets, Stream
from headrace.connectors.spark_source.config import SparkSourceConfig
from headrace.connectors.spark_source.reading import DataSource
from headrace.connectors.spark_source.record import record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TEXT = "json"


class SparkStreamTask(SourceTask):
    """Source partition: `{"format": <format>}`, with `"path"` if there is one; source offset: Spark's own of the source.

    An offset whose JSON is an object of plain values is stored as it is, any other one as `{"json": <its text>}`.
    """

    def start(self, props: Props) -> None:
        """Take the configuration. Raises ConfigError."""
        self._config = SparkSourceConfig(props)
        self._reading = DataSource(self._config)

    def partitions(self) -> list[SourcePartition]:
        """The data source."""
        path = self._config.options.get("path")
        return [{"format": self._config.format} | ({"path": path} if path else {})]

    def open(self, spark: SparkSession, stored: StoredOffsets) -> Stream:
        """The stream after the stored offset. Raises ConfigError for a format that is not there, or cannot be streamed."""
        offset = stored.get(self.partitions()[0])
        with self._reading.explained():
            frame = self._reading.reader(spark, streaming=True).load()
            return Stream(
                frame=frame,
                record=record(frame, self._config, {}),
                destination=self._reading.destination(),
                after=None if offset is None else spark_offset(offset),
                interval_ms=max(self._config.poll_interval_ms, self.context.interval_ms or 0),
            )

    def progress(self, start: str | None, end: str) -> Progress:
        """The offset that Spark has planned the batch to end at."""
        return Progress([(self.partitions()[0], connect_offset(end))], self._reading.topics(), f"{self._config.format} to {end}")


def connect_offset(text: str) -> SourceOffset:
    """An offset of Spark's, in JSON, as one of Connect's, which has plain values only."""
    offset = json.loads(text)
    if (
        isinstance(offset, dict)
        and offset.keys() not in (set(), {_TEXT})
        and all(isinstance(v, str | int | float | bool) for v in offset.values())
    ):
        return offset
    return {_TEXT: text}


def spark_offset(offset: SourceOffset) -> str:
    """The reverse of `connect_offset`."""
    text = offset.get(_TEXT)
    return text if isinstance(text, str) and len(offset) == 1 else json.dumps(dict(offset), separators=(",", ":"))
