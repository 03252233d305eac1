"""Databases: Spark's executors fill a stage table, and one transaction takes its rows to the table.

So a batch is there as a whole or not at all; with a key, a batch that comes again changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

import structlog

from headrace.connectors.base import TaskContext
from headrace.connectors.sink import SinkBatch
from headrace.connectors.spark_sink.jdbc_sql import DELETED, OFFSET, PARTITION, SET, Merge
from headrace.connectors.spark_sink.rows import KeyedColumns, deletes_only, keyed_columns
from headrace.connectors.spark_sink.task import SparkSinkTask
from headrace.errors import ConfigError
from headrace.spark.jdbc import Database
from headrace.sql_functions import F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)


class JdbcSinkTask(SparkSinkTask):
    """Inserts, upserts, updates and deletes by the options of Confluent's JDBC sink connector."""

    def write(self, batch: SinkBatch, records: DataFrame, options: Mapping[str, str]) -> None:
        """Stage the rows, then one transaction. Raises ConfigError for a table that does not have the columns."""
        lowered = {name.lower(): value for name, value in options.items()}
        database, table = Database(batch.spark, options), lowered["dbtable"]
        if self._config.insert_mode != "insert" and not database.url.startswith("jdbc:postgresql:"):
            raise ConfigError.invalid(
                "insert.mode", self._config.insert_mode, "It is built for PostgreSQL only; others take insert"
            )
        exists = self._exists(database, table)
        if not exists and deletes_only(records, self._config):
            return
        keyed = keyed_columns(records, self._config)
        staged = self._stage_columns(records, keyed)
        if not exists:
            self._create(database, table, staged.select(*keyed.columns), keyed.keys)
        names = self._names(database, table, keyed.columns)
        stage = stage_name(self.context, table)
        columns, keys = [names[c] for c in keyed.columns], [names[k] for k in keyed.keys]
        merge = Merge(table, stage, columns, keys, database.quoted, [{names[c] for c in some} for some in keyed.sets])
        with database.transaction() as transaction:
            transaction.execute(merge.create_stage())
        try:
            renamed = staged.withColumnsRenamed(names)
            renamed.write.format("jdbc").options(**database.options).option("dbtable", stage).mode("append").save()
            with database.transaction() as transaction:
                for statement in merge.statements(self._config.insert_mode, self._config.delete_enabled):
                    transaction.execute(statement)
        except BaseException:
            _drop(database, stage)
            raise

    def _stage_columns(self, records: DataFrame, keyed: KeyedColumns) -> DataFrame:
        deleted = records["value"].isNull()
        remaining = records if self._config.delete_enabled else records.where(~deleted)
        order = {PARTITION: records["original_partition"], OFFSET: records["offset"], DELETED: F.when(deleted, 1).otherwise(0)}
        columns = {**keyed.columns, **order, SET: keyed.number}
        return remaining.select(*(column.alias(name) for name, column in columns.items()))

    def _exists(self, database: Database, table: str) -> bool:
        """Whether the table is there. Raises ConfigError if it is not and may not be made."""
        with database.transaction() as transaction:
            exists = database.exists(transaction.connection, table)
        if not exists and not self._config.auto_create:
            raise ConfigError.invalid("option.dbtable", table, "There is no such table; make it, or set auto.create")
        return exists

    def _names(self, database: Database, table: str, columns: Iterable[str]) -> dict[str, str]:
        """The table's own names of the columns."""
        with database.transaction() as transaction:
            table_columns = transaction.columns(table)
        names = {}
        for name in columns:
            match = [c for c in table_columns if c == name] or [c for c in table_columns if c.lower() == name.lower()]
            if not match:
                why = f"The records have a column {name}, the table has {', '.join(table_columns)}"
                raise ConfigError.invalid("option.dbtable", table, why)
            names[name] = match[0]
        return names

    def _create(self, database: Database, table: str, empty: DataFrame, keys: Sequence[str]) -> None:
        """Make the table with its key, in one transaction: without the key, batches that come again would be there twice."""
        created = False
        try:
            with database.transaction() as transaction:
                database.create(transaction, table, empty)
                created = True
                if keys:
                    quoted = ", ".join(map(database.quoted, keys))
                    transaction.execute(f"ALTER TABLE {table} ADD PRIMARY KEY ({quoted})")
        except Exception:
            with database.transaction() as transaction:
                if created or not database.exists(transaction.connection, table):
                    raise
            # Another task has made it in between.


def stage_name(context: TaskContext, table: str) -> str:
    """The name of a stage table, another one for each batch.

    A task that was abandoned, and one of the same name in another Connect cluster, may write to the same table at this moment.
    With a stage in common one would take the other's rows, or none, and commit offsets of rows that it has not written.
    """
    prefix, _, _ = table.rpartition(".")
    digest = hashlib.sha256(f"{context.connector}/{table}".encode()).hexdigest()[:12]
    return f"{prefix}{'.' if prefix else ''}headrace_stage_{digest}_{context.task}_{uuid4().hex[:8]}"


def _drop(database: Database, stage: str) -> None:
    """Drop the stage of a batch that failed; what made it fail is reported, not this."""
    try:
        with database.transaction() as transaction:
            transaction.execute(f"DROP TABLE {stage}")
    except Exception as error:
        log.warning("jdbc.stage.left", table=stage, cause=str(error).partition("\n")[0], hint="drop it")
