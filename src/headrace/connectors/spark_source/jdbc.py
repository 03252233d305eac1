"""Rows of a database as they come: after the stored offset, in the order of the columns by which the table grows.

Each poll asks for the position of the last row of the batch first, and then reads everything up to it, so that a batch is the
same however often it is read. Names and meaning of the options are those of Confluent's JDBC source connector.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import structlog

from headrace.connectors.base import Poll, PollingSourceTask, Progress, Props, SourcePartition, StoredOffsets
from headrace.connectors.spark_source.config import SparkSourceConfig
from headrace.connectors.spark_source.jdbc_position import Growth, JdbcPosition
from headrace.connectors.spark_source.reading import DataSource
from headrace.spark.jdbc import Database
from headrace.sql_functions import F
from headrace.values.times import now_ms

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

_TIME, _NUMBER, _NAME = "headrace_time", "headrace_number", "headrace"


class JdbcTask(PollingSourceTask):
    """Source partition: `{"table": <table or query>}`; source offset: see `JdbcPosition.of`; in mode `bulk` there is none."""

    def start(self, props: Props) -> None:
        """Take the configuration. Raises ConfigError."""
        self._config = config = SparkSourceConfig(props)
        self._reading = DataSource(config)
        self.poll_interval_s = config.poll_interval_ms / 1000
        options = {name.lower(): value for name, value in config.options.items()}
        self._table = options["dbtable"] if "dbtable" in options else f"({options['query']}) {_NAME}_query"
        self._partition = {"table": options.get("dbtable") or options["query"]}
        self._next_bulk = 0.0
        self._database: Database | None = None
        self._looked_for_nulls = False
        self._began_ms = now_ms()

    def partitions(self) -> list[SourcePartition]:
        """The table, or the query."""
        return [self._partition]

    def poll(self, spark: SparkSession, stored: StoredOffsets) -> Poll | None:
        """The rows after the stored offset, `batch.max.rows` at most; None if there are none."""
        with self._reading.explained():
            self._database = database = self._database or Database(spark, self._config.options)
            if self._config.mode == "bulk":
                return self._bulk(database)
            growth = self._growth(database)
            self._warn_of_nulls(database, growth)
            offset = stored.get(self._partition)
            begin = JdbcPosition.of(offset) if offset else self._initial()
            end = self._end(database, growth, begin)
            return None if end is None else self._rows(database, growth, begin, end)

    def _growth(self, database: Database) -> Growth:
        config, mode = self._config, self._config.mode or ""
        times = config.timestamp_columns
        time_ = (times[0] if len(times) == 1 else f"COALESCE({', '.join(times)})") if "timestamp" in mode else None
        return Growth(time_, config.incrementing_column if "incrementing" in mode else None, database.timestamp)

    def _initial(self) -> JdbcPosition:
        ms = self._config.timestamp_initial
        if ms is None or "timestamp" not in (self._config.mode or ""):
            return JdbcPosition()
        return JdbcPosition(time=(self._began_ms if ms == -1 else ms) * 1000)

    def _end(self, database: Database, growth: Growth, begin: JdbcPosition) -> JdbcPosition | None:
        """The position of the last row of the batch that begins after `begin`; None if there is no row."""
        condition = growth.after(begin)
        if growth.time is not None:
            condition += f" AND {growth.time} < {self._latest(database)}"
        named = {_TIME: growth.time, _NUMBER: growth.number}
        columns = {name: sql for name, sql in named.items() if sql is not None}
        chosen = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
        inner = f"(SELECT {chosen} FROM {self._table} WHERE {condition}) {_NAME}"
        first = database.table(f"({database.first(inner, list(columns), self._config.batch_max_rows)}) {_NAME}")
        values = {_TIME: F.unix_micros(F.col(_TIME).cast("timestamp")), _NUMBER: F.col(_NUMBER).cast("bigint")}
        row: Any = first.agg(F.max(F.struct(*(values[name].alias(name) for name in columns))).alias("last")).first()
        last = row["last"]
        if last is None:
            return None
        return begin.to(JdbcPosition(*(last[n] if n in columns else None for n in (_TIME, _NUMBER))))

    def _latest(self, database: Database) -> str:
        """The SQL text of the time that rows have to be before."""
        delay = self._config.timestamp_delay_ms
        if not delay:
            return "CURRENT_TIMESTAMP"
        row: Any = database.table(f"(SELECT CURRENT_TIMESTAMP AS {_TIME}) {_NAME}").selectExpr(f"unix_micros({_TIME})").first()
        return database.timestamp(row[0] - delay * 1000)

    def _rows(self, database: Database, growth: Growth, begin: JdbcPosition, end: JdbcPosition) -> Poll:
        order = [f"{_NAME}_{i}" for i in range(len(growth.columns))]  # left out of the record, as all of this prefix
        chosen = ", ".join(["h.*", *(f"{sql} AS {name}" for sql, name in zip(growth.columns, order, strict=True))])
        condition = f"{growth.after(begin)} AND {growth.until(end)}"
        frame = database.table(f"(SELECT {chosen} FROM (SELECT * FROM {self._table}) h WHERE {condition}) {_NAME}")
        origin = {name: frame[column] for name, column in zip(growth.columns, order, strict=True)}
        summary = f"{self._partition['table']} to {end.offset}"
        return self._reading.poll(frame.sortWithinPartitions(*order), origin, [(self._partition, end.offset)], summary)

    def _bulk(self, database: Database) -> Poll | None:
        if time.monotonic() < self._next_bulk:
            return None
        return self._reading.poll(database.table(self._table), {}, [], f"everything in {self._partition['table']}")

    def committed(self, progress: Progress) -> None:
        """In mode `bulk`, wait from now on."""
        self._next_bulk = time.monotonic() + self.poll_interval_s

    def _warn_of_nulls(self, database: Database, growth: Growth) -> None:
        """Say it once if there are rows that will never be read."""
        if self._looked_for_nulls:
            return
        null = " OR ".join(f"{c} IS NULL" for c in growth.columns)
        row: Any = database.table(f"(SELECT COUNT(*) AS n FROM {self._table} WHERE {null}) {_NAME}").first()
        self._looked_for_nulls = True
        if row[0]:
            log.warning("jdbc.rows.null", table=self._partition["table"], columns=growth.columns, rows=int(row[0]),
                        hint="rows where these are NULL are not read")  # fmt: skip
