"""Spark's real-time mode: a query whose tasks read and write without a pause for a whole batch of some seconds.

What ends a batch is time alone; its offsets are known, and everything of it is acknowledged, when Spark reports its progress.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.spark.kafka import abort, sink_options
from headrace.spark.topic_writer import PRODUCER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHORTEST_MS = 5000
"""The shortest batch that Spark allows (`spark.sql.streaming.realTimeMode.minBatchDuration`)."""
_KEPT = 1  # slots for everybody else


class Slots:
    """The task slots that real-time queries of this process hold, each for as long as it runs. Thread-safe."""

    def __init__(self) -> None:
        self._lock, self._held = threading.Lock(), 0

    @contextmanager
    def hold(self, wanted: int, spark: SparkSession) -> Iterator[bool]:
        """Hold so many slots of the session; gives whether they can be had."""
        with self._lock:
            fits = self._held + wanted <= most(spark)
            self._held += wanted if fits else 0
        try:
            yield fits
        finally:
            with self._lock:
                self._held -= wanted if fits else 0


SLOTS = Slots()


def most(spark: SparkSession) -> int:
    """How many task slots of the session real-time queries may hold."""
    return spark.sparkContext.defaultParallelism - _KEPT


class RealTimeQuery:
    """A query that writes `producer_columns` to Kafka, and the producer that it alone has."""

    def __init__(self, frame: DataFrame, producer: Mapping[str, str], name: str, scratch: Path, batch_ms: int) -> None:
        """Start it. producer: Java producer settings; scratch: for its checkpoint; batch_ms: how long a batch is.

        Raises what Spark raises.
        """
        if producer.get("linger.ms") == PRODUCER["linger.ms"]:  # nobody has asked for it: here each record is on its own
            producer = {**producer, "linger.ms": "0"}
        self._spark = frame.sparkSession
        self._options = {**sink_options(producer), "kafka.headrace.run": scratch.name}
        writer: Any = frame.writeStream.format("kafka").options(**self._options).queryName(name)  # its types know no realTime
        writer = writer.outputMode("update").option("checkpointLocation", str(scratch))
        self.query: Any = writer.trigger(realTime=f"{batch_ms} milliseconds").start()

    def stop(self) -> None:
        """End the query, and drop what waits in its producer: it is to be written again, and must not come twice in disorder."""
        try:
            self.query.stop()
        finally:
            abort(self._spark, self._options)
