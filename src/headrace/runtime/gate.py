"""Failed records, taken out of a batch in the pass that writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog

from headrace.runtime.tolerance import FailedRecord, Tolerance, report
from headrace.spark.kafka import ORIGIN
from headrace.values.scope import kept
from headrace.values.sql import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)


class Gate:
    """One batch without its failed records, or with them as dead letters.

    With tolerance none, the records of each of Spark's partitions end before the first one that failed, so that what precedes it,
    and nothing else of its partition, is written (`Gate.java`).
    """

    def __init__(self, frame: DataFrame, tolerance: Tolerance) -> None:
        """frame: with `failure` (`TaskChain.outgoing`)."""
        self._tolerance = tolerance
        context: Any = frame.sparkSession.sparkContext
        self._reports = context._jsc.sc().collectionAccumulator("headrace.failures")
        origin = [quoted(column) for column in frame.columns if column.startswith(ORIGIN)]
        passes = f"headrace_gate({report(origin, tolerance.messages)}, {str(not tolerance.all).lower()}, {self._reports.id()}L)"
        if tolerance.all and tolerance.dead_letters is not None:
            passes += " OR failure IS NOT NULL"  # it passes as a dead letter
        self.frame = kept(frame, passes).drop("failure")

    def failed(self) -> list[FailedRecord]:
        """The records that failed (at most a hundred of each Spark partition), in the order of their origin; once it is
        written.
        """
        found = [FailedRecord.parse(text) for text in self._reports.value()]
        found.sort(key=lambda record: [_number(value) for value in record.origin.values()])
        if self._tolerance.log or (found and self._tolerance.all and self._tolerance.dead_letters is None):
            for record in found:
                error = f"{record.java_class}: {record.message}"
                log.error("record.failed", place=record.place, error=error, cause=record.cause, **record.record)
        return found


def _number(value: str | None) -> tuple[int, str]:
    return (int(value), "") if value is not None and value.isdecimal() else (-1, value or "")
