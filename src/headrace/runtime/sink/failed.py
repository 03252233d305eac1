"""The record that ends a sink task which tolerates none: its report travels in the error of the job that met it."""

from __future__ import annotations

from headrace.runtime.tolerance import FailedRecord
from headrace.values.sql import Sql, case, concat, lit

_BEGIN, _END = "headrace.record-failed\x02", "\x03"


def refused(report: Sql) -> Sql:
    """A condition that holds for every good record, and fails with its report at one that is not.

    report: text, for records whose `failure` is not NULL.
    """
    error = f"cast(raise_error({concat(lit(_BEGIN), report, lit(_END))}) as boolean)"
    return case([("(failure IS NOT NULL)", error)], "true")


def found(error: BaseException | None) -> FailedRecord | None:
    """The record that a job has failed at, by the error itself or what it was raised from; None if it failed otherwise."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        _, mark, report = str(error).partition(_BEGIN)
        if mark and _END in report:
            return FailedRecord.parse(report.partition(_END)[0])
        error = error.__cause__ or error.__context__
    return None
