"""The demo's data: all flights that left New York in 2013, and the weather there, hour by hour.

The two Parquet files beside this module hold the tables of the R package nycflights13, which are in the public domain (CC0):
docs/decisions/0020-libraries.md says how they were made.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from headrace.kafka.admin import Admin
from headrace.record import RecordColumns
from headrace.spark.kafka import producer_columns, write
from headrace.sql_functions import F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class DemoTable:
    """A table."""

    name: str
    """Of its topic, too."""
    key: str
    """The column that keys its records."""
    rows: int
    partitions: int
    """Of its topic."""


TABLES = (DemoTable("flights", "carrier", 336_776, 4), DemoTable("weather", "origin", 26_115, 1))


def load(spark: SparkSession, bootstrap: str, table: DemoTable) -> None:
    """Create the table's topic and write its rows as JSON records.

    Key: the key column as text; value: the row as a JSON object, empty fields left out; header `table`; timestamp: the hour of
    the observation, so in 2013 (the topic keeps its records for ever, or the broker would delete them at once).
    """
    frame = spark.read.parquet(str(files("headrace.demo") / f"{table.name}.parquet")).repartition(table.partitions)
    settings = {"retention.ms": "-1"}
    Admin({"bootstrap.servers": bootstrap}).create(table.name, table.partitions, 1, settings)
    write(frame.select(*producer_columns(_record(table, frame))), {"bootstrap.servers": bootstrap})


def _record(table: DemoTable, frame: DataFrame) -> RecordColumns:
    header = F.struct(F.lit("table").alias("key"), F.lit(table.name).cast("binary").alias("value"))
    return RecordColumns(
        topic=F.lit(table.name),
        key=frame[table.key].cast("binary"),
        value=F.to_json(F.struct("*")).cast("binary"),
        headers=F.array(header),
        timestamp=frame["time_hour"],
    )
