"""Delta Lake by key: the last record of each key in a batch changes, adds or deletes its row.

A batch that comes again, also a longer one, leads to the same table, so offsets need not stand in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace.connectors.spark_sink.config import SparkSinkConfig
from headrace.connectors.spark_sink.rows import KeyedColumns, deletes_only, keyed_columns
from headrace.errors import ConfigError
from headrace.spark import formats
from headrace.sql_functions import F, Window
from headrace.values.sql import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_DELETED, _RANK, _HAS = "headrace_deleted", "headrace_rank", "headrace_has_"


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
    keyed = keyed_columns(records, config)
    if not exists:
        _create(records.select(*(c.alias(n) for n, c in keyed.columns.items())).limit(0), path, config)
    table = tables.forPath(spark._jsparkSession, path)
    same = " AND ".join(f"t.{quoted(key)} = s.{quoted(key)}" for key in keyed.keys)
    some = [name for name in keyed.columns if any(name not in columns for columns in keyed.sets)]
    last: Any = _last(records, keyed, some, config)
    merging = table.alias("t").merge(last._jdf.alias("s"), same)
    if any(name.lower() == "mergeschema" and value.lower() == "true" for name, value in options.items()):
        merging = merging.withSchemaEvolution()
    values = {quoted(name): f"s.{quoted(name)}" for name in keyed.columns}
    to_map = spark._jvm.java.util.HashMap
    merging = merging.whenMatched(f"s.{_DELETED}").delete()
    # What is kept is in no expression: it would take the common type of source and table.
    flags = [_HAS + name for name in some]
    for row in last.where(f"NOT {_DELETED}").select(flags).distinct().collect() if some else [{}]:
        clause = merging.whenMatched(" AND ".join(f"s.{quoted(f)} = {str(row[f]).lower()}" for f in flags) or "true")
        kept = {quoted(name) for name in some if not row[_HAS + name]}
        merging = clause.updateExpr(to_map({name: value for name, value in values.items() if name not in kept}))
    merging.whenNotMatched(f"NOT s.{_DELETED}").insertExpr(to_map(values)).execute()


def _create(empty: DataFrame, path: str, config: SparkSinkConfig) -> None:
    writer = empty.write.format("delta").mode("ignore")
    (writer.partitionBy(*config.partition_by) if config.partition_by else writer).save(path)


def _last(records: DataFrame, keyed: KeyedColumns, some: Sequence[str], config: SparkSinkConfig) -> DataFrame:
    """The last record of each key; those without value are deletes, or left out.

    some: the columns that not all records have. They are those of the last record that has them, NULL behind a delete, and a
    further column says whether there is one.
    """
    deleted, columns, has = records["value"].isNull(), dict(keyed.columns), {}
    remaining = records if config.delete_enabled else records.where(~deleted)
    of_key = Window.partitionBy(*(columns[key] for key in keyed.keys))
    for name in some:
        having = deleted | keyed.number.isin([place for place, names in enumerate(keyed.sets) if name in names])
        so_far = of_key.orderBy("offset", "original_partition")
        latest = F.last(F.when(having, F.struct(columns[name].alias("value"))), ignorenulls=True).over(so_far)
        columns[name], has[_HAS + name] = latest.getField("value"), latest.isNotNull()
    rank = F.row_number().over(of_key.orderBy(F.desc("offset"), F.desc("original_partition")))
    columns |= {**has, _DELETED: deleted, _RANK: rank}
    return remaining.select(*(column.alias(name) for name, column in columns.items())).where(f"{_RANK} = 1").drop(_RANK)
