"""Everything that a data source has, again and again: for formats without a stream."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from headrace.connectors.base import Poll, PollingSourceTask, Progress, Props, SourcePartition, StoredOffsets
from headrace.connectors.spark_source.config import SparkSourceConfig
from headrace.connectors.spark_source.reading import DataSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class BulkTask(PollingSourceTask):
    """No partitions: without offsets, a starting task reads everything."""

    def start(self, props: Props) -> None:
        """Take the configuration. Raises ConfigError."""
        self._config = SparkSourceConfig(props)
        self._reading = DataSource(self._config)
        self._next = 0.0
        self.poll_interval_s = self._config.poll_interval_ms / 1000

    def partitions(self) -> list[SourcePartition]:
        """None."""
        return []

    def poll(self, spark: SparkSession, stored: StoredOffsets) -> Poll | None:
        """All rows; None until `poll.interval.ms` have passed since they were delivered."""
        if time.monotonic() < self._next:
            return None
        with self._reading.explained():
            return self._reading.poll(self._reading.reader(spark).load(), {}, [], f"everything in {self._config.format}")

    def committed(self, progress: Progress) -> None:
        """Wait from now on."""
        self._next = time.monotonic() + self.poll_interval_s
