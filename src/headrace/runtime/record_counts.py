"""Counts a batch's records in the pass that moves them (`Count.java`): no job of its own, no record in Python.

A record counts once, however often the batch is looked at, and once its Spark task has succeeded: what is counted is what was
delivered.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from headrace.runtime.metrics.events import Batch
from headrace.runtime.tolerance import Tolerance
from headrace.values.scope import count_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class RecordCounts:
    """Counters at both ends of one chain, for one batch after the other."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        self._read, self._written = context._jvm.io.headrace.Count(), context._jvm.io.headrace.Count()
        context._jsc.sc().register(self._read, "headrace.read")
        context._jsc.sc().register(self._written, "headrace.written")
        self._begun = 0.0

    def reading(self, frame: DataFrame) -> DataFrame:
        """The frame, each of whose records counts as read when it passes."""
        return count_rows(frame, self._read.id())

    def writing(self, frame: DataFrame) -> DataFrame:
        """The frame, each of whose records counts as written, dead letters too."""
        return count_rows(frame, self._written.id())

    def begin(self) -> None:
        """A batch begins."""
        self._read.reset()
        self._written.reset()
        self._begun = time.monotonic()

    def batch(self, failed: int, tolerance: Tolerance, letters_written: bool) -> Batch:
        """What has become of the batch, once it is written, or could not be.

        failed: records that failed in the chain; letters_written: whether dead letters are among what counted as written.
        """
        letters = failed if tolerance.dead_letters and (tolerance.all or not letters_written) else 0
        return Batch(
            read=self._read.value(),
            written=self._written.value() - (letters if letters_written else 0),
            took_ms=(time.monotonic() - self._begun) * 1000,
            failed=failed,
            skipped=failed if tolerance.all else 0,
            logged=failed if tolerance.log else 0,
            letters=letters,
        )
