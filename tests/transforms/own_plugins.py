"""Plugins as a user would write them, for test_python_plugins.py."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from headrace.config import Type, option
from headrace.plugin_metrics import PluginMetrics
from headrace.predicates import ColumnPredicate
from headrace.transforms import ArrowTransform, Columns, ColumnTransform


class Routed(ColumnTransform):
    """Appends a field of the value to the topic, and puts the key into a header."""

    field: str = option("field", Type.STRING, doc="The field.")

    def apply(self, record: Columns) -> Columns:
        field = F.variant_get(record.value, f"$.{self.field}", "int").cast("string")
        header = F.create_map(F.lit("key"), record.key)
        return replace(record, topic=F.concat(record.topic, F.lit("-"), field), headers=header)


class Unchanged(ColumnTransform):
    def apply(self, record: Columns) -> Columns:
        return record


class Forgetful(ColumnTransform):
    def apply(self, record: Columns) -> Columns:
        return None  # type: ignore[return-value]


class Offset(ColumnTransform):
    def apply(self, record: Columns) -> Columns:
        return replace(record, offset=F.lit(1))


class Large(ColumnPredicate):
    def test(self, record: Columns) -> Column:
        return F.try_variant_get(record.value, "$.n", "int") > 100


class NoCondition(ColumnPredicate):
    def test(self, record: Columns) -> Column:
        return record.topic


class Doubled(ArrowTransform):
    """Doubles `n`; raises for a value that has none."""

    def apply(self, values: pa.Array) -> pa.Array:
        def one(text: str | None) -> str | None:
            return None if text is None else json.dumps({"n": json.loads(text)["n"] * 2})

        return pa.array([one(text) for text in values.to_pylist()], pa.string())


class Counted(ArrowTransform):
    """Counts the values that it sees in Spark's Python processes."""

    def with_plugin_metrics(self, metrics: PluginMetrics) -> None:
        self._seen = metrics.counter("seen")

    def apply(self, values: pa.Array) -> pa.Array:
        self._seen.add(len(values))
        return values


class Broken(ArrowTransform):
    def apply(self, values: pa.Array) -> pa.Array:
        return pa.array(["{"] * len(values), pa.string())


class Neither:
    """No plugin."""
