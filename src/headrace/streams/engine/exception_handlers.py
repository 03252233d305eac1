"""Which records that fail are left out (KIP-1033)."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.streams.engine.runtime import RecordFailedError
from headrace.streams.engine.source import is_unreadable


@dataclass(frozen=True)
class ExceptionHandlers:
    """What the handlers of an application say."""

    processing_continues: bool = False
    """Of a record that cannot be processed."""
    production_continues: bool = False
    """Of one whose results cannot be written."""

    def __bool__(self) -> bool:
        return self.processing_continues or self.production_continues

    def continues(self, failure: RecordFailedError) -> bool:
        """Whether a record is left out that has failed so; one that no serde reads has a handler of its own."""
        if failure.is_production_error:
            return self.production_continues
        return self.processing_continues and not is_unreadable(failure.text)
