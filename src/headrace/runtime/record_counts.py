"""Counts a batch's records in the job that delivers them (`Count.java`), without records in Python.

A record counts once, however often the batch is read, when its Spark task succeeds: only delivered records count.
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
    """Counters before and after a chain, for one batch at a time."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        self._read, self._written = context._jvm.io.headrace.Count(), context._jvm.io.headrace.Count()
        context._jsc.sc().register(self._read, "headrace.read")
        context._jsc.sc().register(self._written, "headrace.written")
        self._begun = 0.0

    def reading(self, frame: DataFrame) -> DataFrame:
        """The frame; its records are counted as read."""
        return count_rows(frame, self._read.id())

    def writing(self, frame: DataFrame) -> DataFrame:
        """The frame; its records, also dead letters, are counted as written."""
        return count_rows(frame, self._written.id())

    def begin(self) -> None:
        """Reset the counters for a new batch."""
        self._read.reset()
        self._written.reset()
        self._begun = time.monotonic()

    def batch(self, failed: int, tolerance: Tolerance, letters_written: bool, unnamed: int = 0) -> Batch:
        """The metrics event of the batch, once it is written or has failed.

        failed: records that failed in the chain; letters_written: whether the written count includes dead letters; unnamed: how
        many of the failed records are not logged by themselves.
        """
        letters = failed if tolerance.dead_letters and (tolerance.all or not letters_written) else 0
        return Batch(
            read=self._read.value(),
            written=self._written.value() - (letters if letters_written else 0),
            took_ms=(time.monotonic() - self._begun) * 1000,
            failed=failed,
            skipped=failed if tolerance.all else 0,
            logged=failed - unnamed if tolerance.log else 0,
            letters=letters,
        )
