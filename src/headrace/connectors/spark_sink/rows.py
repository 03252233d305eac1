"""The records of a batch as rows of a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.connectors.spark_sink.columns import OWN_FIELDS
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
    names = [f.name for f in type_.fields if f.name != OWN_FIELDS] if isinstance(type_, StructType) else []
    return {name: records[part].getField(name) for name in names}


def has_own_fields(records: DataFrame) -> bool:
    """Whether each record says which fields its schema has, as not all of them have the same."""
    return OWN_FIELDS in getattr(records.schema["value"].dataType, "names", ())


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


@dataclass(frozen=True)
class KeyedColumns:
    """The columns of a batch's rows."""

    columns: Mapping[str, Column]
    """By name."""
    keys: Sequence[str]
    """The names of the columns that identify a row."""
    sets: Sequence[Collection[str]]
    """The columns of the records of each schema in the batch, if they are not the same. A column that the schema of a record does
    not have is not to be changed: NULL would take the place of what another record, or somebody else, has written there.
    """
    number: Column
    """Which of `sets` a record has."""


def keyed_columns(records: DataFrame, config: SparkSinkConfig) -> KeyedColumns:
    """The columns by name, and which of them are the key, by `pk.mode`. Raises ConfigError for fields that are not there.

    Where rows are found by their key, a record whose key is NULL fails the job: all of these would be taken for one row, which no
    later record finds.
    """
    field_lists = _field_lists(records)
    values = value_columns(records)
    if field_lists:  # a field that only records before this batch have is no column of it
        values = {name: column for name, column in values.items() if any(name in fields for fields in field_lists)}
    columns, keys = _keyed_columns(records, config, values)
    fixed = {*keys, *metadata_columns(config)}
    if config.insert_mode != "insert" or config.deletes:
        columns |= {name: _required(records, name, columns[name]) for name in keys}
    sets = [{name for name in columns if name in fixed or name in fields} for fields in field_lists]
    number = F.lit(0)
    for place, fields in enumerate(field_lists):
        number = F.when(records["value"].getField(OWN_FIELDS) == F.array(*map(F.lit, fields)), place).otherwise(number)
    return KeyedColumns(columns, keys, sets if len(sets) > 1 else [], number)


def _field_lists(records: DataFrame) -> list[list[str]]:
    """The fields of the schemas of these records, where the task knows schemas with others."""
    if not has_own_fields(records):
        return []
    own = records["value"].getField(OWN_FIELDS).alias("own")
    return [row["own"] for row in records.where(records["value"].isNotNull()).select(own).distinct().orderBy("own").collect()]


def _required(records: DataFrame, name: str, column: Column) -> Column:
    place = F.concat_ws("-", records["original_topic"], records["original_partition"])
    why = F.concat(F.lit(f"The column {name} of the key is NULL in the record at "), place, F.lit(", offset "), records["offset"])
    return F.coalesce(column, F.raise_error(why))


def _keyed_columns(
    records: DataFrame, config: SparkSinkConfig, values: Mapping[str, Column]
) -> tuple[dict[str, Column], list[str]]:
    value = {**values, **metadata_columns(config)}
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
        return value, _require_fields(config.pk_fields or list(values), value, "value")
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
