"""Delta Lake by key: the last record of each key in a batch changes, adds or deletes its row.

A batch that comes again, also a longer one, leads to the same table, so offsets need not stand in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace.connectors.spark_sink.config import SparkSinkConfig
from headrace.connectors.spark_sink.rows import deletes_only, keyed_columns
from headrace.errors import ConfigError
from headrace.spark import formats
from headrace.sql_functions import F, Window
from headrace.values.sql import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_DELETED, _RANK = "headrace_deleted", "headrace_rank"


def merge(records: DataFrame, config: SparkSinkConfig, options: Mapping[str, str]) -> None:
    """One merge; the first records with a value create the table. `option.mergeSchema=true` adds columns that are new.

    Raises ConfigError without a path, or for a key that the records do not have.
    """
    path = formats.option(options, "path")
    if not path:
        raise ConfigError.missing("option.path")
    spark: Any = records.sparkSession
    tables = spark._jvm.io.delta.tables.DeltaTable
    exists = tables.isDeltaTable(spark._jsparkSession, path)
    if not exists and deletes_only(records, config):
        return
    columns, keys = keyed_columns(records, config)
    if not exists:
        _create(records.select(*(c.alias(n) for n, c in columns.items())).limit(0), path, config)
    table = tables.forPath(spark._jsparkSession, path)
    same = " AND ".join(f"t.{quoted(key)} = s.{quoted(key)}" for key in keys)
    last: Any = _last(records, columns, keys, config)
    merging = table.alias("t").merge(last._jdf.alias("s"), same)
    if any(name.lower() == "mergeschema" and value.lower() == "true" for name, value in options.items()):
        merging = merging.withSchemaEvolution()
    values = spark._jvm.java.util.HashMap({quoted(name): f"s.{quoted(name)}" for name in columns})
    merging = merging.whenMatched(f"s.{_DELETED}").delete().whenMatched().updateExpr(values)
    merging.whenNotMatched(f"NOT s.{_DELETED}").insertExpr(values).execute()


def _create(empty: DataFrame, path: str, config: SparkSinkConfig) -> None:
    writer = empty.write.format("delta").mode("ignore")
    (writer.partitionBy(*config.partition_by) if config.partition_by else writer).save(path)


def _last(records: DataFrame, columns: Mapping[str, Any], keys: list[str], config: SparkSinkConfig) -> DataFrame:
    """The last record of each key; those without value are deletes, or left out."""
    deleted = records["value"].isNull()
    remaining = records if config.delete_enabled else records.where(~deleted)
    order = Window.partitionBy(*(columns[key] for key in keys)).orderBy(F.desc("offset"), F.desc("original_partition"))
    rank = F.row_number().over(order)
    named = [*(column.alias(name) for name, column in columns.items()), deleted.alias(_DELETED), rank.alias(_RANK)]
    return remaining.select(*named).where(f"{_RANK} = 1").drop(_RANK)
