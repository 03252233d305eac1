"""Tasks of SparkSink, given batches by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace.connectors.base import TaskContext
from headrace.connectors.sink import SinkBatch
from headrace.connectors.spark_sink.connector import SparkSinkConnector
from headrace.connectors.spark_sink.task import SparkSinkTask

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SCHEMA = (
    "topic string, partition int, offset bigint, timestamp bigint, key {key}, value {value}, "
    "headers array<struct<key:string,value:binary>>, original_topic string, original_partition int"
)
Record = tuple[int, Any, Any]
"""partition, key, value"""


class Topic:
    """The records of a topic `t`, as batches of a task would have them. key, value: their Spark types."""

    def __init__(self, spark: SparkSession, key: str, value: str) -> None:
        self._spark, self._schema = spark, _SCHEMA.format(key=key, value=value)
        self._partitions: dict[int, list[Any]] = {}

    def add(self, records: Sequence[Record]) -> None:
        for partition, key, value in records:
            log = self._partitions.setdefault(partition, [])
            log.append(("t", partition, len(log), 1_000_000 + len(log), key, value, [], "t", partition))

    def batch(self, ranges: Mapping[int, tuple[int, int]]) -> SinkBatch:
        """Offsets from the first to before the second, by partition."""
        rows = [row for p, (first, end) in ranges.items() for row in self._partitions[p][first:end]]
        frame = self._spark.createDataFrame(rows, self._schema)
        return SinkBatch(
            frame, 0, {("t", p): r for p, r in ranges.items()}, self._spark, frozenset({"t"}), {"t": len(self._partitions)}
        )


def task(props: Mapping[str, str], number: int = 0) -> SparkSinkTask:
    """A new task, as after a restart."""
    made = SparkSinkConnector.task_for(props)(TaskContext("c", number))
    made.start(props)
    return made
