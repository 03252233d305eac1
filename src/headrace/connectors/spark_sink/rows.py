"""The records of a batch as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headrace.connectors.spark_sink.config import SparkSinkConfig
from headrace.errors import ConfigError
from headrace.sql_functions import F
from headrace.values.sql import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_KAFKA = ("__connect_topic", "__connect_partition", "__connect_offset")


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
    places = {
        "topic": F.col("original_topic"),
        "partition": F.col("original_partition"),
        "offset": F.col("offset"),
        "timestamp": F.timestamp_millis("timestamp"),
        "key": F.col(quoted("key")),
    }
    return {config.metadata_prefix + name: places[name] for name in config.metadata_columns}


def deletes_only(records: DataFrame, config: SparkSinkConfig) -> bool:
    """Whether there are only records without value, and they delete: they have no columns for a table that is made."""
    return config.delete_enabled and records.where(records["value"].isNotNull()).isEmpty()


def keyed_columns(records: DataFrame, config: SparkSinkConfig) -> tuple[dict[str, Column], list[str]]:
    """The columns by name, and which of them are the key, by `pk.mode`. Raises ConfigError for fields that are not there.

    Where rows are found by their key, a record whose key is NULL fails the job: all of these would be taken for one row, which no
    later record finds.
    """
    columns, keys = _keyed_columns(records, config)
    if config.insert_mode == "insert" and not config.deletes:
        return columns, keys
    return columns | {name: _required(records, name, columns[name]) for name in keys}, keys


def _required(records: DataFrame, name: str, column: Column) -> Column:
    place = F.concat_ws("-", records["original_topic"], records["original_partition"])
    why = F.concat(F.lit(f"The column {name} of the key is NULL in the record at "), place, F.lit(", offset "), records["offset"])
    return F.coalesce(column, F.raise_error(why))


def _keyed_columns(records: DataFrame, config: SparkSinkConfig) -> tuple[dict[str, Column], list[str]]:
    value = {**value_columns(records), **metadata_columns(config)}
    if config.pk_mode == "kafka":
        names = config.pk_fields or list(_KAFKA)
        places = ("original_topic", "original_partition", "offset")
        return {**value, **{n: records[p] for n, p in zip(names, places, strict=True)}}, names
    if config.pk_mode == "record_key":
        if not part_columns(records, "value") and deletes_only(records, config):
            value = metadata_columns(config)  # the column `value` is in no table
        key = _key(records, config)
        return {**key, **{n: c for n, c in value.items() if n not in key}}, list(key)
    if config.pk_mode == "record_value":
        return value, _require_fields(config.pk_fields or list(value_columns(records)), value, "value")
    return value, []


def _key(records: DataFrame, config: SparkSinkConfig) -> dict[str, Column]:
    fields, names = part_columns(records, "key"), config.pk_fields
    if fields:
        return {name: fields[name] for name in _require_fields(names or list(fields), fields, "key")}
    if len(names) != 1:
        raise ConfigError.invalid("pk.fields", ",".join(names), "The keys are no structs: it has to be the name of one column")
    return {names[0]: records["key"]}


def _require_fields(names: list[str], fields: Mapping[str, Column], part: str) -> list[str]:
    for name in names:
        if name not in fields:
            why = f"The {part} of the records has no field {name}; it has {', '.join(fields)}"
            raise ConfigError.invalid("pk.fields", ",".join(names), why)
    return names
