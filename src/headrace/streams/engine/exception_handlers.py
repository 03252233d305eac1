"""The processing and production exception handlers (KIP-1033): which failed records are skipped."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.streams.engine.runtime import RecordFailedError
from headrace.streams.engine.source import is_unreadable


@dataclass(frozen=True)
class ExceptionHandlers:
    """The responses of an application's exception handlers."""

    processing_continues: bool = False
    """Whether to skip a record that cannot be processed."""
    production_continues: bool = False
    """Whether to skip a record whose results cannot be written."""

    def __bool__(self) -> bool:
        return self.processing_continues or self.production_continues

    def continues(self, failure: RecordFailedError) -> bool:
        """Whether to skip a record after this failure; the deserialization handler has been applied before."""
        if failure.is_production_error:
            return self.production_continues
        return self.processing_continues and not is_unreadable(failure.text)
