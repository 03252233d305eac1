"""Which records that fail are left out (KIP-1033), and how the one that does is found."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.streams.engine.runtime import RecordFailedError
from headrace.streams.engine.source import Ranges, is_unreadable


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

    def halves(self, ranges: Ranges) -> tuple[Ranges, ...]:
        """A batch in two parts, in its order; nothing for a single record, or none."""
        if sum(end - start for start, end in ranges.values()) < 2:
            return ()
        middle = {p: (start + end + 1) // 2 for p, (start, end) in ranges.items()}
        if any(end - start > 1 for start, end in ranges.values()):
            return {p: (a, middle[p]) for p, (a, _) in ranges.items()}, {p: (middle[p], b) for p, (_, b) in ranges.items()}
        first = next(p for p, (start, end) in ranges.items() if start < end)
        return {p: (a, b if p == first else a) for p, (a, b) in ranges.items()}, {
            p: (b if p == first else a, b) for p, (a, b) in ranges.items()
        }
