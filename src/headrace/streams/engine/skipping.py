"""Which records that fail are left out (KIP-1033)."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.streams.engine.runtime import RecordFailedError
from headrace.streams.engine.source import is_unreadable


@dataclass(frozen=True)
class Skipping:
    """What the handlers of an application say."""

    processing: bool = False
    """Of a record that cannot be processed."""
    production: bool = False
    """Of one whose results cannot be written."""

    def __bool__(self) -> bool:
        return self.processing or self.production

    def skips(self, failure: RecordFailedError) -> bool:
        """Whether a record is left out that has failed so; one that no serde reads has a handler of its own."""
        if failure.of_production:
            return self.production
        return self.processing and not is_unreadable(failure.text)
