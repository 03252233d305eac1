"""What is logged of records that failed."""

from __future__ import annotations

from collections.abc import Iterable

import structlog

from headrace.runtime.tolerance import FailedRecord, Tolerance

log = structlog.get_logger(__name__)


def log_failed(failed: Iterable[FailedRecord], tolerance: Tolerance) -> None:
    """Log failed records if that is asked for, or if nothing else would say that they failed."""
    if tolerance.log or (tolerance.all and tolerance.dead_letters is None):
        for record in failed:
            error = f"{record.java_class}: {record.message}"
            log.error("record.failed", place=record.place, error=error, cause=record.cause, **record.record)
