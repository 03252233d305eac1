"""Base of the tasks of SparkSink."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from headrace.connectors.base import Props
from headrace.connectors.sink import SinkBatch, SinkTask
from headrace.connectors.spark_sink.columns import ColumnWriter
from headrace.connectors.spark_sink.config import SparkSinkConfig
from headrace.connectors.spark_sink.rows import has_own_fields, rows
from headrace.converters.base import Writers
from headrace.errors import HeadraceError
from headrace.spark import formats
from headrace.sql_functions import F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TOPIC = "${topic}"


class SparkSinkTask(SinkTask):
    """Writes batches to the targets that the options name: one, or one for each topic."""

    def start(self, props: Props) -> None:
        """Take the configuration. Raises ConfigError."""
        self._config = SparkSinkConfig(props)

    def writers(self, own: Writers) -> Writers:
        """Typed columns; keys only where they are used."""
        key = ColumnWriter("key", self._config.key_schema) if self._config.wants_key else own.key
        return Writers(key, ColumnWriter("value", self._config.schema, self._config.envelope == "debezium"), own.header)

    def put(self, batch: SinkBatch) -> None:
        """Write the records of each target, if there are any."""
        try:
            with self._computed_once(batch.frame):
                for records, options in self._targets(batch):
                    self.write(batch, records, options)
        except HeadraceError:
            raise
        except Exception as error:
            raise formats.as_error(error, f"The format {self._config.format} could not be written") from error

    @contextmanager
    def _computed_once(self, records: DataFrame) -> Iterator[None]:
        """Keep records with different columns on disk: which columns there are is looked up before the records are written, and a
        chain that uses a clock, say, may give others the second time.
        """
        if not (self._config.keeps_columns and has_own_fields(records)):
            yield
            return
        from pyspark import StorageLevel

        records.persist(StorageLevel.DISK_ONLY)
        try:
            records.count()  # all of them in one Spark stage, by which the runtime counts what is written
            yield
        finally:
            records.unpersist()

    def _targets(self, batch: SinkBatch) -> Iterator[tuple[DataFrame, dict[str, str]]]:
        """The records of each target and its options; records without value only where they delete."""
        options, records = self._config.options, batch.frame
        # A batch of nothing else may be the first one, whose values have no type yet: it has no columns for the target.
        writes = records["value"].isNotNull()
        if self._config.deletes:  # not what has no key either, like the event of a truncated table: it names no row
            writes |= records["key"].isNotNull()
        records = records.where(writes)
        if not any(_TOPIC in value for value in options.values()):
            if not records.isEmpty():
                yield records, options
            return
        for topic in sorted(batch.topics if batch.topics is not None else self._topics(batch)):
            topic_records = records.where(records["topic"] == topic)
            if not topic_records.isEmpty():
                yield topic_records, {name: value.replace(_TOPIC, topic) for name, value in options.items()}

    def _topics(self, batch: SinkBatch) -> list[str]:
        row: Any = batch.frame.agg(F.collect_set("topic")).first()
        return row[0]

    @abstractmethod
    def write(self, batch: SinkBatch, records: DataFrame, options: Mapping[str, str]) -> None:
        """Write the records of one target; there is one at least."""


class AppendTask(SparkSinkTask):
    """Formats that are appended to: at least once, a batch that is delivered again is there twice."""

    def write(self, batch: SinkBatch, records: DataFrame, options: Mapping[str, str]) -> None:
        """One job of Spark's."""
        name = formats.resolved(batch.spark, self._config.format)
        table = rows(records, self._config)
        writer = table.write.format(name).options(**options).mode("append")
        (writer.partitionBy(*self._config.partition_by) if self._config.partition_by else writer).save()
