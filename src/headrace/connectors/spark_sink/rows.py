"""The records of a batch as rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.connectors.spark_sink.config import SparkSinkConfig
from headrace.values.sql import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def rows(records: DataFrame, config: SparkSinkConfig) -> DataFrame:
    """The columns of the value and of `metadata.columns`; records without value are left out."""
    columns = {**value_columns(records), **metadata_columns(config)}
    return records.where(records["value"].isNotNull()).select(*(column.alias(name) for name, column in columns.items()))


def value_columns(records: DataFrame) -> dict[str, Column]:
    """The fields of values that are structs, else one column `value`."""
    return part_columns(records, "value") or {"value": records["value"]}


def part_columns(records: DataFrame, part: str) -> dict[str, Column]:
    """The fields of keys or values (part) that are structs; none for others."""
    from pyspark.sql.types import StructType

    type_ = records.schema[part].dataType
    return {f.name: records[part].getField(f.name) for f in type_.fields} if isinstance(type_, StructType) else {}


def metadata_columns(config: SparkSinkConfig) -> dict[str, Column]:
    """`metadata.columns` by their names in the table."""
    from pyspark.sql import functions as F

    places = {
        "topic": F.col("original_topic"),
        "partition": F.col("original_partition"),
        "offset": F.col("offset"),
        "timestamp": F.timestamp_millis("timestamp"),
        "key": F.col(quoted("key")),
    }
    return {config.metadata_prefix + name: places[name] for name in config.metadata_columns}
