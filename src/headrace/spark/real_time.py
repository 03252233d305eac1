"""Spark's real-time mode: a query whose tasks read and write without a pause for a whole batch.

What ends a batch is time alone. Spark reports its offsets then; until then, `Marks` says how far it has come.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.spark.kafka import abort, sink_options
from headrace.spark.marks import Durable, Marks
from headrace.spark.topic_writer import PRODUCER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHORTEST_MS, LONGEST_MS = 5000, 300_000
"""The shortest batch that Spark allows (`spark.sql.streaming.realTimeMode.minBatchDuration`), and the one that is taken where
nobody has to wait for its end. Between two batches nothing is read, for some tenths of a second.
"""


class Slots:
    """The task slots that real-time queries of this process hold, each for as long as it runs. Thread-safe."""

    def __init__(self) -> None:
        self._lock, self._held = threading.Lock(), 0

    @contextmanager
    def hold(self, wanted: int, most: int) -> Iterator[bool]:
        """Hold so many slots; gives whether they can be had, so that no more than `most` are held in all."""
        with self._lock:
            fits = self._held + wanted <= most
            self._held += wanted if fits else 0
        try:
            yield fits
        finally:
            with self._lock:
                self._held -= wanted if fits else 0


SLOTS = Slots()


def most(spark: SparkSession, mode: str) -> int:
    """How many task slots of the session real-time queries may hold, by `stream.mode`: who asks for it leaves one to everybody
    else; `auto` leaves as many as this machine has cores, as most of what holds a slot waits.
    """
    slots = spark.sparkContext.defaultParallelism
    return slots - 1 if mode == "realtime" else max(0, slots - (os.cpu_count() or 1))


class RealTimeQuery:
    """A query that writes `producer_columns` to Kafka, and the producer that it alone has."""

    def __init__(self, frame: DataFrame, producer: Mapping[str, str], marks: Marks, scratch: Path, report_ms: int) -> None:
        """Start it. producer: Java producer settings; marks: those that the frame's records leave; scratch: for its checkpoint;
        report_ms: how often its offsets are wanted.

        Raises what Spark raises.
        """
        if producer.get("linger.ms") == PRODUCER["linger.ms"]:  # nobody has asked for it: here each record is on its own
            producer = {**producer, "linger.ms": "0"}
        self._spark, self._marks = frame.sparkSession, marks
        self._options = sink_options(marks.producer(producer))
        writer: Any = (
            frame.writeStream.format("kafka").options(**self._options).queryName(marks.run)
        )  # its types know no realTime
        writer = writer.outputMode("update").option("checkpointLocation", str(scratch))
        batch_ms = max(LONGEST_MS, report_ms) if marks.kept else report_ms
        self.query: Any = writer.trigger(realTime=f"{batch_ms} milliseconds").start()

    def durable(self) -> Durable | None:
        """How far it has come within its batch; None if that is not known."""
        return self._marks.durable(self._options) if self._marks.kept else None

    def end(self) -> None:
        """Read no more; what was read is written on. Raises what Spark raises if that takes too long."""
        self.query.stop()

    def stop(self) -> None:
        """End the query, and drop what waits in its producer: it is to be written again, and must not come twice in disorder."""
        try:
            self.end()
        finally:
            abort(self._spark, self._options)
