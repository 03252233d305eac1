"""Delta Lake, exactly once: the table itself says up to which offset it has each topic partition.

A commit carries one `txn` action for each topic partition of the batch: its `appId` names connector and topic partition, its
`version` is the offset after the last record. They are read in the transaction that writes, so what the table has already is left
out whatever the extent of a batch that comes again, and of two tasks that write the same partition at once one fails.
Delta's own `txnAppId` and `txnVersion` options write one such action a commit, and skip whole batches only: hence its classes
(docs/decisions/0009).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import structlog

from headrace.connectors.sink import SinkBatch, TopicPartition
from headrace.connectors.spark_sink.delta_merge import merge
from headrace.connectors.spark_sink.rows import rows
from headrace.connectors.spark_sink.task import SparkSinkTask
from headrace.errors import ConfigError, RetriableError
from headrace.spark import failure, formats
from headrace.values.times import now_ms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)
# DeltaConcurrentModificationException and its subclasses. The last two: two tasks that create the table, or one that adds a
# column.
_CONFLICT = re.compile(r"io\.delta\.exceptions\.(Concurrent|DeltaConcurrent|MetadataChanged|ProtocolChanged)")


class DeltaTask(SparkSinkTask):
    """One commit for each batch, or, by key, one merge."""

    def write(self, batch: SinkBatch, records: DataFrame, options: Mapping[str, str]) -> None:
        """Commit what the table does not have. Raises RetriableError if another commit came in between."""
        if not formats.exists(batch.spark, "delta"):
            raise formats.unknown("delta", formats.available_formats(batch.spark))
        try:
            if self._config.merges:
                merge(records, self._config, options)
            else:
                self._append(batch, records, options)
        except Exception as error:
            if any(is_conflict(cause.java_class) for cause in failure.causes(error)):
                raise RetriableError(f"Another commit to the table {formats.option(options, 'path')} came in between.") from error
            raise

    def _append(self, batch: SinkBatch, records: DataFrame, options: Mapping[str, str]) -> None:
        commit = Commit(records.sparkSession, options)
        names = {tp: f"headrace/{self.context.connector}/{tp[0]}/{tp[1]}" for tp in batch.offsets}
        ends = {tp: end for tp, name in names.items() if (end := commit.version(name)) >= 0}
        self._warn_of_written(batch, ends)
        new = {tp: last for tp, (first, last) in batch.offsets.items() if last > max(first, ends.get(tp, -1))}
        if not new:
            return
        left = replace(batch, frame=records).beyond(ends)
        commit.append(rows(left, self._config), self._config.partition_by, {names[tp]: last for tp, last in new.items()})

    def _warn_of_written(self, batch: SinkBatch, ends: Mapping[TopicPartition, int]) -> None:
        for (topic, partition), end in ends.items():
            first, last = batch.offsets[topic, partition]
            if first < end:
                log.warning("delta.written-before", topic=topic, partition=partition, first=first, last=min(end, last) - 1,
                            hint="the table has them; was the topic recreated, give the connector another name")  # fmt: skip


def is_conflict(java_class: str) -> bool:
    """Whether this is the class of a Delta exception for a commit that another one was faster than."""
    return _CONFLICT.match(java_class) is not None


class Commit:
    """One optimistic transaction on a table."""

    def __init__(self, spark: Any, options: Mapping[str, str]) -> None:
        """options: `path`, and what Delta's writer takes. Raises ConfigError without a path."""
        path = formats.option(options, "path")
        if not path:
            raise ConfigError.missing("option.path")
        self._jvm, self._session = spark._jvm, spark._jsparkSession
        self._delta = self._jvm.org.apache.spark.sql.delta
        self._none = self._jvm.scala.Option.empty()
        self._options = {k: v for k, v in options.items() if k.lower() != "path"}
        self._log = self._delta.DeltaLog.forTable(self._session, path)
        self._transaction = self._log.startTransaction(self._none, self._none)

    def version(self, name: str) -> int:
        """The version of a `txn` action, -1 if the table has none; its change by another commit makes this one fail."""
        return self._transaction.txnVersion(name)

    def append(self, frame: DataFrame, partition_by: list[str], versions: Mapping[str, int]) -> None:
        """Write the files of a frame, and commit them with these versions. Raises Py4JJavaError."""
        scala, none = self._jvm.PythonUtils, self._none
        options = self._delta.DeltaOptions(scala.toScalaMap(self._options), self._session.sessionState().conf())
        mode = self._jvm.org.apache.spark.sql.SaveMode.Append
        table = (self._log, mode, options, scala.toSeq(partition_by), scala.toScalaMap({}), frame._jdf, none, none, False)
        written = self._delta.commands.WriteIntoDelta(*table).write(self._transaction, self._session, none, False)
        actions = self._jvm.java.util.ArrayList(self._jvm.scala.jdk.javaapi.CollectionConverters.asJava(written))
        now = self._jvm.scala.Option.apply(now_ms())
        for name, version in versions.items():
            actions.add(self._delta.actions.SetTransaction(name, version, now))
        operation = self._delta.DeltaOperations.Write(mode, *[none] * 8)
        self._transaction.commit(scala.toSeq(actions), operation)
