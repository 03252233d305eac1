"""How far a partition has been delivered."""

from __future__ import annotations

from typing import NamedTuple


class DeliveredPosition(NamedTuple):
    """How far one partition is delivered."""

    next: int
    """The next offset to deliver."""
    end: int
    """Of its log."""

    @property
    def behind(self) -> int:
        """The records that are still to be delivered, by offsets."""
        return max(0, self.end - self.next)
