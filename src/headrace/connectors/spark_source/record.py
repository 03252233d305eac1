"""Connect records from the columns of a data source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headrace.connectors.spark_source.config import SparkSourceConfig
from headrace.errors import ConfigError
from headrace.record import RecordColumns
from headrace.sql_functions import F
from headrace.values.results import schema_of
from headrace.values.sql import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

OWN = "headrace_"
"""Prefix of columns that a task has added; they are not part of the records."""


def record(frame: DataFrame, config: SparkSourceConfig, origin: Mapping[str, Column]) -> RecordColumns:
    """The record that a row is. Raises ConfigError for columns that are not there, or that Connect has no type for."""
    topic = F.lit(config.topic) if config.topic else _expression(frame, config)
    names = config.value_columns or (["value"] if config.format.lower() == "text" else [])
    every = [name for name in frame.columns if not name.lower().startswith(OWN)]
    value, value_type = _part(frame, names or every, "value.columns", bare=len(names) == 1)
    key, key_type = F.lit(None).cast("binary"), "null"
    if config.key_columns:
        key, key_type = _part(frame, config.key_columns, "key.columns", bare=len(config.key_columns) == 1)
    return RecordColumns(topic=topic, key=key, value=value, key_kind=key_type, value_kind=value_type, origin=origin)


def destination(topic: str) -> str:
    """How the topic follows from the topic of the configuration: it is that one."""
    return topic


def _expression(frame: DataFrame, config: SparkSourceConfig) -> Column:
    from pyspark.errors import PySparkException

    column = F.expr(str(config.topic_expression)).cast("string")
    try:
        _ = frame.select(column).schema
    except PySparkException as error:
        why = str(error).splitlines()[0]
        raise ConfigError.invalid("topic.expression", config.topic_expression, why) from error
    return column


def _part(frame: DataFrame, names: Sequence[str], option: str, bare: bool) -> tuple[Column, DataType]:
    """One column, or a struct of them, and its type."""
    have = {name.lower(): name for name in frame.columns}
    missing = [name for name in names if name.lower() not in have]
    if missing:
        raise ConfigError.invalid(option, ",".join(names), f"There is no column {missing[0]} in {frame.columns}")
    columns = [plain(frame, have[name.lower()]) for name in names]
    column = columns[0] if bare else F.struct(*columns)
    type_ = frame.select(column.alias("part")).schema["part"].dataType
    schema_of(type_)  # raises for what Connect has no type for
    return column, type_


def plain(frame: DataFrame, name: str) -> Column:
    """A column in a type that Connect has: VARIANT as its JSON text, times without a zone in the session's, void as text."""
    from pyspark.sql.types import NullType, TimestampNTZType, VariantType

    column, type_ = F.col(quoted(name)), frame.schema[name].dataType
    if isinstance(type_, VariantType):
        column = F.to_json(column)
    elif isinstance(type_, TimestampNTZType):
        column = column.cast("timestamp")
    elif isinstance(type_, NullType):
        column = column.cast("string")
    try:
        schema_of(frame.select(column.alias(name)).schema[name].dataType)
    except ConfigError as error:
        kind = type_.simpleString().upper()
        raise ConfigError(
            f"The column {name} is {kind}, which Connect has no type for; leave it out by value.columns, or cast it in a query"
        ) from error
    return column.alias(name)
