"""How far a partition has been delivered."""

from __future__ import annotations

from typing import NamedTuple


class DeliveredPosition(NamedTuple):
    """Of one partition: the next offset to deliver, and the end of its log."""

    next: int
    end: int

    @property
    def behind(self) -> int:
        """The records that are still to be delivered, by offsets."""
        return max(0, self.end - self.next)
