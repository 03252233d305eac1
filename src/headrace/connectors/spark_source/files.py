"""New files of a directory: their names are listed on the driver, Spark reads what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog

from headrace.connectors.base import Poll, PollingSourceTask, Props, SourcePartition, StoredOffsets
from headrace.connectors.spark_source.config import SparkSourceConfig
from headrace.connectors.spark_source.reading import DataSource
from headrace.spark import formats
from headrace.sql_functions import F
from headrace.values.times import now_ms

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)


class FilesTask(PollingSourceTask):
    """Source partition: `{"format": <format>, "path": <path>}`.

    Source offset: `{"modified": <ms>, "path": <file>}` of the last file in the order of these two.
    """

    def start(self, props: Props) -> None:
        """Take the configuration. Raises ConfigError."""
        self._config = SparkSourceConfig(props)
        self._reading = DataSource(self._config)
        self.poll_interval_s = self._config.poll_interval_ms / 1000
        self._done: int | None = None  # how many files are not after the stored offset

    def partitions(self) -> list[SourcePartition]:
        """The path."""
        return [{"format": self._config.format, "path": formats.option(self._config.options, "path")}]

    def poll(self, spark: SparkSession, stored: StoredOffsets) -> Poll | None:
        """The files after the stored one that have settled; None if there are none."""
        partition = self.partitions()[0]
        offset = stored.get(partition) or {}
        with self._reading.explained():
            done, files = self._list(spark, int(offset.get("modified", -1)), str(offset.get("path", "")))
            self._warn_of_late(done)
            if not files:
                return None
            modified, last = files[-1]
            self._done = done + len(files)
            return self._poll(spark, files, {"modified": modified, "path": last})

    def _poll(self, spark: SparkSession, files: list[tuple[int, str]], offset: dict[str, Any]) -> Poll:
        reader = self._reading.reader(spark, without=("path", "pathglobfilter"))
        # These are names of files, whatever signs are in them.
        reader = reader.option("__globPaths__", "false")
        if not any(name.lower() == "basepath" for name in self._config.options):
            # Spark would look for partition columns, and then reads files beside a directory with another one in it twice.
            reader = reader.option("recursiveFileLookup", "true")
        frame = reader.load([name for _, name in files])
        summary = f"{len(files)} files to {files[-1][1]}"
        return self._reading.poll(frame, {"file": F.col("_metadata.file_path")}, [(self.partitions()[0], offset)], summary)

    def _list(self, spark: SparkSession, modified: int, last: str) -> tuple[int, list[tuple[int, str]]]:
        """How many files are not after the position, and the next ones with their times (ms)."""
        jvm: Any = spark._jvm
        options = {name.lower(): value for name, value in self._config.options.items()}
        hadoop = spark._jsparkSession.sessionState().newHadoopConf()  # type: ignore[union-attr]
        before = now_ms() - self._config.file_settle_ms
        most = self._config.file_max_files
        text = jvm.io.headrace.FileList.after(
            hadoop, options["path"], options.get("pathglobfilter"), modified, last, before, most
        )
        done, *lines = text.split("\n")
        entries = [line.split(" ", 1) for line in lines]
        return int(done), [(int(ms), name) for ms, name in entries]

    def _warn_of_late(self, done: int) -> None:
        if self._done is not None and done > self._done:
            log.warning("files.late", path=formats.option(self._config.options, "path"), count=done - self._done,
                        hint="older than a file that has been read, so they are not read; touch them")  # fmt: skip
        self._done = done
