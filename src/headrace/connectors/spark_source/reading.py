"""Base of the tasks of SparkSource."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from headrace.connectors.base import Poll, Progress, SourceOffset, SourcePartition
from headrace.connectors.spark_source.config import SparkSourceConfig
from headrace.connectors.spark_source.record import destination, record
from headrace.errors import HeadraceError
from headrace.spark import formats

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamReader


class DataSource:
    """A data source as a configuration names it."""

    def __init__(self, config: SparkSourceConfig) -> None:
        self.config = config
        self._format: str | None = None

    def reader(self, spark: SparkSession, streaming: bool = False, without: tuple[str, ...] = ()) -> Any:
        """Spark's reader, with format, schema and the options but those of these names (in lower case).

        Raises ConfigError for a format that is not there.
        """
        self._format = self._format or formats.resolved(spark, self.config.format)
        reader: DataStreamReader | Any = (spark.readStream if streaming else spark.read).format(self._format)
        reader = reader.options(**{k: v for k, v in self.config.options.items() if k.lower() not in without})
        return reader.schema(self.config.schema) if self.config.schema else reader

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Context in which Spark's errors become one sentence about the data source."""
        try:
            yield
        except HeadraceError:
            raise
        except Exception as error:
            sentence = f"The format {self.config.format} could not be read"
            raise formats.as_error(error, sentence) from error

    def poll(
        self,
        frame: DataFrame,
        origin: dict[str, Column],
        offsets: list[tuple[SourcePartition, SourceOffset]],
        summary: str,
    ) -> Poll:
        """The result of a poll: a frame, the origin of its rows, and its progress."""
        progress = Progress(offsets, self.topics(), summary)
        return Poll(frame, record(frame, self.config, origin), progress, self.destination())

    def topics(self) -> frozenset[str] | None:
        """The configured topic; None: the records decide."""
        return frozenset({self.config.topic}) if self.config.topic else None

    def destination(self) -> Any:
        """The value of `Poll.destination` and `Stream.destination`."""
        return destination if self.config.topic else None
