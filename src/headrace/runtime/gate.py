"""Failed records, taken out of a batch in the pass that writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.runtime.failed_records import log_failed
from headrace.runtime.tolerance import FailedRecord, Tolerance, report
from headrace.spark.kafka import ORIGIN
from headrace.values.scope import kept
from headrace.values.sql import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BEGIN, _END = "headrace.record-failed<", ">headrace.record-failed"


class Gate:
    """One batch without its failed records, or with them as dead letters.

    With tolerance none, the records of each of Spark's partitions end before the first one that failed, so that what precedes it,
    and nothing else of its partition, is written (`Gate.java`); or the batch fails there (`raised`).
    """

    def __init__(self, frame: DataFrame, tolerance: Tolerance, only_failed: bool = False, raises: bool = False) -> None:
        """frame: with `failure` (`SourceChain.outgoing`); only_failed: nothing but those that failed pass; raises: with tolerance
        none, the pass fails at a record that failed, as what precedes it may not be written without it.
        """
        self._tolerance = tolerance
        context: Any = frame.sparkSession.sparkContext
        self._reports = context._jsc.sc().collectionAccumulator("headrace.failures")
        self._count = context._jsc.sc().longAccumulator("headrace.failed")
        origin = [quoted(column) for column in frame.columns if column.startswith(ORIGIN)]
        stops = str(not tolerance.all and not only_failed).lower()
        told = report(origin, tolerance.messages)
        passes = f"headrace_gate({told}, {stops}, {self._reports.id()}L, {self._count.id()}L)"
        if raises and not tolerance.all:
            passes = f"CASE WHEN failure IS NULL THEN true ELSE raise_error(concat('{_BEGIN}', {told}, '{_END}')) END"
        if only_failed:
            passes = f"failure IS NOT NULL AND NOT {passes}"
        elif tolerance.all and tolerance.dead_letters is not None:
            passes += " OR failure IS NOT NULL"  # it passes as a dead letter
        self.frame = kept(frame, passes).drop("failure")

    def raised(self, error: BaseException) -> FailedRecord | None:
        """The record that a pass failed at, None if it failed for another reason."""
        _, mark, told = str(error).partition(_BEGIN)
        if not mark:
            return None
        found = FailedRecord.parse(told.partition(_END)[0])
        log_failed([found], self._tolerance)
        return found

    @property
    def failures(self) -> int:
        """How many records failed, each of them; once the batch is written."""
        return self._count.value()

    def failed(self) -> list[FailedRecord]:
        """The records that failed (at most a hundred of each Spark partition), in the order of their origin; once it is
        written.
        """
        found = [FailedRecord.parse(text) for text in self._reports.value()]
        found.sort(key=lambda record: [_number(value) for value in record.origin.values()])
        log_failed(found, self._tolerance)
        return found


def _number(value: str | None) -> tuple[int, str]:
    return (int(value), "") if value is not None and value.isdecimal() else (-1, value or "")
