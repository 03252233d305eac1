"""Transformers of a table's values (`KTable.transform_values`): Python objects with stores, like processors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.record import HEADERS_TYPE
from headrace.sql_functions import F
from headrace.streams.engine.columns import kind_of, null
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import Changes, Records
from headrace.streams.engine.operators import processors, tables
from headrace.streams.engine.operators.processors import Processing, ProcessorStores
from headrace.streams.operations import TableTransformValues, UserProcessor


def transform(context: Context, node: str, operation: TableTransformValues, changes: Changes, stores: ProcessorStores) -> Changes:
    """Each change with the value that the transformer returns for key and value, including deletions.

    Each result is computed once, so old values are known only of a materialized table.
    """
    frame = changes.frame if changes.puts is None else changes.puts
    headers = F.lit(None).cast(HEADERS_TYPE).alias("h")
    records = Records(frame.select("p", "k", F.col("new").alias("v"), "t", "o", headers), ordered=False)
    processor = UserProcessor(_TransformerSupplier(operation.supplier), keeps_key=True)
    processing = Processing(node, processor, records, stores=frozenset({*stores.own, *stores.read}))
    results = processors.process(context, [processing], stores)[0].records.frame
    nothing = null(kind_of(results, "v")).alias("old")
    transformed = Changes(results.select("p", "k", nothing, F.col("v").alias("new"), "t", "o"), has_old=False)
    return transformed if operation.store is None else tables.materialize(context, operation.store, transformed)


@dataclass(frozen=True)
class _TransformerSupplier:
    """Supplies processors that forward what a transformer returns."""

    supplier: Any

    @property
    def value_serde(self) -> Any:
        """The serde of the transformer's results, None for that of its input."""
        return getattr(self.supplier, "value_serde", None)

    def __call__(self) -> _Transforming:
        return _Transforming(self.supplier())


class _Transforming:
    def __init__(self, transformer: Any) -> None:
        self._transformer = transformer

    def init(self, context: Any) -> None:
        self._context = context
        if hasattr(self._transformer, "init"):
            self._transformer.init(context)

    def process(self, record: Any) -> None:
        self._context.forward(record.with_value(self._transformer.transform(record.key, record.value)))

    def close(self) -> None:
        if hasattr(self._transformer, "close"):
            self._transformer.close()
