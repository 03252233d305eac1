"""What comes by in a batch, by source partition, in the pass that moves it (`Seen.java`): no job, no record in Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.kafka.groups import Partition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BYTES = "coalesce(octet_length(key), 0) + coalesce(octet_length(value), 0)"
MILLIS = "coalesce(unix_millis(timestamp), 0L)"
"""Of a record of Spark's Kafka source: the size of key and value, and the timestamp in epoch ms."""


@dataclass(frozen=True)
class Passed:
    """Records of one partition. bytes: of keys and values; oldest_ms, newest_ms, sum_ms: their timestamps, epoch ms."""

    records: int
    bytes: int
    oldest_ms: int
    newest_ms: int
    sum_ms: int


class Seen:
    """Gathers batch after batch of one stream."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        self._gathered = context._jvm.io.headrace.Seen()
        context._jsc.sc().register(self._gathered, "headrace.seen")

    def of(self, frame: DataFrame) -> DataFrame:
        """The frame (columns of Spark's Kafka source), each of whose records is taken note of when it comes by."""
        return frame.where(f"headrace_seen({self._gathered.id()}L, topic, partition, {MILLIS}, {BYTES})")

    def begin(self) -> None:
        """A batch begins."""
        self._gathered.reset()

    def batch(self) -> dict[Partition, Passed]:
        """What has come by since then."""
        lines = (line.split("\t") for line in self._gathered.value().splitlines())
        return {(topic, int(partition)): Passed(*map(int, numbers)) for topic, partition, *numbers in lines}
