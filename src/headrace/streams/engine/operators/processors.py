"""Processors of the user's without stores: rows go through Spark's Python workers, those of a task in their order."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.streams.engine import formats
from headrace.streams.engine.columns import HEADERS, kind_of
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import Records
from headrace.streams.operations import UserProcessor
from headrace.streams.processors import ProcessorContext, Record

if TYPE_CHECKING:
    from pyspark.sql.types import DataType


def process(context: Context, node: str, operation: UserProcessor, records: Records) -> Records:
    """What a processor forwards. Computed once, because it may do more than forward."""
    from pyspark.sql.types import ArrayType, IntegerType, LongType, StructField, StructType

    frame = records.frame
    key = kind_of(frame, "k") if operation.keeps_key else _kind(operation.supplier, "key_serde", kind_of(frame, "k"))
    value = _kind(operation.supplier, "value_serde", kind_of(frame, "v"))
    headers = formats.parse(HEADERS)
    kinds = {"p": IntegerType(), "k": key, "v": value, "t": LongType(), "o": ArrayType(LongType()), "h": headers}
    schema = StructType([StructField(name, kind) for name, kind in kinds.items()])
    ordered = frame.select(*kinds).sortWithinPartitions("p", *records.order())
    rows = ordered.rdd.mapPartitions(_Rows(node, operation))
    return Records(context.cut(context.spark.createDataFrame(rows, schema)), records.depth + 1 if records.depth else 0)


class _Rows:
    """Runs in Spark's Python workers: the rows of a partition through a processor for each task."""

    def __init__(self, node: str, operation: UserProcessor) -> None:
        from pyspark import cloudpickle

        self._node, self._keeps_key = node, operation.keeps_key
        # As bytes, so that a worker can be told before where this process finds the modules that the supplier needs.
        self._supplier, self._paths = cloudpickle.dumps(operation.supplier), list(sys.path)

    def __call__(self, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        sys.path.extend(path for path in self._paths if path not in sys.path)
        supplier = pickle.loads(self._supplier)
        for partition, mine in groupby(rows, lambda row: row["p"]):
            yield from self._task(supplier(), partition, mine)

    def _task(self, processor: Any, partition: int, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        forwarded: list[Record] = []
        if hasattr(processor, "init"):
            processor.init(ProcessorContext(partition, forwarded.append))
        for row in rows:
            forwarded.clear()
            headers = tuple((name, bytes(value)) for name, value in row["h"] or ())
            processor.process(Record(row["k"], row["v"], row["t"], headers))
            for number, record in enumerate(forwarded):
                if self._keeps_key and record.key != row["k"]:
                    raise StreamsError(f"{self._node} may not change the key: take process for that.")
                yield partition, record.key, record.value, record.timestamp, [*row["o"], number], list(record.headers) or None
        if hasattr(processor, "close"):
            processor.close()


def _kind(supplier: Any, serde: str, given: DataType) -> DataType:
    found = getattr(supplier, serde, None)
    return given if found is None else formats.type_of(found)
