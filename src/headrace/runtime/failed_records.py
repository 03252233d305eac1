"""Failed records of a chain, in batches: they are filtered out, selected, or fail the batch. For feeds see `FeedPart.java`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import structlog

from headrace.runtime.tolerance import FailedRecord, Tolerance, report
from headrace.spark.kafka import origin_columns
from headrace.spark.reports import reports, text_of
from headrace.values.scope import filter_here
from headrace.values.sql import Sql, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)

_KIND = "record-failed"


def log_failed(failed: Sequence[FailedRecord], tolerance: Tolerance, unnamed: int = 0) -> None:
    """Log failed records if the tolerance requires it, or if they are skipped without dead letters.

    unnamed: how many more failed with them; their number is logged, so that no loss is hidden.
    """
    if tolerance.log or (tolerance.all and tolerance.dead_letters is None):
        for record in failed:
            error = f"{record.java_class}: {record.message}"
            log.error("record.failed", place=record.place, error=error, cause=record.cause, **record.record)
        if unnamed:
            log.error("record.failed.more", records=unnamed, last_named=failed[-1].place)


def stop_at_failure(frame: DataFrame, report_of: Sql) -> DataFrame:
    """The frame; reading it fails at the first failed record (`failed_at`).

    frame: with `failure`; report_of: SQL of the report (`headrace.runtime.tolerance.report`).
    """
    raised = f"cast(raise_error({text_of(_KIND, report_of)}) as boolean)"
    return filter_here(frame, f"CASE WHEN failure IS NULL THEN true ELSE {raised} END")


def failed_at(error: BaseException | None) -> FailedRecord | None:
    """The record at which a job over a frame of `stop_at_failure` has failed; None if it failed for another reason."""
    return next((FailedRecord.parse(text) for text in reports(_KIND, error) if text.startswith("{")), None)


def take_out_failures(frame: DataFrame, tolerance: Tolerance) -> FailedRecords:
    """A batch without its failed records, or with them as dead letters.

    With tolerance none, each Spark partition ends before its first failed record, so that only the records before it are written
    (`FailedRecordFilter.java`). frame: with `failure` (`SourceChain.outgoing`).
    """
    failed = FailedRecords(frame, tolerance)
    as_letters = " OR failure IS NOT NULL" if tolerance.all and tolerance.dead_letters is not None else ""
    failed.frame = filter_here(frame, failed.passes(stops=not tolerance.all) + as_letters).drop("failure")
    return failed


def only_failures(frame: DataFrame, tolerance: Tolerance) -> FailedRecords:
    """The failed records of a batch, and no others. frame: with `failure`."""
    failed = FailedRecords(frame, tolerance)
    failed.frame = filter_here(frame, f"failure IS NOT NULL AND NOT {failed.passes(stops=False)}").drop("failure")
    return failed


class FailedRecords:
    """The failed records of a batch; complete once `frame` is written."""

    frame: DataFrame
    """The records that pass."""

    def __init__(self, frame: DataFrame, tolerance: Tolerance) -> None:
        self._tolerance = tolerance
        context: Any = frame.sparkSession.sparkContext
        self._reports = context._jsc.sc().collectionAccumulator("headrace.failures")
        self._count = context._jsc.sc().longAccumulator("headrace.failed")
        origin, sink = [quoted(column) for column in origin_columns(frame)], "in_timestamp" in frame.columns
        self._report = report(origin, tolerance.messages, sink=sink)

    def passes(self, *, stops: bool) -> Sql:
        """SQL: whether a record has not failed; failed ones are counted. stops: no later record of the Spark partition passes."""
        return f"headrace_failed_filter({self._report}, {str(stops).lower()}, {self._reports.id()}L, {self._count.id()}L)"

    @property
    def count(self) -> int:
        """How many records failed."""
        return self._count.value()

    @property
    def unnamed(self) -> int:
        """How many of them have no report, and are not logged by themselves."""
        return self.count - len(self._reports.value())

    def logged(self) -> list[FailedRecord]:
        """Log them (at most a hundred of each Spark partition), and return them in the order of their origin."""
        records = [FailedRecord.parse(text) for text in self._reports.value()]
        records.sort(key=lambda record: [_number(value) for value in record.origin.values()])
        log_failed(records, self._tolerance, self.unnamed)
        return records


def _number(value: str | None) -> tuple[int, str]:
    return (int(value), "") if value is not None and value.isdecimal() else (-1, value or "")
